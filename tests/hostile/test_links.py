"""Links and pipes that others have put where we write: nothing is written through them."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from reference.hostile_readers import FERRY

from engine.caches import TRANSLATIONS, keep
from engine.cli import main
from engine.errors import DiskError, ExitCode, PlumblineError, WorkspaceError
from engine.files import read_bytes, replacing, write_text
from engine.training.folder import TrainingFolder
from engine.usecases.export import problems_folder, write_problem
from engine.workspace.workspace import Workspace

PATIENCE = 60.0
Write = Callable[[Path], object]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A folder in which others can write."""
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


FERRY_TASK = (str(FERRY / "domain.pddl"), str(FERRY / "problems" / "p01.pddl"))
COMMANDS = {
    "report.html": lambda sound, path: ["report", sound, "--out", path],
    "report.csv": lambda sound, path: ["report", sound, "--out", path],
    "unit.sas": lambda sound, path: [
        "export",
        sound,
        "--format",
        "sas",
        "--unit",
        "1",
        "--out",
        path,
    ],
    "campaign.toml": lambda sound, path: ["campaign", "--init", path],
    "state.svg": lambda sound, path: ["picture", *FERRY_TASK, "--out", path],
    "state.png": lambda sound, path: ["picture", *FERRY_TASK, "--out", path],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_writes_through_a_link(
    sound: Path, victim: Path, out: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (out / name).symlink_to(victim)
    words = COMMANDS[name](str(sound), str(out / name))
    assert main(words) == 2
    assert re.search("this is a link|already exists", capsys.readouterr().err)
    assert (out / name).is_symlink()
    assert victim.read_text() == "mine"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_name_of_the_new_file_cannot_be_guessed(
    sound: Path, victim: Path, out: Path, name: str
) -> None:
    """Names that were used once, with our number, and what a stranger sees while we write."""
    guesses = [f".{name}.{os.getpid()}.part", f"{name}.{os.getpid()}.part", f"{name}.part"]
    for guess in guesses:
        (out / guess).symlink_to(victim)
    assert main(COMMANDS[name](str(sound), str(out / name))) == 0
    assert victim.read_text() == "mine"
    assert sorted(os.listdir(out)) == sorted([name, *guesses])
    seen = set()
    for _ in range(3):
        with replacing(out / name) as part:
            seen.add(part.path.name)
    assert len(seen) == 3


def copy_workspace(sound: Path) -> Write:
    def write(path: Path) -> None:
        with Workspace.open(sound) as store:
            store.save_copy(path)

    return write


WRITES: dict[str, Callable[[Path], Write]] = {
    "a text": lambda sound: lambda path: write_text(path, "text"),
    "a copy of a workspace": copy_workspace,
    "a cached task": lambda sound: lambda path: keep(path, b"data", 1000),
}


@pytest.mark.parametrize("what", WRITES)
@pytest.mark.parametrize("kind", ["link", "dangling link", "pipe", "folder"])
def test_whatever_is_no_regular_file_stays(
    sound: Path, victim: Path, out: Path, what: str, kind: str
) -> None:
    path = out / "w.plumb"
    match kind:
        case "link":
            path.symlink_to(victim)
        case "dangling link":
            path.symlink_to(out / "nowhere")
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
    before = os.lstat(path)
    with pytest.raises((DiskError, WorkspaceError, OSError)):
        WRITES[what](sound)(path)
    assert os.lstat(path).st_ino == before.st_ino
    assert os.listdir(out) == [path.name]
    assert victim.read_text() == "mine"


@pytest.mark.parametrize("what", WRITES)
def test_a_file_is_replaced_and_never_opened(sound: Path, out: Path, what: str) -> None:
    """Who has a second name for the old file, or has it open, keeps the old contents."""
    path, other = out / "w.plumb", out / "other"
    path.write_text("old")
    path.chmod(0o640)
    os.link(path, other)
    WRITES[what](sound)(path)
    assert other.read_text() == "old"
    assert path.read_bytes() != b"old"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert sorted(os.listdir(out)) == ["other", "w.plumb"]


@pytest.mark.parametrize("what", WRITES)
def test_what_was_written_is_on_the_disk_before_it_has_its_name(
    sound: Path, out: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = []
    sync, rename = os.fsync, os.rename

    def note_sync(descriptor: int) -> None:
        events.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        sync(descriptor)

    def note_rename(*names: str, **folders: int) -> None:
        events.append("rename")
        rename(*names, **folders)

    monkeypatch.setattr(os, "fsync", note_sync)
    monkeypatch.setattr(os, "rename", note_rename)
    WRITES[what](sound)(out / "w.plumb")
    part, *rest = events
    assert part.startswith(f"{out}/.")
    assert rest == ["rename", str(out)]


def test_a_file_that_is_swapped_while_sqlite_writes_is_not_taken(sound: Path, out: Path) -> None:
    """The folder belongs to another user, who has seen the name."""

    def swap(done: int, total: int) -> None:
        if done == total:
            (part,) = out.glob(".*.part")
            part.rename(out / "aside")
            part.write_text("something else")

    with Workspace.open(sound) as store, pytest.raises(WorkspaceError, match="cannot be written"):
        store.save_copy(out / "copy.plumb", swap)
    assert not (out / "copy.plumb").exists()


# folders


@pytest.mark.parametrize("link", ["bug-1", "bug-1/README.md", "bug-1/bug.json"])
def test_no_bundle_is_written_through_a_link(
    sound: Path, victim: Path, out: Path, link: str
) -> None:
    target = victim
    if link == "bug-1":
        target = out.with_name("mine")
        target.mkdir()
    (out / link).parent.mkdir(exist_ok=True)
    (out / link).symlink_to(target)
    assert main(["export", str(sound), "--bug", "1", "--out", str(out)]) == 2
    assert victim.read_text() == "mine"
    assert not target.is_dir() or os.listdir(target) == []


def test_a_folder_that_the_user_names_may_be_a_link(sound: Path, out: Path) -> None:
    link = out.with_name("link")
    link.symlink_to(out)
    assert main(["export", str(sound), "--bug", "1", "--out", str(link)]) == 0
    assert (out / "bug-1" / "README.md").is_file()
    assert main(["report", str(sound), "--out", str(link / "r.html")]) == 0
    assert (out / "r.html").is_file()


@pytest.mark.parametrize("is_there", [False, True])
def test_no_workspace_is_made_through_a_link(out: Path, tmp_path: Path, is_there: bool) -> None:
    """Others would choose where it is made: a link in /tmp may lead into the user's home."""
    place, link = tmp_path / "thesis.lock", out / "w.plumb"
    if is_there:
        place.touch()
    link.symlink_to(place)
    with pytest.raises(WorkspaceError, match="this is a link"):
        Workspace.create(link)
    assert place.exists() == is_there
    assert not is_there or not place.read_bytes()


def test_a_workspace_may_be_named_by_a_link(sound: Path, out: Path) -> None:
    (out / "w.plumb").symlink_to(sound)
    with Workspace.create(out / "w.plumb") as store:
        assert store.bugs()


def test_no_problem_is_written_into_a_linked_folder_beside_a_workspace(
    sound: Path, out: Path, tmp_path: Path
) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    path = out / "w.plumb"
    path.write_bytes(sound.read_bytes())
    problems_folder(path).symlink_to(mine)
    with Workspace.open(path) as store:
        bug = store.bug(1)
        task = store.task(bug.problem_id)
        with pytest.raises(DiskError):
            write_problem(store, bug, task, problems_folder(path) / "bug-1.pddl")
    assert os.listdir(mine) == []


def test_no_checkpoint_is_written_into_a_linked_folder(out: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    folder = TrainingFolder(out)
    folder.checkpoints.symlink_to(mine)
    words = ["--epochs", "1", "--steps", "1", "--hidden", "2", "--layers", "1"]
    from reference.hostile_readers import FERRY

    files = [str(FERRY / "domain.pddl"), str(FERRY / "problems" / "p01.pddl")]
    assert main(["train", *files, "--out", str(out), *words]) == 2
    assert os.listdir(mine) == []


# devices and reading


def test_devices_that_are_named_are_written_to(sound: Path, tmp_path: Path) -> None:
    """As a shell offers them: `--out /dev/stdout`, `--out >(program)`."""
    command = f'"$0" -P -m engine.cli report {sound} --format csv --out >(cat >{tmp_path}/piped); '
    command += f'"$0" -P -m engine.cli report {sound} --format csv --out /dev/stdout'
    process = subprocess.run(
        ["bash", "-c", command, sys.executable],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    assert "\nid,campaign," in process.stdout
    assert (tmp_path / "piped").read_text().startswith("id,")


@pytest.mark.parametrize("kind", ["pipe", "folder", "device"])
def test_only_regular_files_are_read(out: Path, kind: str) -> None:
    path = out / "domain.pddl"
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "device":
            path.symlink_to("/dev/zero")
    with pytest.raises(PlumblineError, match=r"a folder|not a regular file"):
        read_bytes(path, "a domain file")


def test_a_cache_that_is_a_link_is_not_written_through(
    victim: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLUMBLINE_CACHE_DIR", str(out))
    (out / "limits.json").symlink_to(victim)
    with pytest.raises(OSError, match="link"):
        TRANSLATIONS.set_limit(3)
    assert victim.read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (
            [
                "fuzz",
                str(FERRY / "domain.pddl"),
                str(FERRY / "problems" / "p01.pddl"),
                "--out",
                "LOOP",
            ],
            ExitCode.BAD_INPUT,
        ),
        (
            [
                "fuzz",
                str(FERRY / "domain.pddl"),
                str(FERRY / "problems" / "p01.pddl"),
                "--out",
                "LOOP/x",
            ],
            ExitCode.BAD_INPUT,
        ),
        (
            ["experiment", "eisenhut-2025", "--domain", "LOOP", "--problem", "LOOP", "--out", "w"],
            ExitCode.BAD_INPUT,
        ),
        (["restore", "LOOP"], ExitCode.DONE),
        (["campaign", "--init", "LONG"], ExitCode.BAD_INPUT),
        (["experiment", "LONG", "--out", "w"], ExitCode.BAD_INPUT),
        (["experiment", "d-val", "--folder", "LONG", "--out", "w"], ExitCode.BAD_INPUT),
        (["report", "w.plumb", "--out", "LONG"], ExitCode.BAD_INPUT),
    ],
)
def test_paths_that_no_system_has_are_no_internal_errors(
    words: list[str],
    code: ExitCode,
    out: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(out)
    Path("loop").symlink_to("loop")
    names = {"LOOP": "loop", "LOOP/x": "loop/x", "LONG": "loop" * 100}
    assert main([names.get(word, word) for word in words]) == code
    if code is ExitCode.BAD_INPUT and words[0] != "report":
        assert "loop" in capsys.readouterr().err
