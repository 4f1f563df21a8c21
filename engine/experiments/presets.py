"""The settings of the five papers, each with the place where the paper says so.

A setting without a place is ours, because the paper does not say or because the paper's tool has
none like it; its remark says why.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.records.experiment import ExperimentKind


@dataclass(frozen=True, slots=True)
class Setting:
    """A key of a TOML file (a table and a key, or a key of its own) and where it comes from."""

    table: str  # empty: at the top
    key: str
    value: Any
    source: str  # the section of the paper, and what it says


@dataclass(frozen=True)
class ExperimentPreset:
    name: str
    title: str
    paper: str
    kind: ExperimentKind
    answers: str  # what its tables and figures say, in one sentence
    settings: tuple[Setting, ...]

    @property
    def values(self) -> dict[str, Any]:
        """The values as they would stand in a TOML file."""
        document: dict[str, Any] = {"kind": self.kind.value}
        for setting in self.settings:
            target = document.setdefault(setting.table, {}) if setting.table else document
            target[setting.key] = setting.value
        return document


HOUR = 3600.0
_DOMINANCE = "local=none,factors=merged:10000"
_BMO = f"visited=all,{_DOMINANCE}"


def _fuzzer_of_2022(source: str) -> tuple[Setting, ...]:
    """How later papers make their pools: as Steinmetz et al. did."""
    values = {
        "walk_length": 5,
        "bias": "plan-length",
        "novelty": 2,
        "horizon": 0,
        "budget": 0,
        "unsolved": "insert-and-avoid",
    }
    return tuple(Setting("fuzzing", key, value, source) for key, value in values.items())


_STEINMETZ = ExperimentPreset(
    "steinmetz-2022",
    "Steinmetz et al. 2022: fuzzing and oracles",
    "Steinmetz et al., Debugging a Policy: Automatic Action-Policy Testing in AI Planning, "
    "ICAPS 2022",
    ExperimentKind.FUZZING,
    "Table 1: coverage, pools, recall of each oracle, bias and novelty on and off; Figure 4: bugs "
    "over time.",
    (
        Setting("", "only_solved", True, "6.1: only instances that the policy solves"),
        Setting(
            "", "qualitative", ["undo", "look", "perf"], "6.2, part C: qualitative-FDR oracles"
        ),
        Setting(
            "", "quantitative", ["inv", "look", "Aras"], "6.2, part C: quantitative-FDR oracles"
        ),
        Setting("fuzzing", "size", 200, "6: maximum pool size N = 200"),
        Setting("fuzzing", "walk_length", 5, "6: maximum walk length L = 5"),
        Setting("fuzzing", "bias", "plan-length", "5: weight(a) is the length of the policy's run"),
        Setting("fuzzing", "novelty", 2, "6: novelty filtering level D = 2"),
        Setting("fuzzing", "horizon", 0, "5: the length of the whole run"),
        Setting("fuzzing", "budget", 0, "5: all successors are weighed"),
        Setting("fuzzing", "seconds", 5 * HOUR, "6: time limit T of 5 hours"),
        Setting("fuzzing", "unsolved", "insert-and-avoid", "5: into the pool, with weight 0"),
        Setting("testing", "objective", "any", "6: qualitative and quantitative bugs"),
        Setting("testing", "mode", "compare", "6: every oracle by itself"),
        Setting("limits", "oracle_seconds", 10 * HOUR, "6: 10 hours across all pool states"),
        Setting("limits", "unit_megabytes", 16_384, "6: 16 GB per configuration"),
        Setting("oracles", "undo", "undo", "4: UndoQual"),
        Setting("oracles", "look", "lookahead:depth=2", "6: search depth d = 2"),
        Setting(
            "oracles",
            "perf",
            "gbfs:expansions=1000000000",
            "6.2: a perfect oracle per domain; here a complete search, which needs none",
        ),
        Setting("oracles", "inv", "inverse:plan=policy", "4: InvQuant"),
        Setting("oracles", "Aras", "aras:expansions=1000000000", "4: Aras until it ends"),
        Setting(
            "variants",
            "bias off",
            {"bias": "none"},
            "6.2, part D: PolQualBias = OFF, NoveltyFilter = ON",
        ),
        Setting(
            "variants",
            "novelty off",
            {"novelty": 0},
            "6.2, part E: NoveltyFilter = OFF, PolQualBias = ON",
        ),
    ),
)

_EISENHUT_2023 = ExperimentPreset(
    "eisenhut-2023",
    "Eisenhut et al. 2023: metamorphic oracles",
    "Eisenhut et al., Automatic Metamorphic Test Oracles for Action-Policy Testing, ICAPS 2023",
    ExperimentKind.ORACLES,
    "Table 1: recall of each oracle over the states that all of them examined; Figure 1: bugs over "
    "time.",
    (
        Setting("", "only_solved", True, "5.1: on all tasks the policy solves the initial state"),
        Setting("", "min_states", 25, "5.2: an oracle with fewer states per task is left out"),
        Setting("fuzzing", "size", 200, "5.1: 200 pool states"),
        *_fuzzer_of_2022("5.1: the fuzzer of Steinmetz et al. (2022)"),
        Setting("fuzzing", "seconds", 8 * HOUR, "5.1: 8 hours per task for the pool"),
        Setting("testing", "objective", "any", "5.1: qualitative and quantitative bugs"),
        Setting("testing", "mode", "compare", "5.1: every oracle by itself"),
        Setting("limits", "oracle_seconds", 4 * HOUR, "5.1: 4 hours for all pool states"),
        Setting("limits", "state_seconds", 0.5 * HOUR, "5.1: 30 minutes per state for searches"),
        Setting("limits", "unit_megabytes", 16_384, "5.1: 16 GiB per run"),
        Setting("oracles", "A*", "astar:expansions=1000000000", "5.1: LM-cut"),
        Setting("oracles", "EHC", "ehc:expansions=1000000000", "5.1: with h_FF"),
        Setting("oracles", "Aras/EHC", "aras-ehc:expansions=1000000000", "5.1: Aras or EHC"),
        Setting("oracles", "look+pi", "lookahead:depth=2", "5.1: depth 2, cut off by cost"),
        Setting("oracles", "GBFS-1000", "gbfs:expansions=1000", "5.1: 1000 steps"),
        Setting("oracles", "SMO", f"smo:maxsize=10,morphs=random,{_DOMINANCE}", "5.1: at most 10"),
        Setting("oracles", "BMO-0", f"bmo:lookahead=0,{_BMO}", "5.1: n = 0"),
        Setting("oracles", "BMO-10", f"bmo:lookahead=10,{_BMO}", "5.1: n = 10"),
        Setting("oracles", "BMO-100", f"bmo:lookahead=100,{_BMO}", "5.1: n = 100"),
        Setting("oracles", "BMO-1000", f"bmo:lookahead=1000,{_BMO}", "5.1: n = 1000"),
        Setting(
            "oracles",
            "BMO-100+Aras/EHC",
            f"combined:lookahead=100,expansions=1000000000,{_BMO}",
            "5.1: Algorithm 5 with Aras/EHC",
        ),
    ),
)

_EISENHUT_2025 = ExperimentPreset(
    "eisenhut-2025",
    "Eisenhut et al. 2025: action optimality",
    "Eisenhut et al., Is This a Good Decision? Action Optimality Checking in Classical Planning, "
    "ECAI 2025",
    ExperimentKind.ACTIONS,
    "Tables 1 and 2: questions decided per domain, dominance of methods; Figures 2 and 3: decision "
    "times.",
    (
        Setting("actions", "actions", 2, "7.1: two random applicable actions per task"),
        Setting(
            "actions",
            "algorithms",
            ["dominance", "sms", "sms-rev", "sms-bc", "pms-bc", "pms-lama", "aoca"],
            "7.2: the algorithms that are compared",
        ),
        Setting(
            "actions",
            "heuristics",
            ["lmcut", "cartesian", "ms"],
            "7.2: LM-cut, Cartesian abstractions, merge-and-shrink",
        ),
        Setting("actions", "factors", "merged:10000", "6: the function of the 2023 paper"),
        Setting("actions", "greedy", False, "5, Algorithm 1: no other search before AOCA*"),
        Setting("actions", "seconds", 0.5 * HOUR, "7.2: 30 minutes"),
        Setting("actions", "megabytes", 8192, "7.2: 8 GB; PMS-BC twice, PMS-LAMA thrice as much"),
    ),
)

_SIEVERS = ExperimentPreset(
    "sievers-2026",
    "Sievers et al. 2026: policy comparison",
    "Sievers et al., Policy Comparison Oracles for Action Policy Testing, ICAPS 2026",
    ExperimentKind.PORTFOLIO,
    "Table 1: coverage and plan cost of portfolios; Table 2: recall of each oracle over unsolved "
    "and solved states.",
    (
        Setting("portfolio", "sizes", [1, 2, 5, 10], "Table 1: 1, 2, 5 and 10 policies"),
        Setting("portfolio", "ranking", "recorded", "Experiments: ranked by validation data"),
        Setting("portfolio", "seconds", 2 * HOUR, "Experiments: two hours per task"),
        Setting("portfolio", "megabytes", 8192, "Experiments: 8 GiB"),
        Setting("fuzzing", "size", 100, "Experiments: at most 100 pool states per task"),
        *_fuzzer_of_2022("Experiments: pools as in earlier work"),
        Setting("testing", "objective", "any", "Table 2: qualitative and quantitative bugs"),
        Setting("testing", "mode", "compare", "Table 2: every oracle by itself"),
        Setting("limits", "oracle_seconds", 2 * HOUR, "Experiments: two hours per task"),
        Setting("limits", "unit_megabytes", 8192, "Experiments: 8 GiB"),
        Setting("oracles", "Aras/EHC", "aras-ehc:expansions=1000000000", "Experiments: baseline"),
        Setting(
            "oracles",
            "BMO_P",
            f"bmo:lookahead=0,{_BMO}",
            "Experiments: no search",
        ),
        Setting(
            "oracles",
            "BMO_E",
            f"combined:lookahead=100,expansions=1000000000,{_BMO}",
            "Experiments: with look-ahead 100 and Aras/EHC",
        ),
        Setting("oracles", "PCO_P", "pco-p:runs=5,bounds=false", "Experiments: m = 5"),
        Setting("oracles", "PCO_E", "pco-e:ranking=together", "Experiments: m = 5, p = 30 %"),
        Setting(
            "oracles",
            "CO",
            f"composite:lookahead=100,expansions=1000000000,{_BMO},ranking=together",
            "Experiments: BMO_E, then PCO_E",
        ),
    ),
)

_D_VAL = ExperimentPreset(
    "d-val",
    "Shrinah et al. (D-VAL): equivalence of domains",
    "Shrinah et al., D-VAL: An Automatic Functional Equivalence Validation Tool for Planning "
    "Domain Models, arXiv 2021",
    ExperimentKind.EQUIVALENCE,
    "Table 2: verdict, time, states, predicates, operators and macros for every pair of domains.",
    (
        Setting(
            "equivalence",
            "parameters",
            ["distinct", "pddl"],
            "4: parameters stand for distinct objects; PDDL's own reading is asked as well",
        ),
        Setting("equivalence", "seconds", 0.5 * HOUR, "7: 30 minutes"),
        Setting("equivalence", "all_macros", True, "6: all potential macros of an operator"),
    ),
)

_PRESETS = (_STEINMETZ, _EISENHUT_2023, _EISENHUT_2025, _SIEVERS, _D_VAL)
EXPERIMENT_PRESETS: Mapping[str, ExperimentPreset] = {preset.name: preset for preset in _PRESETS}
