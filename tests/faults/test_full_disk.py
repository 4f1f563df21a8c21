"""No room on the disk: for the workspace, exports, reports, policies, caches, logs and the output.

A workspace is put on a file system that is really full where a user may mount one, and elsewhere
meets a limit on the size of files, which needs no rights.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from reference.faulty import PATIENCE, Bench

from app.shell.crash import CrashLog
from engine.cli import main
from engine.errors import DiskError
from engine.files import write_text
from engine.records.training import TrainingConfig
from engine.task.load import load_task
from engine.task.translation_cache import TranslationCache
from engine.training.imitation import train

ROOM = "free some disk space, or choose another location"


# The workspace.

SCRIPT = """\
room=$1
mounted=
if [ "$2" = alone ] && mount -t tmpfs -o size=${room}k none disk; then mounted=1; fi
plumbline() { "$PYTHON" -P -m engine.cli "$@"; }
on_full_disk() {
  if [ $mounted ]; then "$@"; else (ulimit -f $((room - 40)); "$@"); fi
}
on_full_disk plumbline campaign campaign.toml --out disk/w.plumb
echo "ended with $?"
if [ $mounted ]; then mount -o remount,size=100m none disk; fi
[ "$room" -lt 210 ] || plumbline verify disk/w.plumb
plumbline campaign campaign.toml --out disk/w.plumb --resume
echo "ended with $?"
plumbline bugs disk/w.plumb
"""


@pytest.fixture
def caches(tmp_path: Path) -> Path:
    """Its own: here it matters what is translated."""
    return tmp_path / "home" / "cache"


def in_own_mounts() -> list[str]:
    """What lets a script mount something for itself, without rights, where that is allowed."""
    prefix = ["unshare", "--user", "--map-root-user", "--mount"]
    try:
        worked = subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        worked = False
    return prefix if worked else []


@pytest.mark.parametrize("kilobytes", [100, 240])
def test_a_campaign_on_a_full_disk_continues_when_there_is_room(
    bench: Bench, expected: set[Any], kilobytes: int
) -> None:
    """Once there is no room even for the tables (204), once in the middle (260 for it all)."""
    (bench.folder / "disk").mkdir()
    script, alone = bench.write("script.sh", SCRIPT), in_own_mounts()
    result = subprocess.run(
        [*alone, "bash", str(script), str(kilobytes), "alone" if alone else "beside others"],
        cwd=bench.folder,
        env={**os.environ, "PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=4 * PATIENCE,  # as many commands
        check=False,
    )
    assert "Traceback" not in result.stderr
    full = "the disk is full; free some space and continue with --resume"
    other = "the disk cannot be read or written; check that"  # a limit
    (line,) = result.stderr.splitlines()
    assert line.startswith(f"error: disk/w.plumb: {full if alone else other}")
    assert result.stdout.startswith("ended with 2\n")
    assert "ended with 0\n" in result.stdout
    assert "does not hold" not in result.stdout  # what was saved before
    count = len(expected)
    assert result.stdout.endswith(f"\n{count} of {count}\n")


# Files that commands write.


@pytest.mark.usefixtures("workspace")
@pytest.mark.parametrize(
    ("command", "target"),
    [
        (["report", "carter.plumb", "--out", "r.html"], "r.html"),
        (["report", "carter.plumb", "--out", "r.json"], "r.json"),
        (["export", "carter.plumb", "--bug", "1", "--out", "bundles"], "bundles/bug-1/bug.json"),
        (["export", "carter.plumb", "--format", "sas", "--out", "t.sas"], "t.sas"),
        (["campaign", "--init", "c.toml"], "c.toml"),
        (["compare", "domain.pddl", "domain.pddl", "--out", "c.html"], "c.html"),
        (["search", "domain.pddl", "p2.pddl", "--out", "plan"], "plan"),
        (["fuzz", "domain.pddl", "p2.pddl", "--size", "9", "--out", "pool"], "pool"),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_a_file_is_written_whole_or_not_at_all(
    command: list[str],
    target: str,
    bench: Bench,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(bench.folder)
    load_task("domain.pddl", "p2.pddl")  # translated and kept
    path = Path(target)
    if command[0] != "campaign":  # which never overwrites
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("what was there before")
    with small_files(120):
        code = main(command)
    line = capsys.readouterr().err.splitlines()[-1]
    assert code == 2
    assert line.startswith("error: ")
    assert "File too large; free some disk space" in line  # for it, or for what it takes to make it
    if command[0] != "campaign":
        assert path.read_text() == "what was there before"
    assert not list(path.parent.glob(".*"))


@contextmanager
def small_files(most_bytes: int) -> Iterator[None]:
    """This process may not make files grow beyond that, and compiles no modules to such files."""
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        sys.dont_write_bytecode = before


def test_a_device_that_is_full(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (
        ["report", str(workspace), "--format", "csv", "--out", "/dev/full"],
        ["export", str(workspace), "--format", "pool", "--out", "/dev/full"],
    ):
        assert main(words) == 2
        wanted = f"error: /dev/full: cannot be written: No space left on device; {ROOM}\n"
        assert capsys.readouterr().err == wanted


def test_a_folder_that_is_not_there_or_not_ours(bench: Bench) -> None:
    with pytest.raises(DiskError, match=r"No such file or directory; create its folder first"):
        write_text(bench.folder / "none" / "file", "text")
    with pytest.raises(DiskError, match=r"; create its folder first|check the permissions"):
        write_text("/proc/none/file", "text")


# Output.


@pytest.mark.parametrize("option", [[], ["--json"]])
def test_the_output_cannot_be_written(bench: Bench, option: list[str]) -> None:
    with open("/dev/full", "w") as full:
        process = bench.start("task", "domain.pddl", "p2.pddl", *option, stdout=full.fileno())
        said = bench.end_of(process)
    assert said.code == 2
    assert said.lines == [
        "error: the result cannot be printed: No space left on device; "
        "free space where the output goes, or redirect it"
    ]


def test_messages_and_the_log_cannot_be_written(bench: Bench) -> None:
    """Then no message can be shown, but the answer and the exit code are right."""
    log = bench.folder / "home" / "state" / "plumbline" / "log"
    log.mkdir(parents=True)
    (log / "plumbline.log").symlink_to("/dev/full")
    translations = bench.folder / "home" / "cache" / "plumbline" / "translations"
    assert bench.plumbline("task", "domain.pddl", "p2.pddl").code == 0
    (kept,) = translations.iterdir()
    kept.write_bytes(b"damaged, which is worth a line in the log")
    said = bench.plumbline("task", "domain.pddl", "p2.pddl")
    assert (said.code, said.err) == (0, "")
    process = subprocess.run(
        ["bash", "-c", '"$0" -P -m engine.cli task none.pddl p2.pddl 2>/dev/full', sys.executable],
        cwd=bench.folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (process.returncode, process.stdout, process.stderr) == (2, "", "")


# What is kept.


def test_caches_and_crash_reports_do_without(bench: Bench) -> None:
    cache = TranslationCache(bench.folder / "cache")
    log = CrashLog(bench.folder / "crashes")
    with small_files(10):
        cache.put("key", os.urandom(5000).hex())
        log.write("a long story " * 100)
    assert cache.get("key") is None
    assert not list(cache.folder.iterdir())
    cache.put("key", "text")
    assert cache.get("key") == "text"


def test_a_training_without_room_is_reported_and_continues_later(bench: Bench) -> None:
    task = load_task(bench.folder / "domain.pddl", bench.folder / "p1.pddl")
    config = TrainingConfig(hidden=4, layers=1, epochs=2, steps=2, walks=2, step_limit=10)
    folder = bench.folder / "training"
    with small_files(3000), pytest.raises(DiskError, match=f"File too large; {ROOM}"):
        train([task], [], folder, config)
    assert not [path for path in folder.rglob("*") if path.is_file()]
    result = train([task], [], folder, config, resume=True)
    assert len(result.history) == 2
    policy = (folder / "policy.pt").read_bytes()
    again = replace(config, epochs=3)
    with small_files(3000), pytest.raises(DiskError):
        train([task], [], folder, again, resume=True)
    assert (folder / "policy.pt").read_bytes() == policy
    assert len(train([task], [], folder, again, resume=True).history) == 3
