"""Folders that may not be read, patterns without end, too little memory: an error in words."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from reference.hostile_readers import FERRY

from engine.campaign import file_pattern, recognize
from engine.campaign.config_reader import parse_config
from engine.campaign.recognize import recognize_all
from engine.errors import ConfigurationError

NOBODY = 65534
MEGABYTES = (60, 100, 150, 200, 260, 320)
POLICY = ("policy", FERRY / "policies" / "policy.pt")
TRAIN = ("train", FERRY / "domain.pddl", FERRY / "problems" / "p01.pddl", "--out")


@contextmanager
def without_rights() -> Iterator[None]:
    """Nothing is closed to root."""
    if os.geteuid():
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """One that others may look into, as those of tests may not."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def config(pattern: str) -> str:
    return f'domain = "{FERRY}/domain.pddl"\nproblems = ["{pattern}"]\npolicies = ["builtin:gc"]\n'


@pytest.mark.parametrize("pattern", ["*/p.pddl", "**/*.pddl", "closed/*.pddl", "closed/p.pddl"])
def test_a_folder_that_may_not_be_read(open_folder: Path, pattern: str) -> None:
    closed = open_folder / "closed"
    closed.mkdir()
    (closed / "p.pddl").touch()
    closed.chmod(0)
    with (
        without_rights(),
        pytest.raises(ConfigurationError, match=r"no file matches|does not exist") as e,
    ):
        parse_config(config(pattern), open_folder / "campaign.toml")
    closed.chmod(0o700)
    assert e.value.location.line == 2


def test_what_can_be_read_is_found_beside_it(open_folder: Path) -> None:
    for name in ("closed", "read"):
        (open_folder / name).mkdir()
        (open_folder / name / "p.pddl").touch()
    (open_folder / "closed").chmod(0)
    with without_rights():
        found = parse_config(config("**/*.pddl"), open_folder / "campaign.toml")
    (open_folder / "closed").chmod(0o700)
    assert found.problems == (str(open_folder / "read" / "p.pddl"),)


def test_a_dropped_folder_with_one_that_may_not_be_read(open_folder: Path) -> None:
    shutil.copy(FERRY / "domain.pddl", open_folder / "domain.pddl")
    (open_folder / "closed").mkdir(mode=0)
    recognize_all([open_folder / "domain.pddl"])  # imports what only root may read
    with without_rights():
        found = recognize_all([open_folder, open_folder / "closed"])
    (open_folder / "closed").chmod(0o700)
    assert found.domains == (str(open_folder / "domain.pddl"),)
    assert [item.reason for item in found.unknown] == [
        "this folder contains no domain, problem or policy"
    ]


def test_a_dropped_folder_with_very_many_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recognize, "MAX_FILES", 20)
    for number in range(30):
        (tmp_path / f"{number:02}").mkdir()
        shutil.copy(FERRY / "domain.pddl", tmp_path / f"{number:02}")
    assert len(recognize_all([tmp_path]).domains) == 19  # in 19 folders below the first one


@pytest.mark.parametrize("pattern", ["/**/*.pddl", "**/*.pddl", "*/*/*/*/*.pddl"])
def test_a_pattern_that_reads_the_whole_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pattern: str
) -> None:
    monkeypatch.setattr(file_pattern, "MAX_FOLDERS", 30)
    for number in range(40):
        (tmp_path / "a" / "b" / str(number)).mkdir(parents=True)
    with pytest.raises(ConfigurationError, match="searches more than"):
        parse_config(config(pattern), tmp_path / "campaign.toml")
    with pytest.raises(ConfigurationError, match="no file matches"):
        parse_config(config("a/*/*.pddl"), tmp_path / "campaign.toml")


def test_links_do_not_make_a_pattern_long(tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / f"link{number}").symlink_to(".")
    (tmp_path / "p.pddl").touch()
    for pattern in ("*/" * 8 + "*.pddl", "*/../" * 12 + "*.pddl"):
        with pytest.raises(ConfigurationError, match="searches more than 10000 folders"):
            parse_config(config(pattern), tmp_path / "campaign.toml")
    found = parse_config(config("**/*.pddl"), tmp_path / "campaign.toml")
    assert found.problems == (str(tmp_path / "p.pddl"),)


def test_many_links_do_not_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_pattern, "MAX_NAMES", 500)
    for number in range(40):
        (tmp_path / f"link{number}").symlink_to(".")
    with pytest.raises(ConfigurationError, match="folders or 500000 files"):
        parse_config(config("*/*/*.pddl"), tmp_path / "campaign.toml")


def test_every_folder_is_looked_into_once_per_part(tmp_path: Path) -> None:
    """In `**/**` any folder may be reached by many splits of its path."""
    deep = tmp_path.joinpath(*["d"] * 60)
    deep.mkdir(parents=True)
    (deep / "p.pddl").touch()
    for pattern in ("d/" + "**/" * 12 + "*.pddl", "*/../" * 9 + "d/**/?.pddl"):
        found = parse_config(config(pattern), tmp_path / "campaign.toml")
        assert [Path(name).resolve() for name in found.problems] == [deep / "p.pddl"]


@pytest.mark.parametrize(
    ("command", "megabytes"),
    [
        *((POLICY, megabytes) for megabytes in MEGABYTES),
        *((TRAIN, 300), (TRAIN, 480), (("doctor",), 300)),
    ],
)
def test_a_shell_with_little_memory(
    tmp_path: Path, command: tuple[str | Path, ...], megabytes: int
) -> None:
    """Exit code 1 would be an answer: that something is false or missing."""
    words = [*command, tmp_path / "out"] if command is TRAIN else command
    process = subprocess.run(
        [
            *("bash", "-c", f'ulimit -v {megabytes * 2**10}; exec "$@"', "bash"),
            *(sys.executable, "-P", "-m", "engine.cli", *words),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 3, process.stderr
    assert "not enough memory" in process.stderr
    assert "Traceback" not in process.stderr


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- >&-", "<&- >&- 2>&-"])
def test_without_standard_streams(tmp_path: Path, closed: str) -> None:
    """What is printed would go into the first file that is opened, and no exit code would hold."""
    words = ("search", FERRY / "domain.pddl", FERRY / "problems" / "p01.pddl")
    plan = tmp_path / "plan"
    process = subprocess.run(
        [
            *("bash", "-c", f'exec "$@" {closed}', "bash"),
            *(sys.executable, "-P", "-m", "engine.cli", *words, "--out", plan),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    assert plan.read_text().startswith("(")


def test_no_temporary_folder_can_be_written(tmp_path: Path) -> None:
    """As on a full disk: Python looks for one that takes a file, and finds none."""
    (tmp_path / "campaign.toml").write_text(config(f"{FERRY}/problems/p01.pddl"))
    words = ("campaign", tmp_path / "campaign.toml", "--out", tmp_path / "w.plumb")
    process = subprocess.run(
        [
            *("bash", "-c", 'ulimit -f 0; exec "$@"', "bash"),
            *(sys.executable, "-P", "-m", "engine.cli", *words),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 2, process.stderr
    assert "temporary files cannot be written" in process.stderr
