"""What the fuzzer attacks: one target per reader, with sound seeds that are small.

A target turns bytes into a file of its kind. Where random bytes would only ever reach the first
check (a checksum, a page number), the bytes are what is inside: the pickle of a checkpoint, a
script that makes a database, changes to a sound workspace.
"""

from __future__ import annotations

import io
import json
import sqlite3
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.campaign.config_reader import parse_config
from engine.errors import PlumblineError
from engine.experiments.config_writer import preset_text
from engine.experiments.presets import EXPERIMENT_PRESETS
from engine.policies.consent import NO_CONSENT
from engine.policies.policy import close_policy, open_policy
from engine.records.codec import check, decode, encode, to_json
from engine.records.comparison import Comparison
from engine.records.config import CampaignConfig
from engine.records.events import CampaignEvent, UnitStatistics
from engine.records.evidence import Evidence, Morph, Walk
from engine.records.experiment import ExperimentConfig, TrialPlan, TrialResult
from engine.records.localization import Localization
from engine.records.pattern import Attempt, Certificate
from engine.records.project import Project
from engine.records.training import Training
from engine.task.load import load_task
from engine.task.sas import write_sas
from engine.task.task import Task
from engine.usecases.campaign import run
from engine.usecases.check_project import check_project
from engine.usecases.verify import verify
from engine.workers.channel import (
    Call,
    ChannelError,
    Command,
    End,
    Events,
    FrameReader,
    Order,
    Take,
    frame,
    pack,
    unpack,
)
from engine.workers.link import Failure, JobProgress, Link
from engine.workers.worker import find_function
from engine.workspace.workspace import Workspace
from reference.bug_workspace import DOMAIN, InThreads, problem_text
from reference.hostile_files import ABSURD, torch_file
from reference.hostile_readers import (
    EXAMPLES,
    FERRY,
    Read,
    ferry_task,
    read_workspace,
    readers,
    samples,
    text,
    workspace_columns,
)
from reference.hostile_workspaces import filled

Seeds = Callable[[], list[bytes]]
KILOBYTE = 2**10


@dataclass(frozen=True)
class Target:
    read: Read
    seeds: Seeds
    words: tuple[str, ...] = tuple(word for word in ABSURD if 0 < len(word) < 30)
    """Worth trying anywhere."""
    largest: int = 16 * KILOBYTE


def targets(folder: Path) -> dict[str, Callable[[], Target]]:
    """By the kind of file, each made when it is wanted; files are written below `folder`."""
    task = ferry_task()
    reading = readers(folder, task)
    texts = samples(task)

    def plain(kind: str, seeds: Seeds, *words: str) -> Callable[[], Target]:
        return lambda: Target(reading[kind], seeds, *([words] if words else []))

    return {
        "domain": plain("domain", lambda: _files(EXAMPLES, "*/domain.pddl"), *PDDL_WORDS),
        "problem": plain("problem", lambda: _files(FERRY, "problems/p0*.pddl"), *PDDL_WORDS),
        "own problem": plain("own problem", lambda: [PROBLEM.encode()], *PDDL_WORDS),
        **{kind: plain(kind, lambda t=text: [t.encode()]) for kind, text in texts.items()},
        "campaign": plain(
            "campaign", lambda: _files(EXAMPLES, "*/campaign.toml"), "**/*", "[[", "]]", "nan"
        ),
        "experiment": plain(
            "experiment",
            lambda: [preset_text(preset).encode() for preset in EXPERIMENT_PRESETS.values()],
            "[[suite]]",
            "[oracles]",
        ),
        "pairs": plain("pairs", lambda: [b"domain,kind,a,b\nferry,same,a.pddl,b.pddl\n"]),
        "profile": plain("profile", lambda: _files(FERRY, "profiles/*.pddl"), *PROFILE_WORDS),
        "settings": lambda: Target(in_file(folder, ".json", read_settings), lambda: [SETTINGS]),
        "record": lambda: Target(read_record, record_seeds),
        "message": lambda: Target(read_messages, message_seeds),
        "own policy": lambda: own_policy(folder, task),
        "gnn checkpoint": lambda: gnn_checkpoint(folder, task),
        "torch file": lambda: Target(
            in_file(folder, ".pt", lambda path: use_policy(path, task)),
            lambda: [own_network(folder, task)],
        ),
        "cpddl policy": lambda: Target(
            in_file(folder, ".policy", lambda path: use_policy(path, task)),
            lambda: [cpddl_file(task)],
        ),
        "cpddl script": lambda: Target(
            in_script(folder, cpddl_file(task), lambda path: use_policy(path, task)),
            lambda: [line.encode() for line in CPDDL_SCRIPTS],
            SQL_WORDS,
        ),
        "workspace": lambda: Target(
            in_file(folder, ".plumb", read_workspace),
            lambda: [plain_workspace(folder).read_bytes()],
            largest=256 * KILOBYTE,
        ),
        "workspace script": lambda: Target(
            in_script(folder, plain_workspace(folder).read_bytes(), read_workspace),
            lambda: [line.encode() for line in WORKSPACE_SCRIPTS],
            SQL_WORDS,
        ),
        "workspace cells": lambda: Target(
            in_cells(folder, plain_workspace(folder), read_workspace), cell_seeds
        ),
        "verified workspace": lambda: Target(
            in_cells(folder, plain_workspace(folder), verify_workspace), cell_seeds
        ),
    }


