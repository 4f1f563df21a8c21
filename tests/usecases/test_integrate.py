"""The desktop of a user before, with and after `integrate`."""

from __future__ import annotations

import configparser
import shlex
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from engine.errors import DiskError, UsageError
from engine.usecases.integrate import integrate, remove_integration

ENTRY = "applications/plumbline.desktop"
UPDATE_DESKTOP = """#!/bin/sh
echo "[MIME Cache]" > "$1/mimeinfo.cache"
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data folder of a user, which does not exist yet."""
    path = tmp_path / "data"
    monkeypatch.setenv("XDG_DATA_HOME", str(path))
    return path


@pytest.fixture
def window_program(tmp_path: Path) -> Path:
    return make_program(tmp_path / "bin" / "plumbline-app", "#!/bin/sh\n")


def make_program(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def tree(folder: Path) -> dict[str, bytes | None]:
    """Every file with its content, and every folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def read_entry(home: Path) -> configparser.SectionProxy:
    parser = configparser.RawConfigParser()
    parser.optionxform = str  # type: ignore[method-assign,assignment]
    parser.read(home / ENTRY, encoding="utf-8")
    return parser["Desktop Entry"]


def test_the_entry_starts_the_program_installed_with_this_python(home: Path) -> None:
    integrate()
    program = Path(sys.executable).with_name("plumbline-app")
    entry = read_entry(home)
    assert shlex.split(entry["Exec"]) == [str(program), "%f"]
    assert entry["TryExec"] == str(program)


def test_entry_type_and_icon_belong_together(home: Path, window_program: Path) -> None:
    done = integrate(window_program)
    entry = read_entry(home)
    (mime_type,) = ElementTree.parse(home / "mime/packages/plumbline.xml").getroot()
    names = {child.tag.rpartition("}")[2]: child.attrib for child in mime_type}
    assert entry["MimeType"] == mime_type.attrib["type"] + ";"
    assert names["glob"] == {"pattern": "*.plumb"}
    assert names["icon"] == {"name": entry["Icon"]}
    assert (
        (home / f"icons/hicolor/scalable/apps/{entry['Icon']}.svg").read_text().startswith("<svg")
    )
    assert [path.is_file() for path in done.files] == [True] * 3


def test_strange_paths_are_quoted(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / 'a "b" $c `d` \\e 50%'
    program = make_program(folder / "plumbline-app", '#!/bin/sh\nprintf %s "$0"\n')
    integrate(program)
    # Quotes mean what they mean to a shell; the escapes of values and field codes come on top.
    command = read_entry(home)["Exec"].removesuffix(" %f").replace("\\\\", "\\").replace("%%", "%")
    ran = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True)
    assert ran.stdout == str(program)


def test_without_the_windows_program_nothing_is_written(home: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="plumbline-app"):
        integrate(tmp_path / "plumbline-app")
    assert not home.exists()


def test_a_desktop_knows_the_type(home: Path, window_program: Path, tmp_path: Path) -> None:
    integrate(window_program)
    workspace = tmp_path / "a.plumb"
    workspace.write_bytes(b"SQLite format 3\0")
    script = "import sys; from PySide6.QtCore import QMimeDatabase as D; t = D().mimeTypeForFile"
    script += "(sys.argv[1]); print(t.name(), t.iconName(), sep=chr(10))"
    command = [sys.executable, "-c", script, str(workspace)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert answer.split() == ["application/x-plumbline", "plumbline"]


@pytest.mark.parametrize("existing", ["nothing", "empty folders", "other programs"])
def test_removing_leaves_what_was_there(
    existing: str,
    home: Path,
    window_program: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    make_program(tmp_path / "bin" / "update-desktop-database", UPDATE_DESKTOP)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    if existing == "empty folders":
        for name in ("applications", "mime/packages", "plumbline"):
            (home / name).mkdir(parents=True)
    if existing == "other programs":
        (home / "applications").mkdir(parents=True)
        (home / "applications/other.desktop").write_text("[Desktop Entry]\n")
        (home / "applications/mimeinfo.cache").write_text("[MIME Cache]\n")
        (home / "plumbline/workspaces").mkdir(parents=True)
    before = tree(tmp_path)
    done = integrate(window_program)
    assert "update-desktop-database" in done.updated
    integrate(window_program)  # an upgrade
    assert tree(tmp_path) != before
    removed = remove_integration()
    assert tree(tmp_path) == before
    assert (removed.files, removed.kept) == (done.files, ())
    assert remove_integration().files == ()


def test_databases_stay_that_others_need_by_now(
    home: Path, window_program: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    make_program(tmp_path / "bin" / "update-desktop-database", UPDATE_DESKTOP)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    integrate(window_program)
    (home / "applications/other.desktop").write_text("[Desktop Entry]\n")
    remove_integration()
    assert {path.name for path in (home / "applications").iterdir()} == {
        "other.desktop",
        "mimeinfo.cache",
    }


@pytest.mark.parametrize("kind", ["file", "link"])
def test_a_foreign_file_is_not_replaced(
    kind: str, home: Path, window_program: Path, tmp_path: Path
) -> None:
    (home / ENTRY).parent.mkdir(parents=True)
    if kind == "file":
        (home / ENTRY).write_text("mine")
    else:
        (tmp_path / "elsewhere").write_text("mine")
        (home / ENTRY).symlink_to(tmp_path / "elsewhere")
    before = tree(home)
    with pytest.raises(DiskError, match="not written by Plumbline"):
        integrate(window_program)
    assert tree(home) == before


def test_a_changed_file_is_neither_replaced_nor_removed(home: Path, window_program: Path) -> None:
    integrate(window_program)
    (home / ENTRY).write_text("changed")
    with pytest.raises(DiskError, match="changed since"):
        integrate(window_program)
    done = remove_integration()
    assert done.kept == (home / ENTRY,)
    assert len(done.files) == 2
    assert (home / ENTRY).read_text() == "changed"


def test_a_record_cannot_name_other_files(home: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.touch()
    (home / "plumbline").mkdir(parents=True)
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    (home / "plumbline/integration").write_text(f"{empty} ../victim\n- ../victim\n")
    remove_integration()
    assert victim.exists()
