"""A workspace keeps comparisons of domains, with both texts as they were."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from reference.forging import forge

from engine.equivalence import compare_domains
from engine.errors import WorkspaceError
from engine.pddl import parse_domain
from engine.records.codec import encode
from engine.records.comparison import CompareOptions, Comparison, Parameters
from engine.records.inputs import File
from engine.records.training import Training, TrainingPlan, TrainingStatus
from engine.workspace.workspace import Workspace

DOMAIN = "(define (domain a) (:predicates (p) (q)) (:action go :effect (and (p) (not (q)))))"
AGREES, DIFFERS = DOMAIN, DOMAIN.replace("(not (q))", "")


def found(other: str) -> Comparison:
    """What the comparison with it says."""
    return compare_domains(parse_domain(DOMAIN), parse_domain(other))


def test_comparisons_are_kept(tmp_path: Path) -> None:
    a = File("a.pddl", b"(define (domain a))", "/home/me/a.pddl")
    b = File("b.pddl", b"(define (domain b))", "/home/me/b.pddl")
    options, comparison = CompareOptions((Parameters.PDDL,)), found(AGREES)
    path = tmp_path / "w.plumb"
    with Workspace.create(path) as store:
        first = store.add_comparison(a, b, options, comparison)
        second = store.add_comparison(b, a, options, found(DIFFERS))
    with Workspace.open(path) as store:
        assert [row.id for row in store.comparisons()] == [first, second]
        kept = store.comparison(first)
        assert (kept.a, kept.b) == (a, b)
        assert (kept.row.options, kept.row.comparison) == (options, comparison)
        assert (kept.row.name_a, kept.row.name_b) == (a.path, b.path)


Spoil = Callable[[dict[str, Any]], None]


def wrong_verdict(document: dict[str, Any]) -> None:
    document["readings"][1]["verdict"] = "yes"


def no_reason(document: dict[str, Any]) -> None:
    del document["readings"][0]["reason"]


def macro_without_cases(document: dict[str, Any]) -> None:
    document["readings"][0]["operators"][0]["macros"][0]["cases"] = []


def number_for_a_name(document: dict[str, Any]) -> None:
    document["readings"][1]["mapping"][0]["b"] = 1


def unknown_domain(document: dict[str, Any]) -> None:
    document["readings"][1]["operators"][0]["domain"] = "C"


def no_reading(document: dict[str, Any]) -> None:
    document["readings"] = []


def odd_objections(document: dict[str, Any]) -> None:
    document["readings"][1]["objections"] = [{}]


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
def test_an_answer_that_is_none_is_damage(tmp_path: Path, spoil: Spoil) -> None:
    file = File("a.pddl", DOMAIN.encode(), "a.pddl")
    with Workspace.create(tmp_path / "w.plumb") as store:
        store.add_comparison(file, file, CompareOptions(), found(AGREES))
        assert len(store.comparisons()) == 1
        document = json.loads(encode(found(AGREES)))
        spoil(document)
        forge(store.path, "UPDATE comparisons SET answer = ?", (json.dumps(document),))
        with pytest.raises(WorkspaceError, match="damaged"):
            store.comparisons()


def test_a_training_is_reported_again(tmp_path: Path) -> None:
    plans = [TrainingPlan("d", ("p",), (), folder) for folder in ("/a", "/b")]
    again = Training(plans[0], TrainingStatus.FINISHED, "all epochs done")
    with Workspace.create(tmp_path / "w.plumb") as store:
        for plan in plans:
            store.save_training(Training(plan, TrainingStatus.RUNNING))
        store.save_training(again)
        assert store.training_folders() == ["/a", "/b"]
        assert store.training("/a") == again
        assert store.training("/b").status is TrainingStatus.RUNNING