def _files(folder: Path, pattern: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted(folder.glob(pattern))]


def in_file(folder: Path, suffix: str, read: Callable[[Path], object]) -> Read:
    path = folder / f"fuzzed{suffix}"

    def use(data: bytes) -> object:
        for left in folder.glob(f"{path.name}*"):
            left.unlink()
        path.write_bytes(data)
        return read(path)

    return use


# texts

PDDL_WORDS = (
    *(":requirements", ":typing", ":adl", ":types", ":constants", ":predicates", ":functions"),
    *(":action", ":parameters", ":precondition", ":effect", ":init", ":goal", ":metric"),
    *("(and ", "(or ", "(not ", "(imply ", "(forall (?x) ", "(exists (?x) ", "(when ", "(= "),
    *("(either ", "(increase (total-cost) ", ":derived", ":durative-action", ":constraints"),
)
PROFILE_WORDS = (
    *("(:predicate ", "(:visual ", "(:image ", ":parameters", ":effect", ":custom", ":priority"),
    *(":type", "default", "predefine", "custom", ":objects", ":properties", "(equal ", "(assign "),
    *("(add ", "(function ", "(objects ", "(settings ", "(action ", "draw_line", "distributex"),
    *("distributey", "distribute_grid_around_point", "distribute_within_objects_vertical"),
    *("distribute_within_objects_horizontal", "apply_smaller", "align_middle", "calculate_label"),
    *("(spacebtw ", "(row_count ", "(padding ", "prefabimage", "panel_size", "randomcolor"),
    *("1e6", "-999999", "iVBORw0KGgoAAAANSUhEUgAAAAIAAAAD", "null", "showlabel", "%island"),
)
PROBLEM = "(define (problem x) (:domain d) (:objects a b) (:init (p)) (:goal (and (p))))"
SETTINGS = json.dumps(
    {"version": 2, "recent": ["a.plumb"], "agreed": ["grpc://localhost:1"], "theme": "dark"}
).encode()


def read_settings(path: Path) -> None:
    """Only asks: what is set would have to wait for an application to be written."""
    from app.services import settings

    found = settings.Settings(path)
    settings.recent_workspaces(found)
    settings.last_workspace(found)
    settings.consent(found)


# records and messages

RECORDS: tuple[Any, ...] = (
    *(Evidence, Localization, Comparison, Training, Project, CampaignConfig, UnitStatistics),
    *(CampaignEvent, Attempt, Certificate, ExperimentConfig, TrialPlan, TrialResult),
)


def read_record(data: bytes) -> None:
    """The first byte chooses the type that is expected."""
    if data:
        record = decode(data[1:], RECORDS[data[0] % len(RECORDS)])
        check(record)
        assert decode(encode(record), type(record)) == record
        json.dumps(to_json(record)).encode()


def record_seeds() -> list[bytes]:
    draft = parse_config((FERRY / "campaign.toml").read_text(), FERRY / "campaign.toml")
    walk = Walk((2,), "policy")
    made = [Evidence((0, 1), (walk, Morph((0, 1), -2, "bmo"), walk), 1), Project("d"), draft]
    return [bytes([RECORDS.index(type(record))]) + encode(record) for record in made]


def read_messages(data: bytes) -> None:
    """What a worker may be sent, and what may come back from one."""
    reader = FrameReader()
    reader.feed(data)
    try:
        while (message := reader.take()) is not None:
            match message:
                case Call():
                    message.arguments_for(find_function(message.function))
                case Events():
                    for event in message.events:
                        unpack(event)
                case End(result=result) if result is not None:
                    unpack(result)
    except ChannelError as error:
        raise PlumblineError(str(error)) from error


