"""A workspace from a stranger: whatever is in it, it is read or refused, and no more happens."""

from __future__ import annotations

import html.parser
import re
import shlex
import sqlite3
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.amount import amount
from reference.forging import forging
from reference.hostile_files import NAMES
from reference.hostile_readers import READ, REFUSED, Read, read_workspace, taken
from reference.hostile_workspaces import STRANGE_SCHEMAS, strange_cells

from engine.campaign.bundle import reproduce_commands, write_bundle
from engine.cli import main
from engine.errors import ExitCode, PlumblineError, WorkspaceError
from engine.records import codec as packing
from engine.records.finding import BugStatus
from engine.report.content import gather
from engine.report.html import html_report
from engine.report.tables import csv_report
from engine.task.unpacked import safe_name, unpack_inputs
from engine.workspace.workspace import Workspace

hostile = settings.get_profile("hostile")
Change = Callable[..., Path]


def test_the_workspace_is_sound(reading: dict[str, Read], sound: Path) -> None:
    assert taken(reading["workspace"], sound.read_bytes()) == READ


@settings(hostile, max_examples=amount(60, 20))
@given(data=st.data())
def test_any_value_in_any_column(
    reading: dict[str, Read],
    sound: Path,
    tmp_path_factory: pytest.TempPathFactory,
    data: st.DataObject,
) -> None:
    cell = data.draw(strange_cells(sound))
    content = cell.put(sound, tmp_path_factory.getbasetemp() / "cell.plumb")
    assert taken(reading["workspace"], content) in (READ, REFUSED)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE findings SET unit = 99 WHERE id = 1",
        "UPDATE units SET problem = 99 WHERE id = 1",
        "UPDATE units SET policy = 99 WHERE id = 1",
        "UPDATE localizations SET finding = 99",
        "UPDATE localizations SET finding = 9223372036854775807",
        "UPDATE localizations SET root_cause = 99",
        "UPDATE localizations SET root_cause = -1",
        "UPDATE patterns SET id = 99",
        "DELETE FROM problems",
        "DELETE FROM root_causes",
        "UPDATE findings SET id = 9223372036854775807 WHERE id = (SELECT max(id) FROM findings)",
        "UPDATE findings SET id = -id",
        "UPDATE findings SET gap = -9223372036854775808, region = 9223372036854775807",
        "DELETE FROM findings",
    ],
)
def test_numbers_that_refer_to_nothing(changed: Change, statement: str) -> None:
    path = changed(f"PRAGMA foreign_keys = OFF; {statement}")
    assert taken(lambda _: read_workspace(path), b"") in (READ, REFUSED)
    with Workspace.open(path) as store:
        causes = store.root_cause_numbers()
        bugs = {row["id"] for row in store.dump()["findings"]}
        assert all(set(cause.bugs) <= bugs for cause in store.each_root_cause([*causes, 1, 99]))


@pytest.mark.parametrize("statements", STRANGE_SCHEMAS)
def test_any_schema(changed: Change, statements: str) -> None:
    path = changed(statements)
    with pytest.raises(PlumblineError):
        read_workspace(path)


@pytest.mark.parametrize("statements", STRANGE_SCHEMAS[:10])
def test_what_we_did_not_make_is_not_even_opened(changed: Change, statements: str) -> None:
    refused = r"did not make|is not as this version|has no|invalid value"
    with pytest.raises(WorkspaceError, match=refused):
        Workspace.open(changed(statements))


@pytest.mark.parametrize("column", ["name", "tbl_name", "sql"])
def test_a_list_of_tables_that_is_not_text(changed: Change, column: str) -> None:
    """Python's module tells of it without an error of SQLite."""
    path = changed(
        "PRAGMA writable_schema = ON;"
        f"UPDATE sqlite_schema SET {column} = CAST({column} || x'2D2DFF' AS TEXT)"
        " WHERE name = 'log'"
    )
    with pytest.raises(WorkspaceError, match="the file is damaged"):
        Workspace.open(path)


def test_compressed_steps_that_are_nested_too_deeply(changed: Change) -> None:
    """A few hundred bytes that no parser's stack holds."""
    packed = packing.compress(b"[" * 100_000)
    path = changed(f"UPDATE localized_steps SET steps = x'{packed.hex()}'")
    with Workspace.open(path) as store:
        (bug, *_) = [row["finding"] for row in store.dump()["localized_steps"]]
        with pytest.raises(WorkspaceError, match="nested too deeply"):
            store.localization(bug)
    assert main(["verify", str(path)]) == ExitCode.ANSWER_IS_NO


