"""Untrusted policy files: weights are read, programs in them never run."""

from __future__ import annotations

import os
import pickle
import shutil
import sqlite3
import zipfile
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import hostile_files as files
from reference.amount import amount
from reference.hostile_readers import FERRY, READ, REFUSED, Read, taken

from engine.campaign.recognize import plugin_factories, recognize_file
from engine.errors import PolicyError
from engine.policies.plugin.policy import open_plugin
from engine.policies.policy import open_policy
from engine.policies.torch_file import load_checkpoint

hostile = settings.get_profile("hostile")
OWN = FERRY / "policies" / "policy.pt"
CONTENTS = torch.load(OWN, weights_only=True)


@pytest.mark.parametrize("suffix", [".pt", ".ckpt", ".policy"])
def test_code_in_a_file_does_not_run(tmp_path: Path, suffix: str) -> None:
    mark = tmp_path / "mark"
    path = tmp_path / f"policy{suffix}"
    path.write_bytes(files.dangerous(str(mark)))
    with pytest.raises(PolicyError, match="could run a program"):
        open_policy(str(path))
    with pytest.raises(PolicyError):
        load_checkpoint(path)
    assert not mark.exists()
    with zipfile.ZipFile(path) as archive:  # it would have run
        pickle.loads(archive.read("archive/data.pkl"))
    assert mark.exists()


def test_an_old_pickle_is_no_policy(tmp_path: Path) -> None:
    mark, path = tmp_path / "mark", tmp_path / "policy.pt"
    path.write_bytes(pickle.dumps(files.RunsCode(str(mark))))
    with pytest.raises(PolicyError):
        open_policy(str(path))
    assert not mark.exists()


@settings(hostile, max_examples=amount(60, 20))
@given(data=files.checkpoints(CONTENTS))
def test_checkpoints_with_strange_contents(reading: dict[str, Read], data: bytes) -> None:
    assert taken(reading["own policy"], data) in (READ, REFUSED)


GNN = {
    "hyper_parameters": {
        "predicates": [["p", 1], ["p_goal", 1]],
        "hidden_size": 4,
        "iterations": 2,
    },
    "state_dict": {"model.relation_network.update.0.weight": torch.zeros(8, 8)},
    "epoch": 3,
}


@settings(hostile, max_examples=amount(60, 20))
@given(data=files.checkpoints(GNN))
def test_networks_of_others_with_strange_contents(reading: dict[str, Read], data: bytes) -> None:
    assert taken(reading["gnn checkpoint"], data) in (READ, REFUSED)


@settings(hostile, max_examples=amount(60, 20))
@given(cut=st.integers(0, OWN.stat().st_size), place=st.integers(0, OWN.stat().st_size - 1))
def test_cut_off_and_spoilt(reading: dict[str, Read], cut: int, place: int) -> None:
    content = OWN.read_bytes()
    assert taken(reading["own policy"], content[:cut]) in (READ, REFUSED)
    spoilt = content[:place] + bytes([content[place] ^ 255]) + content[place + 1 :]
    assert taken(reading["own policy"], spoilt) in (READ, REFUSED)


def test_names_in_the_archive_go_nowhere(tmp_path: Path) -> None:
    path = tmp_path / "policy.pt"
    with zipfile.ZipFile(path, "w") as archive, zipfile.ZipFile(OWN) as sound:
        for name in sound.namelist():
            archive.writestr(name, sound.read(name))
        archive.writestr("../../owned", b"x")
        archive.writestr("/tmp/owned", b"x")
    taken(lambda _: open_policy(str(path)), b"")
    assert {child.name for child in tmp_path.iterdir()} == {"policy.pt"}


def test_a_few_bytes_do_not_become_weights_without_end(tmp_path: Path) -> None:
    """A record of zeros, packed to a thousandth."""
    path = tmp_path / "policy.pt"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, zipfile.ZipFile(OWN) as sound:
        for name in sound.namelist():
            content = sound.read(name)
            archive.writestr(name, bytes(2**28) if "/data/" in name else content)
            if "/data/" in name:
                break
    with pytest.raises(PolicyError):
        open_policy(str(path))


@settings(hostile, max_examples=amount(60, 20))
@given(
    table=st.sampled_from(("asnets_info", "asnets_weights")),
    column=st.sampled_from(("parameter", "int_value", "layer", "sig", "idx", "name", "weights")),
    value=files.cells,
)
def test_published_policies_with_strange_columns(
    reading: dict[str, Read],
    tmp_path_factory: pytest.TempPathFactory,
    table: str,
    column: str,
    value: object,
) -> None:
    path = tmp_path_factory.getbasetemp() / "made.policy"
    path.unlink(missing_ok=True)
    database = sqlite3.connect(path)
    database.executescript(
        "CREATE TABLE asnets_info (parameter, int_value, flt_value, str_value);"
        "CREATE TABLE asnets_weights (id INTEGER PRIMARY KEY, layer, sig, idx, name, weights);"
        "INSERT INTO asnets_info VALUES ('cfg_hidden_dimension', 2, -1.0, NULL),"
        "('cfg_num_layers', 1, -1.0, NULL);"
        "INSERT INTO asnets_weights VALUES (1, 0, 0, 0, 'a', x'0000803f0000803f'),"
        "(2, 0, 1, 0, 'a', x'0000803f0000803f')"
    )
    try:
        database.execute(f"UPDATE {table} SET {column} = ?", (value,))
    except (sqlite3.Error, OverflowError, UnicodeEncodeError):
        return
    finally:
        database.commit()
        database.close()
    assert taken(reading["cpddl policy"], path.read_bytes()) in (READ, REFUSED)


def test_looking_at_a_plug_in_does_not_run_it(tmp_path: Path) -> None:
    mark, path = tmp_path / "mark", tmp_path / "evil.py"
    path.write_text(f"open({str(mark)!r}, 'w')\ndef factory(task): pass\n")
    assert recognize_file(path).name == f"{path}:factory"
    open_policy(f"{path}:factory").describe()
    assert not mark.exists()


@pytest.mark.parametrize("text", ["(" * 50_000, "-" * 200_000 + "1", "a." * 100_000 + "a", "\0"])
def test_python_that_no_parser_holds(tmp_path: Path, text: str) -> None:
    path = tmp_path / "deep.py"
    path.write_text(text)
    assert plugin_factories(text) == []
    with pytest.raises(PolicyError, match="not Python"):
        open_plugin(path, "factory")


def test_a_pipe_does_not_block(tmp_path: Path) -> None:
    path = tmp_path / "policy.pt"
    os.mkfifo(path)
    with pytest.raises(PolicyError, match="regular file"):
        open_policy(str(path))
    shutil.rmtree(tmp_path)


def test_weights_are_real_numbers(tmp_path: Path) -> None:
    weights = dict(CONTENTS["state_dict"])
    name = next(name for name in weights if name.endswith("weight"))
    weights[name] = weights[name].to(torch.complex64)
    path = tmp_path / "policy.pt"
    path.write_bytes(files.saved({**CONTENTS, "state_dict": weights}))
    with pytest.raises(PolicyError, match="real numbers"):
        open_policy(str(path))