def message_seeds() -> list[bytes]:
    call = Call.of(check_project, Project("d"), NO_CONSENT)
    event = pack(Evidence((0, 1), (Walk((2,), "policy"),), 1))
    progress = JobProgress(1, 2, "x")
    messages = [call, Take(3), Events((event,), progress), End(event), Order(Command.STOP)]
    return [frame(message) for message in (*messages, End(failure=Failure("x")))]


# policies


def use_policy(path: Path, task: Task) -> None:
    import numpy as np

    policy = open_policy(str(path))
    try:
        json.dumps(dict(policy.describe().details), default=str).encode()
        policy.bind(task).decide(np.array([task.init], dtype=np.int32))
    finally:
        close_policy(policy)


def own_network(folder: Path, task: Task) -> bytes:
    from engine.policies.asnets.checkpoint import save_checkpoint
    from engine.policies.asnets.network import Asnets
    from engine.policies.asnets.relatedness import relate

    assert task.source is not None
    domain, path = task.source.domain, folder / "small.pt"
    save_checkpoint(path, Asnets(relate(domain), 1, 1), domain)
    return path.read_bytes()


def own_policy(folder: Path, task: Task) -> Target:
    return _in_archive(folder, ".pt", own_network(folder, task), task)


def gnn_checkpoint(folder: Path, task: Task) -> Target:
    import torch

    from reference.policy_files import gnn_contents

    assert task.source is not None
    stream = io.BytesIO()
    torch.save(gnn_contents(task.source.domain, hidden=1, iterations=1), stream)
    return _in_archive(folder, ".ckpt", stream.getvalue(), task)


def _in_archive(folder: Path, suffix: str, sound: bytes, task: Task) -> Target:
    """The pickle of a torch file whose numbers stay as they are."""
    with zipfile.ZipFile(io.BytesIO(sound)) as archive:
        inside = {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}
    pickled = inside["data.pkl"]
    numbers = {name: data for name, data in inside.items() if name.startswith("data/")}
    read = in_file(folder, suffix, lambda path: use_policy(path, task))
    return Target(lambda data: read(torch_file(data, numbers)), lambda: [pickled])


def cpddl_file(task: Task) -> bytes:
    """In small pages, so that there is little to mutate that means nothing."""
    from engine.policies.asnets.relatedness import relate
    from reference.policy_files import cpddl_rows, write_cpddl

    assert task.source is not None
    domain, database = task.source.domain, sqlite3.connect(":memory:")
    database.execute("PRAGMA page_size = 512")
    write_cpddl(database, domain, 1, 1, cpddl_rows(relate(domain), 1, 1, 0))
    return database.serialize()


# databases

SQL_WORDS = (
    *(
        "UPDATE ",
        "INSERT INTO ",
        "CREATE TABLE ",
        "CREATE VIEW ",
        "CREATE TRIGGER ",
        "ALTER TABLE ",
    ),
    *("DROP TABLE ", " SELECT ", " FROM ", " WHERE ", " AS (", "zeroblob(9)"),
    *("WITH RECURSIVE ", "randomblob(9)", "PRAGMA ", "sqlite_master", "writable_schema = ON;"),
    *("WITHOUT ROWID", "asnets_info", "asnets_weights", "weights", "int_value", "x'00'"),
    *("printf('%.*c', 9, 'x')", "replace(", "hex(", "RENAME TO ", "ADD COLUMN ", "DELETE FROM "),
)
CPDDL_SCRIPTS = (
    "UPDATE asnets_info SET int_value = 2 WHERE parameter = 'cfg_num_layers'",
    "UPDATE asnets_weights SET weights = zeroblob(8) WHERE id = 1",
    "ALTER TABLE asnets_weights DROP COLUMN weights;"
    "ALTER TABLE asnets_weights ADD COLUMN weights AS (zeroblob(8))",
    "ALTER TABLE asnets_info RENAME TO i; CREATE VIEW asnets_info AS SELECT * FROM i",
)
WORKSPACE_SCRIPTS = (
    "UPDATE findings SET bound = 3 WHERE id = 1",
    "UPDATE evidence SET document = replace(document, '1', '2')",
    "INSERT INTO log (time, level, text) VALUES (1, 'info', 'x')",
    "CREATE INDEX i ON findings (bound)",
    "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, 'TEXT', 'BLOB')",
)
PLAIN_CONFIG = """\
problems = ["p2.sas"]
policies = ["builtin:gc", "builtin:hadd"]
fuzzing.size = 3
testing.oracles = ["bmo", "lookahead:depth=2"]
"""
_SCRIPT_STEPS = 1000