def test_sqlite_trusts_no_file(sound: Path) -> None:
    with Workspace.open(sound) as store:
        assert store._rows("PRAGMA trusted_schema") == [(0,)]
        with pytest.raises(sqlite3.OperationalError, match="not authorized"):
            store._rows("SELECT load_extension('x')")


@pytest.mark.parametrize(
    "statements",
    [
        "CREATE TRIGGER t AFTER UPDATE ON findings BEGIN DELETE FROM inputs; END",
        "CREATE TRIGGER chain AFTER UPDATE ON findings BEGIN UPDATE findings SET bound = 0; END",
        "ALTER TABLE evidence RENAME TO e; CREATE VIEW evidence AS SELECT finding, document FROM e",
        "ALTER TABLE runs RENAME TO r; CREATE VIEW runs AS WITH RECURSIVE chain(x) AS "
        "(SELECT 1 UNION ALL SELECT x + 1 FROM chain) SELECT r.* FROM r, chain",
    ],
)
def test_what_another_program_adds_to_an_open_workspace_is_not_used(
    changed: Change, statements: str
) -> None:
    path = changed("SELECT 1")
    with Workspace.open(path) as store:
        bug = store.bugs()[0].id
        with closing(sqlite3.connect(path)) as other:
            other.executescript(statements)
        before = store.dump()["inputs"], [row["bound"] for row in store.dump()["findings"]]
        with pytest.raises(WorkspaceError, match="added a view or a trigger"):
            use(store, bug)
        assert before == (store.dump()["inputs"], [r["bound"] for r in store.dump()["findings"]])


def use(store: Workspace, bug: int) -> None:
    store.bug(bug)
    store.set_status([bug], BugStatus.IGNORED)


@pytest.mark.parametrize("space", ["\xa0", "\u2003", "\x1c", "\x0b", "\x85"])
def test_only_white_space_of_sqlite_is_white_space(changed: Change, space: str) -> None:
    """To SQLite another space is a part of a name, and then our statements miss a column."""
    path = changed(
        "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = "
        f"replace(sql, 'note TEXT', 'note{space}TEXT') WHERE name = 'findings'"
    )
    assert main(["bugs", str(path)]) == 2


INDEX_OF = {"findings": "finding_by_status", "localizations": "localization_by_root_cause"}


@pytest.mark.parametrize("table", INDEX_OF)
def test_an_index_that_knows_other_rows_is_damage(changed: Change, table: str) -> None:
    """SQLite answers some questions from an index alone: lists and checks would see other bugs."""
    path, name = changed(), INDEX_OF[table]
    with forging(path) as connection:
        (row,) = connection.execute("SELECT * FROM sqlite_master WHERE name = ?", (name,))
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("DELETE FROM sqlite_master WHERE name = ?", (name,))
    with forging(path) as connection:
        connection.execute(f"DELETE FROM {table}")
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", row)
    with pytest.raises(WorkspaceError, match=r"the file is damaged: .*index"):
        Workspace.open(path)


def test_a_localization_of_a_missing_bug_is_in_no_list(changed: Change) -> None:
    path = changed(
        "CREATE TEMP TABLE lost AS SELECT * FROM localizations WHERE root_cause NOT NULL LIMIT 1;"
        "UPDATE lost SET finding = 99; INSERT INTO localizations SELECT * FROM lost"
    )
    with Workspace.open(path) as store:
        there = {bug.id for bug in store.bugs()}
        listed = {bug for cause in store.root_causes() for bug in cause.bugs}
    assert listed
    assert listed <= there


def test_a_few_bytes_do_not_fill_the_memory(
    changed: Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "LARGEST_CONTENT", 2**20)
    path = changed()
    connection = sqlite3.connect(path)
    connection.execute("UPDATE inputs SET content = ?", (zlib.compress(bytes(2**20 + 1)),))
    connection.commit()
    connection.close()
    with Workspace.open(path) as store, pytest.raises(WorkspaceError, match="too large"):
        store.problem(1)


# names


@pytest.mark.parametrize("name", NAMES)
def test_a_copy_never_leaves_its_folder(sound: Path, tmp_path: Path, name: str) -> None:
    with Workspace.open(sound) as store:
        problem, policy = store.problem(1), store.policy(1)
    file = type(problem.problem)(name, problem.problem.content, name)
    with unpack_inputs(type(problem)(name, file, problem.domain, False), policy) as files:
        for path in files.task_files:
            assert path.is_file()
            assert files.folder in path.resolve().parents
            assert ":" not in path.name
    assert "/" not in safe_name(name)


def test_verify_and_localize_write_nothing_outside(changed: Change, tmp_path: Path) -> None:
    victim = tmp_path / "victim.txt"
    victim.write_text("mine")
    path = changed(f"UPDATE inputs SET name = '{victim}'", f"UPDATE problems SET path = '{victim}'")
    assert main(["verify", str(path), "--bug", "1"]) == 0
    assert main(["localize", str(path), "--bug", "1"]) == 0
    assert victim.read_text() == "mine"


