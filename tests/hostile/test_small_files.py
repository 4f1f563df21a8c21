"""Small files that would take gigabytes or hours: they are refused within a few of both."""

from __future__ import annotations

import io
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import zlib
from collections import OrderedDict
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
import torch
from reference.hostile_policies import (
    database,
    embed,
    expanded_checkpoint,
    greedy_checkpoints,
    make_endless,
    programs,
)
from reference.hostile_readers import FERRY

from engine.errors import PolicyError, WorkspaceError
from engine.policies.torch_archive import read_archive
from engine.policies.torch_file import load_checkpoint
from engine.records.codec import compress, expand
from engine.workspace.workspace import Workspace

CPU_SECONDS = 60
MEGABYTES = 1200
"""Torch itself takes a few hundred."""


def plumbline(
    *words: object, megabytes: int = MEGABYTES, folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """A command whose process ends by a signal if it takes too much.

    The limits are set after the fork: this process may hold more memory than they allow.
    """
    limits = f"ulimit -t {CPU_SECONDS} -d {megabytes * 2**10}"
    command = [sys.executable, "-P", "-m", "engine.cli", *map(str, words)]
    process = subprocess.run(
        ["bash", "-c", f'{limits}; exec "$@"', "bash", *command],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=False,
    )
    assert process.returncode not in (-signal.SIGXCPU, -signal.SIGKILL, 70), process.stderr
    assert "Traceback" not in process.stderr
    return process


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        ("computed column", "the table asnets_weights computes its values"),
        ("computed setting", "the table asnets_info computes its values"),
        ("view", "it has no network tables"),
        ("defaults", "larger than the file"),
    ],
)
def test_a_policy_of_cpddl(tmp_path: Path, what: str, reason: str) -> None:
    """Refused for what it is: too little memory to read it would end in an error as well."""
    path = database(tmp_path / "p.policy", what)
    assert path.stat().st_size < 200_000
    process = plumbline("policy", path)
    assert process.returncode == 2
    assert reason in process.stderr


@pytest.mark.parametrize("table", ["asnets_weights", "asnets_info", "sqlite_master"])
def test_a_policy_whose_pages_refer_to_each_other(tmp_path: Path, table: str) -> None:
    path = make_endless(database(tmp_path / "p.policy", "defaults"), table)
    assert plumbline("policy", path).returncode == 2


def test_a_checkpoint_of_one_number(tmp_path: Path) -> None:
    path = tmp_path / "p.pt"
    path.write_bytes(expanded_checkpoint())
    process = plumbline("policy", path)
    assert process.returncode == 2
    assert "larger than the file" in process.stderr


@pytest.mark.parametrize("what", greedy_checkpoints())
def test_a_checkpoint_that_says_the_same_many_times(tmp_path: Path, what: str) -> None:
    path = tmp_path / "p.pt"
    path.write_bytes(greedy_checkpoints()[what])
    assert path.stat().st_size < 1_600_000
    process = plumbline("policy", path, megabytes=3 * MEGABYTES)
    assert process.returncode == 2
    assert "error:" in process.stderr


LIMITED_READERS = """
import resource, signal
import pytest, torch
from engine.workers import limits
from engine.workers.limits import READING_MEGABYTES, ReadingLimitError, bounded_reading

def work_without_end():
    while True:
        pass

size, before = 10**6, resource.getrlimit(resource.RLIMIT_DATA)
with pytest.raises(ReadingLimitError, match="memory"), bounded_reading(size):
    bytearray((READING_MEGABYTES + 100) * 2**20)
with pytest.raises(ReadingLimitError, match="memory"), bounded_reading(size):
    torch.empty((READING_MEGABYTES + 100) * 2**20, dtype=torch.uint8)
limits.READING_SECONDS = 0.01
with pytest.raises(ReadingLimitError, match="too long"), bounded_reading(size):
    work_without_end()
limits.READING_SECONDS = 30
with bounded_reading(2**30):
    bytearray((READING_MEGABYTES + 100) * 2**20)  # large files may take more
assert resource.getrlimit(resource.RLIMIT_DATA) == before
assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0, 0)
"""


def test_a_reader_is_held_to_limits() -> None:
    """In a process of its own: what others have freed in this one may be used again."""
    subprocess.run([sys.executable, "-c", LIMITED_READERS], check=True, timeout=60)


def test_a_policy_is_read_within_these_limits(tmp_path: Path) -> None:
    """A sound file that takes more than it may: 64 MB of weights, and no memory for them."""
    path = tmp_path / "p.pt"
    weights = {"action.0.0.weight": torch.zeros(2**24)}
    torch.save({"plumbline": 1, "metadata": "{}", "state_dict": weights}, path)
    program = (
        "import sys\nfrom engine.policies.policy import open_policy\n"
        "from engine.workers import limits\n"
        "limits.READING_MEGABYTES = limits.READING_FACTOR = 0\nopen_policy(sys.argv[1])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, path], capture_output=True, text=True, check=False
    )
    assert "PolicyError" in done.stderr
    assert "the policy cannot be read: it takes too much memory" in done.stderr


