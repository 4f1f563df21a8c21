"""Everything that reads a file of a user's, one function per kind, and how a file was taken.

Only errors of our own may come out: whatever else does is a defect.
"""

from __future__ import annotations

import json
import sqlite3
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

from engine.campaign.bundle import write_bundle
from engine.campaign.changes import compare_campaigns
from engine.campaign.config_reader import parse_config, parse_toml
from engine.campaign.exchange import FORMATS, unit_called
from engine.campaign.toml_positions import key_positions
from engine.errors import PlumblineError
from engine.experiments.config_reader import ExperimentReader
from engine.experiments.results import experiment_results
from engine.experiments.suites import read_pairs
from engine.fuzzing.bugs_file import parse_bugs
from engine.fuzzing.imported_pool import contents
from engine.fuzzing.pool_file import PoolEntry, parse_pool, write_pool
from engine.pddl import check_texts, format_domain
from engine.pictures.profile import parse_profile
from engine.pictures.profile_stages import ProfilePicture, stages_of
from engine.pictures.svg import svg
from engine.policies.policy import close_policy, open_policy
from engine.records.inputs import File
from engine.report.content import gather
from engine.report.html import html_report
from engine.report.tables import csv_report, json_report, junit_report
from engine.task.load import load_task
from engine.task.plans import parse_plan
from engine.task.sas import parse_sas, write_sas
from engine.task.task import Task
from engine.verify.claims import require_fit
from engine.workspace.bug_list import GROUPS, BugQuery
from engine.workspace.filter import COLUMNS, parse_terms
from engine.workspace.workspace import Workspace
from reference.drawn_tasks import walk

EXAMPLES = Path(__file__).resolve().parents[2] / "resources" / "examples"
FERRY = EXAMPLES / "ferry"
REFUSED, READ = "refused", "read"
Read = Callable[[bytes], object]

PLAN = "(sail a b)\n(embark r a b)\n; cost = 2 (unit cost)\n"
SVG_PARTS = {
    *("svg", "title", "desc", "rect", "defs", "image", "filter", "feColorMatrix", "use", "g"),
    *("text", "path", "polygon", "circle"),
}
FILTER = 'gap>5 oracle:bmo|aras -status:new "a b" id:1..9'


def taken(read: Read, data: bytes) -> str:
    """`read`, `refused`, or what is wrong with us."""
    try:
        read(data)
    except PlumblineError as error:
        str(error).encode()  # it can be shown, too
        return REFUSED
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(where.filename).name}:{where.lineno}"
        return f"DEFECT {type(error).__name__}: {str(error)[:200]} ({place})"
    return READ


def text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def ferry_task() -> Task:
    return load_task(FERRY / "domain.pddl", FERRY / "problems" / "p01.pddl")


def samples(task: Task) -> dict[str, str]:
    """Sound texts of a task."""
    pool = [PoolEntry(task.init), PoolEntry(task.init, 0, 3)]
    state = " ".join(map(str, task.init))
    other = " ".join(map(str, (int(task.init[0] == 0), *task.init[1:])))
    return {
        "sas": write_sas(task),
        "plan": PLAN,
        "pool": write_pool(task, pool),
        "bugs": f"0\nstate\n{state}\n0\nresult\n3\n5\n0\npool\n"
        f"1\nstate\n{state}\n1\nresult\n-1\n2\n",
        "policy cache": f"0 {state}\n-1 {other}\n",
        "filter": FILTER,
    }


def readers(folder: Path, task: Task) -> dict[str, Read]:
    """By kind of file; those that need a file on disk write it below `folder`."""
    domain = (FERRY / "domain.pddl").read_text()

    def in_file(suffix: str, read: Callable[[Path], object]) -> Read:
        path = folder / f"sample{suffix}"

        def use(data: bytes) -> object:
            path.write_bytes(data)
            return read(path)

        return use

    def policy(path: Path) -> None:
        close_policy(open_policy(str(path)))

    def cache(path: Path) -> None:
        open_policy(str(path)).bind(task)

    return {
        "domain": _read_domain,
        "problem": lambda data: check_texts(domain, text(data)),
        "own problem": lambda data: check_texts(
            "(define (domain d) (:predicates (p)))", text(data)
        ),
        "sas": lambda data: parse_sas(text(data)),
        "plan": lambda data: parse_plan(text(data)),
        "pool": lambda data: (parse_pool(text(data), task), contents(File("f", data, "f"))),
        "bugs": lambda data: (parse_bugs(text(data), task), contents(File("f", data, "f"))),
        "policy cache": in_file("", cache),
        "campaign": lambda data: parse_config(text(data), FERRY / "campaign.toml"),
        "experiment": lambda data: ExperimentReader(
            parse_toml(text(data), FERRY / "e.toml"), key_positions(text(data)), FERRY / "e.toml"
        ).experiment(),
        "pairs": in_file(".csv", read_pairs),
        "profile": lambda data: _draw_profile(text(data), task),
        "filter": lambda data: parse_terms(text(data)),
        "own policy": in_file(".pt", policy),
        "gnn checkpoint": in_file(".ckpt", policy),
        "cpddl policy": in_file(".policy", policy),
        "workspace": in_file(".plumb", read_workspace),
    }