def named(path: Path, name: str) -> Path:
    """All that has a name is called so."""
    connection = sqlite3.connect(path)
    for statement in (
        "UPDATE OR IGNORE problems SET name = ?1, path = ?1",
        "UPDATE OR IGNORE policies SET name = ?1, spec = ?1",
        "UPDATE findings SET note = ?1, oracle = ?1, evidence_kind = ?1",
        "UPDATE units SET error = ?1",
        "UPDATE root_causes SET action = ?1",
        "UPDATE inputs SET name = ?1",
    ):
        connection.execute(statement, (name,))
    connection.commit()
    connection.close()
    return path


class _Page(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.links: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)
        self.links.update(value or "" for name, value in attrs if name in ("href", "src"))


@pytest.mark.parametrize("name", [name for name in NAMES if set(name) & set("<=+@{")])
def test_reports_show_names_and_run_nothing(changed: Change, name: str) -> None:
    with Workspace.open(named(changed(), name)) as store:
        content = gather(store, None, 5)
        text, table = "".join(html_report(content)), "".join(csv_report(content))
    page = _Page()
    page.feed(text)
    assert not page.tags & {"script", "img", "iframe", "object", "embed", "link", "b " + name}
    assert not [attribute for attribute in page.attributes if attribute.startswith("on")]
    assert all(link.startswith("#") for link in page.links)
    assert "49" not in re.findall(r"<td>(.*?)</td>", text) or "{{" not in name
    for line in table.splitlines()[1:]:
        assert not re.search(r'(^|,)"?[=+@]', line)


def test_a_name_in_a_command_is_a_word(changed: Change) -> None:
    spec = "x$(touch owned); rm -rf ~ #"
    path = changed(f"UPDATE policies SET spec = '{spec}', path = NULL, file = NULL")
    with Workspace.open(path) as store:
        bug = store.bug(1)
        tested, exported, *_ = reproduce_commands(store, bug, store.task(bug.problem_id), True)
    for run in (tested, exported):
        assert shlex.split(run)[:3] == ["plumbline", "run", spec]


def test_a_stored_policy_has_a_name(changed: Change) -> None:
    with (
        Workspace.open(named(changed(), "")) as store,
        pytest.raises(WorkspaceError, match="names no policy"),
    ):
        store.policy(1)


@pytest.mark.parametrize("name", [name for name in NAMES if name])
def test_bundles_stay_in_their_folder(
    changed: Change, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.chdir(home)
    path = named(changed(), name)
    with Workspace.open(path) as store:
        bundle = write_bundle(store, 1, tmp_path / "out")
        text = (bundle.folder / "README.md").read_text()
    assert {child.name for child in tmp_path.iterdir()} == {"home", "out", path.name}
    assert not list(home.iterdir())
    assert text.count("\n    plumbline run ") == 2


# programs

PLUGIN = """\
import pathlib
pathlib.Path({mark!r}).write_text("it has run")


def factory(task):
    raise ValueError
"""


def test_a_campaign_continues_only_with_the_policies_of_the_configuration(tmp_path: Path) -> None:
    """The workspace was changed after it was stopped."""
    from reference.bug_workspace import CONFIG, DOMAIN, problem_text

    (tmp_path / "domain.pddl").write_text(DOMAIN)
    for loads in (2, 3):
        (tmp_path / f"p{loads}.pddl").write_text(problem_text(loads))
    (tmp_path / "campaign.toml").write_text(CONFIG)
    mark, plugin = tmp_path / "mark", tmp_path / "evil.py"
    plugin.write_text(PLUGIN.format(mark=str(mark)))
    path = tmp_path / "w.plumb"
    command = ["campaign", str(tmp_path / "campaign.toml"), "--out", str(path)]
    assert main([*command, "--time-limit", "0.001"]) == 3
    connection = sqlite3.connect(path)
    connection.execute("UPDATE policies SET spec = ?", (f"{plugin}:factory",))
    connection.execute("UPDATE units SET status = 'waiting'")
    connection.commit()
    connection.close()
    assert main([*command, "--resume"]) == 2
    assert not mark.exists()


def test_verifying_asks_no_program_and_no_server(changed: Change, tmp_path: Path) -> None:
    mark, plugin = tmp_path / "mark", tmp_path / "evil.py"
    plugin.write_text(PLUGIN.format(mark=str(mark)))
    path = changed(f"UPDATE policies SET spec = '{plugin}:factory'")
    assert main(["verify", str(path), "--bug", "1"]) == 1  # the file has it as a built-in policy
    assert not mark.exists()
