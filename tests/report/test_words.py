"""Names of oracles in legends."""

from __future__ import annotations

from engine.report.words import short_names


def test_only_what_differs_is_named() -> None:
    oracles = ["astar:expansions=9", "bmo:lookahead=0,local=none", "bmo:lookahead=10,local=none"]
    assert short_names([*oracles, "undo"]) == {
        oracles[0]: "astar",
        oracles[1]: "bmo:lookahead=0",
        oracles[2]: "bmo:lookahead=10",
        "undo": "undo",
    }
    assert short_names(["gbfs", "gbfs:expansions=5"]) == {
        "gbfs": "gbfs",
        "gbfs:expansions=5": "gbfs:expansions=5",
    }
