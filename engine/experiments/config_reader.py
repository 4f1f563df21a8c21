"""The configuration of an experiment: a TOML file, or the name of a preset and suites.

`[fuzzing]`, `[testing]` and `[limits]` are those of a campaign. Every mistake is reported with
the line and column of the key it is about.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from engine.campaign.config_reader import MIN_UNIT_MEGABYTES, ConfigReader, parse_toml
from engine.campaign.toml_positions import Path as KeyPath
from engine.campaign.toml_positions import key_positions
from engine.campaign.toml_values import (
    MAX_NUMBER,
    one_of,
    positive,
    quoted_text,
    true_or_false,
    whole_number,
)
from engine.errors import ConfigurationError, UsageError
from engine.experiments.presets import EXPERIMENT_PRESETS
from engine.experiments.scaling import scaled
from engine.experiments.suites import (
    bundled_pairs,
    bundled_suites,
    folder_suites,
    read_pairs,
    single_policies,
)
from engine.files import read_text
from engine.fuzzing.biases import BIASES
from engine.localize.action_optimality import ALGORITHMS
from engine.oracles.registry import parse_oracle
from engine.records.comparison import Parameters
from engine.records.config import Factorization, FuzzSettings, OracleSettings, UnitLimits
from engine.records.experiment import (
    AS_SET,
    ActionSettings,
    DomainPair,
    EquivalenceSettings,
    ExperimentConfig,
    ExperimentKind,
    FuzzVariant,
    NamedOracle,
    PortfolioRanking,
    PortfolioSettings,
    Suite,
)
from engine.search.heuristics import ADMISSIBLE

_TOP = (
    "preset",
    "kind",
    "scale",
    "seeds",
    "unit_costs",
    "only_solved",
    "min_states",
    "qualitative",
    "quantitative",
    "folders",
    "pairs",
    "suite",
)
_CAMPAIGN_TABLES = ("fuzzing", "testing", "limits")
_TABLES = (*_CAMPAIGN_TABLES, "oracles", "variants", "actions", "portfolio", "equivalence")
_SUITE = ("name", "domain", "problems", "policies", "portfolio")
MAX_SCALE = 10_000

Choice = TypeVar("Choice", bound=StrEnum)


def read_experiment(path: Path, scale: int | None = None) -> ExperimentConfig:
    """The experiment of a file; `scale` takes the place of what it says."""
    text = read_text(path, "an experiment configuration")
    reader = ExperimentReader(parse_toml(text, path), key_positions(text), path)
    return reader.experiment(scale)


def preset_experiment(
    name: str,
    suites: Sequence[Suite] = (),
    pairs: Sequence[DomainPair] = (),
    *,
    scale: int = 1,
    seeds: Sequence[int] = (0,),
    unit_costs: bool = False,
    tables: Mapping[str, Mapping[str, Any]] | None = None,
) -> ExperimentConfig:
    """A paper's experiment on these suites, or without any on the bundled examples.

    `tables` has settings that are not the paper's, as a TOML file would.
    """
    require_preset(name)
    document = {"preset": name, "seeds": list(seeds), "unit_costs": unit_costs, **(tables or {})}
    reader = ExperimentReader(document, {}, Path(f"{name}.toml"))
    try:
        return reader.experiment(scale, tuple(suites), tuple(pairs))
    except ConfigurationError as error:  # there is no file to point at
        raise UsageError(error.message, hint=error.hint) from None


def require_preset(name: str) -> None:
    if name not in EXPERIMENT_PRESETS:
        raise UsageError(
            f"unknown experiment '{name}'",
            hint=f"name a TOML file or one of {', '.join(EXPERIMENT_PRESETS)}",
        )


class ExperimentReader(ConfigReader):
    def experiment(
        self,
        scale: int | None = None,
        suites: tuple[Suite, ...] = (),
        pairs: tuple[DomainPair, ...] = (),
    ) -> ExperimentConfig:
        self._refuse_unknown((), (*_TOP, *_TABLES), self.document)
        self._preset_name = self._checked(("preset",), self._preset_choice, "")
        preset = EXPERIMENT_PRESETS.get(self._preset_name)
        self._defaults: Mapping[str, Any] = preset.values if preset else {}
        kind = self._kind()
        oracles = self._oracles(kind)
        tables = self._settings(oracles)
        self._refuse_other_inputs(kind, suites, pairs)
        if kind is ExperimentKind.EQUIVALENCE:
            pairs = pairs or self._pairs()
        else:
            suites = suites or self._suites(kind)
            self._require_policies(kind, suites, oracles)
            suites = tuple(one for suite in suites for one in single_policies(suite))
        wanted = self._number("scale", 1, 1, MAX_SCALE) if scale is None else scale
        config = ExperimentConfig(
            kind=kind,
            preset=self._preset_name,
            scale=1,
            seeds=self._seeds(),
            unit_costs=self._flag("unit_costs", False),
            suites=suites,
            fuzzing=FuzzSettings(**tables["fuzzing"]),
            testing=OracleSettings(**tables["testing"]),
            limits=UnitLimits(**tables["limits"]),
            oracles=oracles,
            variants=self._variants(kind),
            qualitative=self._labels("qualitative", oracles),
            quantitative=self._labels("quantitative", oracles),
            only_solved=self._flag("only_solved", False),
            min_states=self._number("min_states", 25, 0, MAX_NUMBER),
            actions=self._actions(),
            portfolio=self._portfolio_settings(),
            equivalence=self._equivalence(),
            pairs=pairs,
        )
        return scaled(config, wanted)

    def _preset_choice(self, value: Any) -> str:
        if value not in EXPERIMENT_PRESETS:
            raise ValueError(
                f"unknown preset '{value}'; choose one of {', '.join(EXPERIMENT_PRESETS)}"
            )
        return str(value)

    def _value(self, key: str, default: Any) -> Any:
        return self.document.get(key, self._defaults.get(key, default))

    def _flag(self, key: str, default: bool) -> bool:
        return bool(self._check((key,), true_or_false, self._value(key, default)))

    def _number(self, key: str, default: int, low: int, high: int) -> int:
        return int(self._check((key,), whole_number(low, high), self._value(key, default)))

    def _kind(self) -> ExperimentKind:
        text = self._value("kind", None)
        if text is None:
            self._fail((), "'kind' is missing", f"choose one of {', '.join(ExperimentKind)}")
        return ExperimentKind(self._check(("kind",), one_of(ExperimentKind), text))

    def _rows(self, name: str) -> dict[str, Any]:
        """A table of the file over that of the preset."""
        table = self.document.get(name, {})
        if not isinstance(table, dict):
            self._fail((name,), "a table is expected here", f"write it as [{name}]")
        return {**self._defaults.get(name, {}), **table}

    def _oracles(self, kind: ExperimentKind) -> tuple[NamedOracle, ...]:
        found = []
        # A file that names oracles names all of them: columns cannot be taken away otherwise.
        own = self.document.get("oracles")
        table = self._rows("oracles") if own is None else self._own("oracles")
        for label, text in table.items():
            place = ("oracles", label)
            if not isinstance(text, str):
                self._fail(place, f"oracles.{label}: text in quotes is expected here")
            try:
                parse_oracle(text)
            except (UsageError, ConfigurationError) as error:
                self._fail(place, f"oracles.{label}: {error.message}", error.hint)
            found.append(NamedOracle(label, text))
        texts = [item.oracle for item in found]
        if len(set(texts)) < len(texts):
            self._fail(("oracles",), "an oracle is named twice", "give each other options")
        if not found and kind in (ExperimentKind.ORACLES, ExperimentKind.FUZZING):
            self._fail((), "no oracles", 'add a table [oracles] with lines such as "A*" = "astar"')
        return tuple(found)

    def _labels(self, key: str, oracles: Sequence[NamedOracle]) -> tuple[str, ...]:
        """Some of the oracles; those of a preset as far as they are there."""
        known = [item.label for item in oracles]
        if key not in self.document:
            return tuple(label for label in self._defaults.get(key, ()) if label in known)
        return tuple(self._check((key,), _list_of(one_of(known)), self.document[key]))

    def _own(self, name: str) -> dict[str, Any]:
        table = self.document[name]
        if not isinstance(table, dict):
            self._fail((name,), "a table is expected here", f"write it as [{name}]")
        return table

    def _settings(self, oracles: Sequence[NamedOracle]) -> dict[str, dict[str, Any]]:
        preset = self._defaults
        tables = {name: self._table(name, preset.get(name, {})) for name in _CAMPAIGN_TABLES}
        if "oracles" in tables["testing"]:
            self._fail(("testing", "oracles"), "an experiment names its oracles in [oracles]")
        tables["testing"]["oracles"] = tuple(item.oracle for item in oracles)
        self._settle_mode(tables["testing"])
        return tables

    def _variants(self, kind: ExperimentKind) -> tuple[FuzzVariant, ...]:
        if kind is not ExperimentKind.FUZZING:
            return (AS_SET,)
        found = [AS_SET]
        for name, values in self._rows("variants").items():
            place = ("variants", name)
            if not isinstance(values, dict):
                self._fail(place, f"variants.{name}: a table such as {{ novelty = 0 }} is expected")
            self._refuse_unknown(place, ("bias", "novelty"), values)
            bias, novelty = values.get("bias"), values.get("novelty")
            if bias is not None:
                self._check((*place, "bias"), one_of(BIASES), bias)
            if novelty is not None:
                self._check((*place, "novelty"), whole_number(0, 3), novelty)
            found.append(FuzzVariant(name, bias, novelty))
        return tuple(found)

    def _typed(self, name: str, fields: Mapping[str, Callable[[Any], Any]]) -> dict[str, Any]:
        rows = self._rows(name)
        self._refuse_unknown((name,), tuple(fields), rows)
        return {key: self._check((name, key), fields[key], value) for key, value in rows.items()}

    def _actions(self) -> ActionSettings:
        fields = {
            "actions": whole_number(1, 1000),
            "algorithms": _list_of(one_of(ALGORITHMS)),
            "heuristics": _list_of(one_of(ADMISSIBLE)),
            "factors": _factors,
            "greedy": true_or_false,
            "seconds": positive,
            "megabytes": whole_number(MIN_UNIT_MEGABYTES),
        }
        return ActionSettings(**self._typed("actions", fields))

    def _portfolio_settings(self) -> PortfolioSettings:
        fields = {
            "sizes": _list_of(whole_number(1, 1000)),
            "ranking": _choice(PortfolioRanking),
            "seconds": positive,
            "megabytes": whole_number(MIN_UNIT_MEGABYTES),
        }
        return PortfolioSettings(**self._typed("portfolio", fields))

    def _equivalence(self) -> EquivalenceSettings:
        fields = {
            "parameters": _list_of(_choice(Parameters)),
            "seconds": positive,
            "all_macros": true_or_false,
            "verify": true_or_false,
        }
        return EquivalenceSettings(**self._typed("equivalence", fields))

    def _pairs(self) -> tuple[DomainPair, ...]:
        if "pairs" not in self.document:
            return tuple(bundled_pairs())
        name = self._check(("pairs",), quoted_text, self.document["pairs"])
        found = read_pairs(Path(self._file(("pairs",), name)))
        if not found:
            self._fail(("pairs",), f"'{name}' has no pairs")
        return tuple(found)

    def _suites(self, kind: ExperimentKind) -> tuple[Suite, ...]:
        found: list[Suite] = []
        if "folders" in self.document:
            names = self._elements(("folders",), self.document["folders"], quoted_text)
            for number, name in enumerate(names):
                folder = self.folder / name
                if not os.path.isdir(folder):
                    place = ("folders", number)
                    self._fail(place, f"folder '{name}' does not exist", "check the path")
                found += folder_suites(folder)
        tables = self.document.get("suite", [])
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            self._fail(("suite",), "tables are expected here", "write each as [[suite]]")
        found += [self._suite(number, table, kind) for number, table in enumerate(tables)]
        if not found:
            found = bundled_suites()
        names = [suite.name for suite in found]
        for name in names:
            if names.count(name) > 1:
                self._fail(("suite",), f"two suites are named '{name}'", "give each another name")
        return tuple(found)

    def _suite(self, number: int, table: dict[str, Any], kind: ExperimentKind) -> Suite:
        place: KeyPath = ("suite", number)
        self._refuse_unknown(place, _SUITE, table)
        positions = {
            key[2:] or (): where for key, where in self.positions.items() if key[:2] == place
        }
        reader = ConfigReader(table, positions, self.path)
        problems = reader._problems()
        domain = reader._domain(problems)
        policies: tuple[str, ...] = ()
        if kind is not ExperimentKind.ACTIONS:
            policies = tuple(reader._policies("policies", reader._required("policies")))
        name = reader._checked(("name",), quoted_text, Path(domain or problems[0]).parent.name)
        return Suite(name, domain, problems, policies, reader._portfolio())

    def _refuse_other_inputs(
        self, kind: ExperimentKind, suites: Sequence[Suite], pairs: Sequence[DomainPair]
    ) -> None:
        """What is given would otherwise be passed over in silence."""
        if kind is ExperimentKind.EQUIVALENCE:
            key = next((key for key in ("folders", "suite") if key in self.document), "")
            if suites or key:
                hint = 'give pairs = "suite.csv" in a file, or --pairs SUITE.csv'
                self._fail((key,), "this experiment compares pairs of domains", hint)
        elif pairs or "pairs" in self.document:
            hint = "give folders or suites in a file; or --folder; or --domain, --problem, --policy"
            self._fail(("pairs",), "this experiment is not about pairs of domains", hint)

    def _require_policies(
        self, kind: ExperimentKind, suites: Sequence[Suite], oracles: Sequence[NamedOracle]
    ) -> None:
        needing = [item for item in oracles if parse_oracle(item.oracle)[0].needs.portfolio]
        for suite in suites:
            if not suite.policies and kind is not ExperimentKind.ACTIONS:
                self._fail(
                    ("folders",),
                    f"no policy for '{suite.name}'",
                    "put a policy file beside its domain, or name one: policies = [...] in a "
                    "table [[suite]], --policy on the command line",
                )
            if not suite.portfolio and (needing or kind is ExperimentKind.PORTFOLIO):
                self._fail(
                    ("suite",),
                    f"no portfolio for '{suite.name}'",
                    "put checkpoints into policies/checkpoints beside its domain, or name them: "
                    'portfolio = ["checkpoints"] in a table [[suite]], --portfolio on the command '
                    "line",
                )


def _choice(kind: type[Choice]) -> Callable[[Any], Choice]:
    check = one_of(kind)
    return lambda value: kind(check(value))


def _list_of(check: Callable[[Any], Any]) -> Callable[[Any], tuple[Any, ...]]:
    def check_all(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list) or not value:
            raise ValueError("a list is expected here")
        return tuple(dict.fromkeys(map(check, value)))

    return check_all


def _factors(value: Any) -> str:
    try:
        return str(Factorization.parse(quoted_text(value)))
    except UsageError as error:
        raise ValueError(str(error)) from None