def in_script(folder: Path, sound: bytes, read: Callable[[Path], object]) -> Read:
    """The sound database after a script, as far as it gets; a script cannot leave its database."""
    use = in_file(folder, ".database", read)

    def run(data: bytes) -> object:
        steps = iter(range(_SCRIPT_STEPS))
        with closing_database(sound) as database:
            database.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
            database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 2**20)
            database.set_progress_handler(lambda: next(steps, None) is None, 1000)
            with suppress(sqlite3.Error, ValueError):
                database.executescript(text(data))
            if database.in_transaction:
                database.rollback()
            made = database.serialize()
        return use(made) if len(made) < 2**21 else None

    return run


class closing_database:  # noqa: N801
    """A database in memory with the contents of a file."""

    def __init__(self, content: bytes) -> None:
        self._database = sqlite3.connect(":memory:")
        self._database.deserialize(content)

    def __enter__(self) -> sqlite3.Connection:
        return self._database

    def __exit__(self, *problem: object) -> None:
        self._database.close()


def plain_workspace(folder: Path) -> Path:
    """With something in every table, of a task that needs no translator to be verified."""
    made = folder / "plain"
    domain, problem, path = made / "domain.pddl", made / "p2.pddl", made / "carter.plumb"
    if made.exists():
        return path
    made.mkdir()
    domain.write_text(DOMAIN)
    problem.write_text(problem_text(2))
    (made / "p2.sas").write_text(write_sas(load_task(domain, problem)))
    config = parse_config(PLAIN_CONFIG, made / "campaign.toml")
    with Workspace.create(path) as store:
        run(config, store, executor=InThreads(1))
    return filled(path)


@dataclass
class Bytes:
    """Takes numbers and texts from some bytes; zeros follow the last of them."""

    data: bytes
    place: int = 0

    def take(self, count: int) -> bytes:
        self.place += count
        return self.data[self.place - count : self.place].ljust(count, b"\0")

    def number(self, size: int = 1, *, signed: bool = False) -> int:
        return int.from_bytes(self.take(size), "little", signed=signed)

    def __bool__(self) -> bool:
        return self.place < len(self.data)


def in_cells(folder: Path, sound: Path, read: Callable[[Path], object]) -> Read:
    """The sound workspace after changes of single values, each told by a few bytes."""
    use = in_file(folder, ".plumb", read)
    content, columns = sound.read_bytes(), workspace_columns(sound)

    def change(data: bytes) -> object:
        with closing_database(content) as database:
            for table, column, row, value in _changes(Bytes(data), columns, database):
                with suppress(sqlite3.Error):
                    database.execute(
                        f"UPDATE OR IGNORE {table} SET {column} = ? WHERE {column} IS "
                        f"(SELECT {column} FROM {table} LIMIT 1 OFFSET ?)",
                        (value, row),
                    )
            database.commit()
            made = database.serialize()
        return use(made)

    return change


def _changes(
    source: Bytes, columns: list[tuple[str, str]], database: sqlite3.Connection
) -> Iterator[tuple[str, str, int, Any]]:
    while source:
        table, column = columns[source.number() % len(columns)]
        row = source.number() % 4
        query = f"SELECT {column} FROM {table} LIMIT 1 OFFSET {row}"
        (old,) = database.execute(query).fetchone() or (None,)
        yield table, column, row, _changed(source, old)


def _changed(source: Bytes, old: Any) -> Any:
    way = source.number() % 8
    packed = isinstance(old, bytes)
    made: tuple[Callable[[], Any], ...] = (
        lambda: None,
        lambda: source.number(1, signed=True),
        lambda: source.number(8, signed=True),
        lambda: struct.unpack("<d", source.take(8))[0],
        lambda: text(source.take(source.number())),
        lambda: source.take(source.number()),
        lambda: zlib.compress(_spliced(source, _expanded(old))),
        lambda: _spliced(source, old) if packed else text(_spliced(source, str(old).encode())),
    )
    return made[way if way != 6 or packed else 7]()


def _spliced(source: Bytes, old: bytes) -> bytes:
    """With a piece of it replaced, perhaps many times over."""
    place = source.number(2) % (len(old) + 1)
    gone, times = source.number(), 2 ** (source.number() % 16)
    return old[:place] + source.take(source.number()) * times + old[place + gone :]


def _expanded(data: bytes) -> bytes:
    with suppress(zlib.error):
        return zlib.decompress(data)
    return data


def cell_seeds() -> list[bytes]:
    """A change of every column, in all ways by turns."""
    return [bytes([column, 0, column % 8]) + b"\0\0\1\0\1[" for column in range(160)]


def verify_workspace(path: Path) -> None:
    verify(Link(), path, NO_CONSENT)
