"""A place for faults: a small task with bugs, own folders, and nothing may be left behind.

After every test no process that it started runs, and no temporary folder of ours is left.
"""

from __future__ import annotations

import shutil
import tempfile
import uuid
from collections.abc import Iterator
from multiprocessing.util import get_temp_dir
from pathlib import Path
from typing import Any

import pytest
from reference.bug_workspace import DOMAIN, InThreads, problem_text
from reference.faulty import MARK, Bench, findings, wait_for

from engine.campaign.config_reader import parse_config
from engine.usecases.campaign import run
from engine.workspace.workspace import Workspace

CONFIG = """\
domain = "domain.pddl"
problems = ["p2.pddl"]
policies = ["builtin:hadd"]
fuzzing.size = 12
testing.oracles = ["lookahead:depth=2", "astar:expansions=2000"]
"""


@pytest.fixture
def scratch(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where temporary files go; its name is short, as those of sockets must be."""
    get_temp_dir()  # the sockets of this process stay where they are
    folder = Path(tempfile.mkdtemp(prefix="pl-"))
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def caches(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all: where translating is not the point, the task is translated once."""
    return tmp_path_factory.getbasetemp() / "caches"


@pytest.fixture
def bench(
    tmp_path: Path, scratch: Path, caches: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Bench]:
    """The task, configurations of one and two units, and a look at what is left in the end."""
    for name in ("CONFIG", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / "home" / name.lower()))
    monkeypatch.setenv("XDG_CACHE_HOME", str(caches))
    mark = uuid.uuid4().hex
    monkeypatch.setenv(MARK, mark)
    bench = Bench(tmp_path, mark)
    bench.write("domain.pddl", DOMAIN)
    for loads in (1, 2, 3):
        bench.write(f"p{loads}.pddl", problem_text(loads))
    bench.write("campaign.toml", CONFIG)
    bench.write("two.toml", CONFIG.replace('["p2.pddl"]', '["p2.pddl", "p3.pddl"]'))
    yield bench
    bench.close()
    wait_for(lambda: not bench.processes(), "the end of all processes")
    assert not list(scratch.glob("plumbline-*"))


@pytest.fixture(scope="package")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `campaign.toml` finds when nothing disturbs it; to be copied and never changed."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "domain.pddl").write_text(DOMAIN)
    (folder / "p2.pddl").write_text(problem_text(2))
    config = parse_config(CONFIG, folder / "campaign.toml")
    with Workspace.create(folder / "carter.plumb") as store:
        run(config, store, executor=InThreads(1))
        assert store.bugs()
    return folder / "carter.plumb"


@pytest.fixture
def workspace(bench: Bench, finished: Path) -> Path:
    """A copy of it to hurt."""
    return Path(shutil.copy(finished, bench.folder / "carter.plumb"))


@pytest.fixture
def expected(finished: Path) -> set[Any]:
    """The findings of an undisturbed campaign."""
    return findings(finished)