def _read_domain(data: bytes) -> None:
    report = check_texts(text(data))
    if report.domain is not None and report.ok:
        check_texts(format_domain(report.domain))


def _draw_profile(profile: str, task: Task) -> None:
    """Every stage of a short walk; the picture is one document that asks for nothing outside."""
    assert task.source is not None
    found = parse_profile(profile, "p.pddl", task.source.domain)
    states, actions = walk(task, 4)
    stages = stages_of(found, task, states, actions)
    json.dumps([stage.to_json() for stage in stages], allow_nan=False)
    picture = ProfilePicture(found, [stages])
    for stage in stages[:2]:
        drawn = ElementTree.fromstring(svg(picture.scene("title", stage, actions[0])))
        assert {part.tag.rpartition("}")[2] for part in drawn.iter()} <= SVG_PARTS
        links = {part.get("href", "#") for part in drawn.iter()}
        assert all(link.startswith(("#", "data:image/")) for link in links)


def read_workspace(path: Path) -> None:
    """Ask everything that can be asked; one refusal does not end the questions."""
    refusals = 0
    with Workspace.open(path) as store, TemporaryDirectory() as out:
        for question in _questions(store, Path(out)):
            try:
                question()
            except PlumblineError:
                refusals += 1
    if refusals:
        raise PlumblineError(f"{refusals} questions were refused")


def _questions(store: Workspace, out: Path) -> Iterator[Callable[[], object]]:
    yield from (store.project, store.log, store.root_causes)
    yield lambda: [store.training(folder) for folder in store.training_folders()]
    yield lambda: [store.comparison(row.id) for row in store.comparisons()]
    yield lambda: [experiment_results(store, row.id) for row in store.experiments.rows()]
    yield lambda: [store.experiments.pending(row.id) for row in store.experiments.rows()]
    tables = store.dump()
    numbers = [row["id"] for row in tables["campaigns"][:2]]
    for campaign in numbers:
        yield lambda campaign=campaign: store.pending(campaign)
        yield lambda campaign=campaign: _reports(store, campaign)
        yield lambda campaign=campaign: compare_campaigns(store, campaign, numbers[0])
    for unit in [row["id"] for row in tables["units"][:2]]:
        yield lambda unit=unit: store.pool(unit)
        yield lambda unit=unit: _exports(store, unit)
    for bug in [row["id"] for row in tables["findings"][:2]]:
        yield lambda bug=bug: _whole_bug(store, bug)
        yield lambda bug=bug: write_bundle(store, bug, out)
    yield lambda: store.bugs(terms=parse_terms(FILTER))
    yield store.bug_overview
    for group in GROUPS:
        query = BugQuery(parse_terms(FILTER), (("gap", True), ("worst", False)), group)
        yield lambda query=query: store.bug_list(query)
    for name in COLUMNS:
        terms = parse_terms(f"-{name}:none")
        order = ((name, True),) if name != "original" else ()  # no column of the table
        yield lambda terms=terms: store.root_cause_numbers(terms=terms)
        yield lambda order=order: store.bug_list(BugQuery((), order))


def _reports(store: Workspace, campaign: int) -> None:
    content = gather(store, campaign, 2)
    for report in (html_report, csv_report, json_report, junit_report):
        "".join(report(content)).encode()


def _exports(store: Workspace, unit: int) -> None:
    row = unit_called(store, unit)
    for kind in FORMATS.values():
        kind.counted(kind.text(store, row))


def _whole_bug(store: Workspace, number: int) -> None:
    bug = store.bug(number)
    require_fit(bug, store.task(bug.problem_id), store.localization(number))
    store.history(number)
    store.policy(bug.policy_id)


def workspace_columns(path: Path) -> list[tuple[str, str]]:
    """All tables and columns that hold something."""
    connection = sqlite3.connect(path)
    found = [
        (table, column[1])
        for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        if connection.execute(f"SELECT 1 FROM {table}").fetchone()
        for column in connection.execute(f"PRAGMA table_info({table})").fetchall()
    ]
    connection.close()
    return found


def documents(path: Path) -> list[tuple[str, str, str]]:
    """Tables and columns that hold JSON, each with one such document."""
    found = []
    connection = sqlite3.connect(path)
    for table, column in workspace_columns(path):
        (value,) = connection.execute(f"SELECT {column} FROM {table} LIMIT 1").fetchone()
        if isinstance(value, str) and value.startswith(("{", "[")):
            json.loads(value)
            found.append((table, column, value))
    connection.close()
    return found
