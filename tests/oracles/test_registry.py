"""Oracles by name: options, what they need, and that each is tested on its own."""

from pathlib import Path

import pytest

from engine.errors import UsageError
from engine.oracles.registry import ORACLES, factorizations, parse_oracle
from engine.records.config import Factorization


@pytest.mark.parametrize("name", ORACLES)
def test_every_oracle_has_a_test_file(name: str) -> None:
    assert Path(__file__).with_name(f"test_{name.replace('-', '_')}.py").is_file()


def test_the_names_are_those_of_the_command_line() -> None:
    names = "astar gbfs ehc lama aras aras-ehc lookahead undo inverse pco-p pco-e smo bmo combined"
    assert list(ORACLES) == [*names.split(), "composite"]
    assert all(kind.sentence.endswith(".") for kind in ORACLES.values())


def test_who_needs_what() -> None:
    missing = {name: kind.needs.missing(portfolio=False) for name, kind in ORACLES.items()}
    assert {name for name, reason in missing.items() if reason} == {"pco-p", "pco-e", "composite"}
    assert not any(kind.needs.missing(portfolio=True) for kind in ORACLES.values())
    for name, kind in ORACLES.items():
        needs = kind.needs
        assert (needs.dominance or bool(needs.dominance_option)) == ("factors" in kind.options)
        assert bool(factorizations([name])) == kind.needs.dominance


def test_which_dominance_functions_are_used() -> None:
    used = factorizations(["astar", "bmo", "smo:factors=merged:5", "combined"])
    assert used == (Factorization(), Factorization(5))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("bmx", "unknown oracle 'bmx'; did you mean 'bmo'?"),
        ("?", "unknown oracle '?'; choose one of astar, gbfs"),
        ("", "unknown oracle ''"),
        ("bmo:=", "bmo has no option ''"),
        ("bmo:lookahead", "bmo: '' is not a whole number; write lookahead=100"),
        ("bmo:lookahead=1e3", "'1e3' is not a whole number"),
        ("gbfs:expansions=nan", "'nan' is not a positive number"),
        ("gbfs:expansions=1e99", "'1e99' is not a positive number"),
    ],
)
def test_mistakes_are_named(text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_oracle(text)
    assert said in str(caught.value)
