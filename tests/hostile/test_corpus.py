"""What the fuzzer found, over and over: every file is read or refused."""

from __future__ import annotations

import ast
import struct
from collections import defaultdict
from pathlib import Path

import pytest
from reference.fuzz_targets import Target, targets
from reference.hostile_readers import READ, REFUSED, taken

from engine.campaign.config_reader import parse_config
from engine.errors import ConfigurationError

CORPUS: dict[str, list[bytes]] = defaultdict(list)
for line in Path(__file__).with_name("corpus.txt").read_text().splitlines():
    if not line.startswith("#"):
        kind, _, data = line.partition(": ")
        CORPUS[kind].append(ast.literal_eval(data))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("corpus")


@pytest.mark.parametrize("kind", CORPUS)
def test_what_the_fuzzer_found(folder: Path, kind: str) -> None:
    target: Target = targets(folder)[kind]()
    assert any(taken(target.read, seed) == READ for seed in target.seeds())  # some get far
    for data in CORPUS[kind]:
        assert taken(target.read, data) in (READ, REFUSED), data


def test_damage_that_sqlite_takes_for_a_lack_of_memory(folder: Path) -> None:
    target = targets(folder)["cpddl policy"]()
    (sound,) = target.seeds()
    damaged = sound[:115] + b"\x08" + sound[116:325] + b"\xff" * 33 + sound[325:-436]
    assert taken(target.read, damaged) == REFUSED


LONG = "n" * 300


@pytest.mark.parametrize(
    "text",
    [
        f'problems = ["{LONG}/*.pddl"]\npolicies = ["builtin:gc"]',
        f'problems = ["{LONG}.pddl"]\npolicies = ["builtin:gc"]',
        f'problems = ["p.sas"]\npolicies = ["builtin:gc"]\nportfolio = ["{LONG}/"]',
        f'problems = ["p.sas"]\npolicies = ["{LONG}.pt"]',
    ],
)
def test_names_that_no_file_can_have(tmp_path: Path, text: str) -> None:
    (tmp_path / "p.sas").write_text("")
    with pytest.raises(ConfigurationError):
        parse_config(text, tmp_path / "campaign.toml")


def test_an_archive_that_claims_a_size_beyond_all_memory(folder: Path) -> None:
    target = targets(folder)["torch file"]()
    (sound,) = target.seeds()
    contents = sound.rindex(b"PK\x01\x02")  # the last entry of the table of contents
    extra = struct.pack("<HHQQ", 1, 16, 2**63, 2**63)
    entry = bytearray(sound[contents : contents + 46])
    entry[20:28], entry[30:32] = b"\xff" * 8, struct.pack("<H", len(extra))
    (names,) = struct.unpack_from("<H", entry, 28)
    end = contents + 46 + names
    changed = sound[:contents] + bytes(entry) + sound[contents + 46 : end] + extra + sound[end:]
    assert taken(target.read, changed) == REFUSED
