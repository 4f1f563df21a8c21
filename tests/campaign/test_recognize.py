"""Files are known by what is in them, whatever they are called."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from engine.campaign import recognize
from engine.campaign.recognize import Role, plugin_factories, recognize_all, recognize_file
from engine.records.project import Project
from engine.workspace.workspace import Workspace

EXAMPLES = Path(__file__).resolve().parents[2] / "resources" / "examples"
FERRY = EXAMPLES / "ferry"


def test_names_do_not_matter(tmp_path: Path) -> None:
    shutil.copy(FERRY / "domain.pddl", tmp_path / "problem.txt")
    shutil.copy(FERRY / "problems" / "p01.pddl", tmp_path / "domain")
    shutil.copy(FERRY / "policies" / "policy.pt", tmp_path / "weights")
    sqlite3.connect(tmp_path / "empty").close()
    Workspace.create(tmp_path / "w").close()
    roles = {
        name: recognize_file(tmp_path / name).role
        for name in ("problem.txt", "domain", "weights", "w", "empty")
    }
    assert roles == {
        "problem.txt": Role.DOMAIN,
        "domain": Role.PROBLEM,
        "weights": Role.POLICY,
        "w": Role.WORKSPACE,
        "empty": Role.UNKNOWN,
    }


@pytest.mark.parametrize(
    ("name", "content", "role", "reason"),
    [
        ("a.pddl", "; only words\n", Role.UNKNOWN, "neither"),
        ("a.pddl", "; words\n(DEFINE (Domain x) (:predicates (", Role.DOMAIN, ""),
        ("a.sas", "begin_version\n3\n", Role.PROBLEM, ""),
        ("a.txt", "begin_version\n3\n", Role.UNKNOWN, ".sas"),
        ("a.py", "def factory(task): ...", Role.POLICY, ""),
        ("a.py", "x = 1", Role.UNKNOWN, "one parameter"),
        ("a.py", "def broken(", Role.UNKNOWN, "one parameter"),
        ("a.toml", "problems = []", Role.CAMPAIGN, ""),
        ("a.toml", "problems = [", Role.CAMPAIGN, ""),
        ("a.toml", "other = 1", Role.UNKNOWN, "names no problems"),
        ("a.bin", "\0\1\2", Role.UNKNOWN, "neither"),
        ("a.pddl", " \n", Role.UNKNOWN, "empty"),
        ("a", "sas_variables\n1\n2;x;y\npool\n", Role.POOL, ""),
        ("a", "\ufeffsas_variables\r\n1\r\n2;x;y\r\npool\r\n", Role.POOL, ""),
        ("a", "17\nstate\n0 1 2\n", Role.POOL, ""),
        ("a", "begin_sas\nbegin_version\n3\n", Role.POOL, ""),
        ("a", "3 0 1 2\n-1 0 0 0\n", Role.POLICY, ""),
        ("a", "17\nhello\n", Role.UNKNOWN, "nor a pool"),
    ],
)
def test_what_a_file_is(tmp_path: Path, name: str, content: str, role: Role, reason: str) -> None:
    (tmp_path / name).write_text(content)
    found = recognize_file(tmp_path / name)
    assert found.role is role
    assert reason in found.reason


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    (item,) = recognize_all([tmp_path / "nothing"]).unknown
    assert "No such file" in item.reason


def test_a_folder_gives_all_it_has() -> None:
    found = recognize_all([FERRY])
    assert found.domains == (str(FERRY / "domain.pddl"),)
    assert [Path(name).name for name in found.problems] == [f"p0{i}.pddl" for i in range(1, 9)]
    assert found.policies == (str(FERRY / "policies" / "policy.pt"),)
    assert len(found.portfolio) == 10  # checkpoints of one training
    assert found.campaigns == (str(FERRY / "campaign.toml"),)
    assert found.unknown == ()


def test_a_folder_is_not_searched_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recognize, "MAX_FILES", 5)
    for number in range(9):
        (tmp_path / f"{number}.pddl").write_text("(define (problem x))")
    (tmp_path / ".hidden").mkdir()
    (tmp_path / "loop").symlink_to(tmp_path)
    assert len(recognize_all([tmp_path]).problems) == 5
    empty = tmp_path / "loop2"
    empty.mkdir()
    (item,) = recognize_all([empty]).unknown
    assert "no domain" in item.reason


def test_a_script_in_a_folder_is_no_plug_in(tmp_path: Path) -> None:
    (tmp_path / "generate.py").write_text("def main(arguments): ...")
    (tmp_path / "mine.py").write_text("def factory(task): ...")
    assert recognize_all([tmp_path]).policies == (f"{tmp_path / 'mine.py'}:factory",)
    assert recognize_all([tmp_path / "generate.py"]).policies == (
        f"{tmp_path / 'generate.py'}:main",
    )


def test_numbers_in_a_folder_are_a_policy_by_name_only(tmp_path: Path) -> None:
    for name in ("numbers.txt", "policy.cache"):
        (tmp_path / name).write_text("3 0 1 2\n")
    (tmp_path / "states").write_text("17\nstate\n0 1 2\n")
    found = recognize_all([tmp_path])
    assert found.policies == (str(tmp_path / "policy.cache"),)
    assert found.pools == (str(tmp_path / "states"),)
    assert recognize_all([tmp_path / "numbers.txt"]).policies == (str(tmp_path / "numbers.txt"),)


def test_factories_take_the_task_alone() -> None:
    source = (
        "def a(x, y): ...\ndef b(task): ...\nclass C: ...\ndef _d(task): ...\ndef factory(t): ..."
    )
    assert plugin_factories(source) == ["factory", "b", "C"]


OTHER_PROCESS = """
import sys
from engine.workspace.workspace import Workspace
from engine.records.events import Warned
with Workspace.open(sys.argv[1]) as store:
    store.apply([Warned(None, "other")])
"""


def test_a_workspace_that_is_open_here_is_not_taken_away(tmp_path: Path) -> None:
    """Reading it beside SQLite drops SQLite's locks; ours hold."""
    path = tmp_path / "w.plumb"

    def write_elsewhere() -> None:
        subprocess.run([sys.executable, "-c", OTHER_PROCESS, str(path)], check=True)

    with Workspace.create(path) as store:
        assert recognize_all([path]).workspaces == (str(path),)
        recognize_all([tmp_path])
        write_elsewhere()
        store.set_project(Project(domain="/mine"))
        recognize_all([tmp_path])
        write_elsewhere()
        assert len(store.log()) == 2
        store.set_project(Project(domain="/last"))
    with Workspace.open(path) as store:
        assert len(store.log()) == 2
        assert store.project().domain == "/last"
        assert not store.damage()


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (item,) = recognize_all([tmp_path / "pipe"]).unknown
    assert item.reason == "it is not a regular file"
