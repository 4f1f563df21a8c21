"""A workspace keeps comparisons of domains, with both texts as they were."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.campaign.inputs import File
from engine.equivalence import compare_domains
from engine.errors import WorkspaceError
from engine.pddl import parse_domain
from engine.workspace.workspace import Workspace

DOMAIN = "(define (domain a) (:predicates (p) (q)) (:action go :effect (and (p) (not (q)))))"
AGREES, DIFFERS = DOMAIN, DOMAIN.replace("(not (q))", "")


def found(other: str) -> dict[str, Any]:
    """What the comparison with it says."""
    return compare_domains(parse_domain(DOMAIN), parse_domain(other)).to_json()


def test_comparisons_are_kept(tmp_path: Path) -> None:
    a = File("a.pddl", b"(define (domain a))", "/home/me/a.pddl")
    b = File("b.pddl", b"(define (domain b))", "/home/me/b.pddl")
    question, answer = {"parameters": ["pddl"]}, found(AGREES)
    path = tmp_path / "w.plumb"
    with Workspace.create(path) as store:
        first = store.add_comparison(a, b, question, answer)
        second = store.add_comparison(b, a, question, found(DIFFERS))
    with Workspace.open(path) as store:
        assert [row.id for row in store.comparisons()] == [first, second]
        kept = store.comparison(first)
        assert (kept.a, kept.b) == (a, b)
        assert (kept.row.question, kept.row.answer) == (question, answer)
        assert (kept.row.name_a, kept.row.name_b) == (a.path, b.path)


def wrong_verdict(answer: dict[str, Any]) -> None:
    answer["pddl"]["verdict"] = "yes"


def no_reason(answer: dict[str, Any]) -> None:
    del answer["distinct"]["reason"]


def macro_without_cases(answer: dict[str, Any]) -> None:
    answer["distinct"]["operators"][0]["macros"][0]["cases"] = []


def number_for_a_name(answer: dict[str, Any]) -> None:
    answer["pddl"]["mapping"] = {"p": 1}


def unknown_domain(answer: dict[str, Any]) -> None:
    answer["pddl"]["operators"][0]["domain"] = "C"


def no_reading(answer: dict[str, Any]) -> None:
    del answer["distinct"], answer["pddl"]


def odd_objections(answer: dict[str, Any]) -> None:
    answer["verification"] = {"pddl": [{}]}


@pytest.mark.parametrize(
    "spoil",
    [
        wrong_verdict,
        no_reason,
        macro_without_cases,
        number_for_a_name,
        unknown_domain,
        no_reading,
        odd_objections,
    ],
)
def test_an_answer_that_is_none_is_damage(
    tmp_path: Path, spoil: Callable[[dict[str, Any]], None]
) -> None:
    file = File("a.pddl", DOMAIN.encode(), "a.pddl")
    with Workspace.create(tmp_path / "w.plumb") as store:
        store.add_comparison(file, file, {}, found(AGREES))
        assert len(store.comparisons()) == 1
        answer = json.loads(json.dumps(found(AGREES)))
        spoil(answer)
        store.add_comparison(file, file, {}, answer)
        with pytest.raises(WorkspaceError, match="damaged"):
            store.comparisons()


def test_a_training_is_told_anew(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "w.plumb") as store:
        store.save_training("/a", {"epochs": 1})
        store.save_training("/b", {"epochs": 1})
        store.save_training("/a", {"epochs": 2})
        assert store.trainings() == {"/a": {"epochs": 2}, "/b": {"epochs": 1}}
