"""The files of a campaign are read once, and what was checked is what is kept."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from reference.bug_workspace import InThreads
from reference.recording_link import RecordingLink

from engine.campaign.inputs import problem_inputs
from engine.errors import PlumblineError
from engine.pddl import reader
from engine.policies.consent import Consent
from engine.records.config import CampaignConfig
from engine.records.project import Project
from engine.usecases.campaign import run
from engine.usecases.check_project import check_project
from engine.workspace.workspace import Workspace

_opened: list[str] | None = None


def _note(event: str, arguments: tuple[object, ...]) -> None:
    if _opened is not None and event == "open" and isinstance(arguments[0], str | Path):
        _opened.append(str(arguments[0]))


sys.addaudithook(_note)  # a hook cannot be removed, so it is switched on and off


@contextmanager
def opened_files(folder: Path) -> Iterator[Counter[str]]:
    """How often the files of a folder are opened, by name."""
    global _opened  # noqa: PLW0603
    counts: Counter[str] = Counter()
    _opened = []
    try:
        yield counts
    finally:
        counts.update(Path(name).name for name in _opened if Path(name).parent == folder)
        _opened = None


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Grows by one with every domain that is parsed."""
    domains: list[object] = []
    original = reader.domain_from

    def counting(*arguments: object) -> object:
        domains.append(arguments)
        return original(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(reader, "domain_from", counting)
    return domains


ALL = '"p1.pddl", "p2.pddl", "p3.pddl"'


def test_the_domain_is_parsed_once_for_all_problems(
    configure: Callable[..., CampaignConfig], folder: Path, parsed: list[object]
) -> None:
    config = configure(problems=ALL)
    with opened_files(folder) as counts:
        inputs = problem_inputs(config)
    assert counts == {"domain.pddl": 1, "p1.pddl": 1, "p2.pddl": 1, "p3.pddl": 1}
    assert len(parsed) == 1
    assert [item.problem.content for item in inputs] == [
        (folder / f"p{n}.pddl").read_bytes() for n in (1, 2, 3)
    ]


def test_a_campaign_opens_its_files_once(
    configure: Callable[..., CampaignConfig], folder: Path
) -> None:
    state = " ".join("0" * 4)
    (folder / "states.cache").write_text(f"-1 {state}\n")
    portfolio = 'portfolio = ["states.cache", "builtin:gc"]\n'
    limits = '[fuzzing]\nsize = 2\n[testing]\noracles = ["ehc"]\n'
    policies = '"states.cache", "builtin:hadd"'
    config = configure(problems='"p1.pddl", "p2.pddl"', policies=policies, more=portfolio + limits)
    with Workspace.create(folder / "w.plumb") as store, opened_files(folder) as counts:
        run(config, store, executor=InThreads(2))
    inputs = {name: count for name, count in counts.items() if not name.startswith("w.plumb")}
    assert inputs == {"domain.pddl": 1, "p1.pddl": 1, "p2.pddl": 1, "states.cache": 1}


def test_a_project_parses_its_domain_once(folder: Path, parsed: list[object]) -> None:
    problems = tuple(str(folder / f"p{n}.pddl") for n in (1, 2, 3))
    link = RecordingLink()
    with opened_files(folder) as counts:
        checked = check_project(link, Project(str(folder / "domain.pddl"), problems), Consent())
    assert checked.problems == problems
    assert counts == {"domain.pddl": 1, "p1.pddl": 1, "p2.pddl": 1, "p3.pddl": 1}
    assert len(parsed) == 1


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("domain.pddl", "(define (domain", "domain.pddl:1"),
        ("p2.pddl", "(define (problem p) (:domain other))", "p2.pddl:1"),
        ("p2.pddl", "", "p2.pddl: the file is empty"),
    ],
)
def test_mistakes_are_found_before_anything_runs(
    configure: Callable[..., CampaignConfig], folder: Path, name: str, text: str, said: str
) -> None:
    config = configure(problems=ALL)
    (folder / name).write_text(text)
    with pytest.raises(PlumblineError) as caught:
        problem_inputs(config)
    assert said in str(caught.value)