@pytest.mark.parametrize("name", ["p.policy", "p.pt"])
def test_the_same_within_a_workspace(sound: Path, tmp_path: Path, name: str) -> None:
    path = Path(shutil.copy(sound, tmp_path / "w.plumb"))
    content = expanded_checkpoint()
    if name == "p.policy":
        content = database(tmp_path / name, "computed column").read_bytes()
    embed(path, name, content)
    process = plumbline("verify", path, "--bug", 1)
    assert process.returncode in (0, 1, 2, 3)


@pytest.mark.parametrize("what", programs())
def test_a_pickle_makes_values_or_is_refused(tmp_path: Path, what: str) -> None:
    path = tmp_path / "p.pt"
    path.write_bytes(programs()[what])
    with pytest.raises(PolicyError, match=r"damaged|could run a program|no checkpoint"):
        load_checkpoint(path)


def test_what_torch_saves_is_read_as_torch_reads_it(tmp_path: Path) -> None:
    matrix = torch.arange(24, dtype=torch.float32).reshape(4, 6)
    contents = {
        "weights": OrderedDict(a=matrix, transposed=matrix.t(), part=matrix[1:3, ::2], none=None),
        "kinds": [matrix.to(kind) for kind in (torch.float16, torch.bfloat16, torch.int64)],
        "flags": torch.tensor([True, False]),
        "empty": torch.empty(0, 3),
        "scalar": torch.tensor(2.5),
        "parameter": torch.nn.Parameter(matrix),
        "plain": (1, 2**40, -3, 2.5, "text", True, False, None, [], {}, (), {7: [1, (2,)]}),
        "module": torch.nn.Linear(3, 2).state_dict(),
    }
    stream = io.BytesIO()
    torch.save(contents, stream)
    stream.seek(0)
    assert is_same(read_archive(stream.getvalue()), torch.load(stream, weights_only=True))
    own = FERRY / "policies" / "policy.pt"
    assert is_same(load_checkpoint(own), torch.load(own, weights_only=True))


def is_same(a: object, b: object) -> bool:
    if isinstance(b, torch.Tensor):
        b = (b.float() if b.dtype == torch.bfloat16 else b).detach()  # numpy has none
        return isinstance(a, np.ndarray) and a.dtype == b.numpy().dtype and np.array_equal(a, b)
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b) and all(is_same(a[key], b[key]) for key in b)
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(is_same, a, b))
    return type(a) is type(b) and a == b


# workspaces


@pytest.mark.parametrize("table", ["log", "findings", "states", "sqlite_master"])
def test_a_workspace_whose_pages_refer_to_each_other(
    sound: Path, tmp_path: Path, table: str
) -> None:
    path = make_endless(Path(shutil.copy(sound, tmp_path / "w.plumb")), table)
    process = plumbline("bugs", path)
    assert process.returncode == 2
    assert "the file is damaged" in process.stderr


def test_a_file_within_a_workspace_is_not_far_larger_than_it() -> None:
    """A domain of 400 MB fits into 400 kB, and would take a hundred gigabytes to parse."""
    with pytest.raises(ValueError, match="too large"):
        expand(zlib.compress(b"c " * (200 * 2**20)))
    for content in (b"", b"c " * 2**19, bytes(2**24), os.urandom(2**21)):
        packed = compress(content)
        assert expand(packed) == content
        assert len(content) <= 2**20 + 100 * len(packed)


@pytest.mark.parametrize(
    "place",
    [
        *("policies.name", "policies.spec", "problems.name", "root_causes.action"),
        *("findings.oracle", "findings.evidence_kind"),
    ],
)
def test_a_long_name_is_not_repeated_for_every_bug(sound: Path, tmp_path: Path, place: str) -> None:
    table, column = place.split(".")
    path = Path(shutil.copy(sound, tmp_path / "stranger.plumb"))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"UPDATE {table} SET {column} = {column} || ?", ("\0" + "x" * 2**23,))
        connection.commit()
    with pytest.raises(WorkspaceError, match=place), Workspace.open(path):
        pass


@pytest.mark.parametrize("command", [["bugs"], ["verify"], ["report", "--html", "r.html"]])
def test_a_workspace_that_unfolds(sound: Path, tmp_path: Path, command: list[str]) -> None:
    path = Path(shutil.copy(sound, tmp_path / "w.plumb"))
    with closing(sqlite3.connect(path)) as connection:
        bomb = zlib.compress(b"c " * (200 * 2**20))
        connection.execute("UPDATE inputs SET content = ? WHERE name LIKE '%.pddl'", (bomb,))
        connection.commit()
    process = plumbline(command[0], path, *command[1:], folder=tmp_path)
    assert process.returncode in (0, 1, 2, 3)
