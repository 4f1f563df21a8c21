"""The configuration of a campaign: a TOML file, checked key by key, then frozen.

Every mistake is reported with the line and column of the key or list element it is about. Paths
are relative to the file. What a preset or a default fills in stands explicitly in the frozen
configuration, so that a stored one never changes its meaning.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

from engine.campaign.file_pattern import (
    MAX_FOLDERS,
    MAX_NAMES,
    LongSearchError,
    find_files,
    is_pattern,
)
from engine.campaign.presets import DEFAULT_PRESET, PRESETS
from engine.campaign.toml_positions import Path as KeyPath
from engine.campaign.toml_positions import Position, key_positions
from engine.campaign.toml_values import (
    Check,
    one_of,
    positive,
    quoted_text,
    true_or_false,
    whole_number,
)
from engine.errors import ConfigurationError, Location, PlumblineError, PolicyError
from engine.files import SAS_SUFFIX, read_text
from engine.fuzzing.biases import BIASES
from engine.oracles.objective import OBJECTIVES
from engine.oracles.registry import parse_oracle
from engine.policies.kinds import PolicySource, kind_named, portfolio_files
from engine.records.config import (
    CampaignConfig,
    FuzzSettings,
    LocalizationSettings,
    MinimizationSettings,
    Mode,
    OracleSettings,
    UnitLimits,
    Unsolved,
)
from engine.records.policy_spec import PolicySpec, SpecKind

_FORM = "write KEY = VALUE or [TABLE], with text in quotes"
_MOST_PARTS = 1000
"""Of a dotted key. Reading one takes time quadratic in its length."""
MIN_UNIT_MEGABYTES = 64
"""The program itself cannot start with less."""


def read_config(path: str | Path) -> CampaignConfig:
    return parse_config(read_text(path, "a campaign configuration"), Path(path))


def parse_config(text: str, path: Path) -> CampaignConfig:
    """Parse the configuration in `text`; `path` is its file, which need not exist."""
    document = parse_toml(text, path)
    return ConfigReader(document, key_positions(text), path).config()


def parse_toml(text: str, path: Path) -> dict[str, Any]:
    for number, line in enumerate(text.splitlines(), 1):
        key, equals, _ = line.partition("=")
        if (equals or key.lstrip().startswith("[")) and key.count(".") > _MOST_PARTS:
            raise ConfigurationError("the key has too many parts", Location.of(path, number))
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _syntax_error(error, text, path) from None
    except ValueError:
        raise ConfigurationError("a number has too many digits", Location.of(path)) from None
    except RecursionError:
        raise ConfigurationError("not TOML: it is nested too deeply", Location.of(path)) from None


def _syntax_error(error: tomllib.TOMLDecodeError, text: str, path: Path) -> ConfigurationError:
    message = str(error)
    found = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)$", message)
    if found is None:
        return ConfigurationError(f"not TOML: {message}", Location.of(path), _FORM)
    line = int(found[1]) if found[1] else text.count("\n") + 1
    column = int(found[2]) if found[2] else None
    reason = message[: found.start()]
    return ConfigurationError(f"not TOML: {reason}", Location.of(path, line, column), _FORM)


def _oracle(value: Any) -> str:
    text = quoted_text(value)
    try:
        parse_oracle(text)
    except PlumblineError as error:
        raise ValueError(str(error)) from None
    return text


_TABLES: dict[str, dict[str, Check]] = {
    "fuzzing": {
        "size": whole_number(1),
        "walk_length": whole_number(1),
        "bias": one_of(BIASES),
        "horizon": whole_number(0),
        "budget": whole_number(0),
        "novelty": whole_number(0, 3),
        "seconds": positive,
        "unsolved": one_of(Unsolved),
    },
    "testing": {
        "oracles": _oracle,
        "objective": one_of(OBJECTIVES),
        "step_limit": whole_number(1),
        "skip_known_bugs": true_or_false,
        "mode": one_of(Mode),
    },
    "limits": {
        "unit_seconds": positive,
        "unit_megabytes": whole_number(MIN_UNIT_MEGABYTES),
        "oracle_seconds": positive,
        "state_seconds": positive,
    },
    "localization": {
        "enabled": true_or_false,
        "search_expansions": whole_number(1),
        "bug_expansions": whole_number(1),
        "unit_expansions": whole_number(1),
        "bug_seconds": positive,
    },
    "minimization": {
        "enabled": true_or_false,
        "tries": whole_number(1),
    },
}
_TOP = ("preset", "domain", "problems", "policies", "portfolio", "pool", "seeds", "unit_costs")


class ConfigReader:
    """Reads a configuration; an experiment has the same tables and further ones."""

    def __init__(
        self, document: dict[str, Any], positions: Mapping[KeyPath, Position], path: Path
    ) -> None:
        self.document = document
        self.positions = positions
        self.path = path
        self.folder = path.resolve().parent

    def config(self) -> CampaignConfig:
        self._refuse_unknown((), (*_TOP, *_TABLES), self.document)
        preset = self._preset()
        tables = {name: self._table(name, preset.get(name, {})) for name in _TABLES}
        self._settle_mode(tables["testing"])
        if tables["minimization"].get("enabled") and not tables["localization"].get("enabled"):
            self._fail(
                ("minimization", "enabled"),
                "only root causes can be minimized, and bugs are not localized",
                "set localization.enabled = true as well",
            )
        problems = self._problems()
        portfolio = self._portfolio()
        if not portfolio:
            self._refuse_comparison(tables["testing"]["oracles"])
        return CampaignConfig(
            domain=self._domain(problems),
            problems=problems,
            policies=tuple(self._policies("policies", self._required("policies"))),
            seeds=self._seeds(),
            unit_costs=self._checked(("unit_costs",), true_or_false, False),
            fuzzing=FuzzSettings(**tables["fuzzing"]),
            testing=OracleSettings(**tables["testing"]),
            limits=UnitLimits(**tables["limits"]),
            portfolio=portfolio,
            localization=LocalizationSettings(**tables["localization"]),
            minimization=MinimizationSettings(**tables["minimization"]),
            pool=self._pool(problems),
        )

    def _settle_mode(self, testing: dict[str, Any]) -> None:
        """Oracles that are compared examine all states, unless a preset would skip some."""
        testing["mode"] = Mode(testing.get("mode", Mode.HUNT))
        if testing["mode"] is not Mode.COMPARE or not testing.get("skip_known_bugs"):
            return
        if "skip_known_bugs" in self.document.get("testing", {}):
            self._fail(
                ("testing", "skip_known_bugs"),
                "oracles that are compared must examine every state",
                'write skip_known_bugs = false, or mode = "hunt"',
            )
        testing["skip_known_bugs"] = False

    def _pool(self, problems: tuple[str, ...]) -> str | None:
        if "pool" not in self.document:
            return None
        if len(problems) != 1:
            self._fail(("pool",), "a pool belongs to one problem", "name only that problem")
        return self._file(("pool",), self._check(("pool",), quoted_text, self.document["pool"]))

    def _portfolio(self) -> tuple[str, ...]:
        if "portfolio" not in self.document:
            return ()
        return tuple(self._policies("portfolio", self.document["portfolio"]))

    def _refuse_comparison(self, oracles: tuple[str, ...]) -> None:
        for number, oracle in enumerate(oracles):
            if missing := parse_oracle(oracle)[0].needs.missing(portfolio=False):
                self._fail(
                    ("testing", "oracles", number),
                    f"testing.oracles: {oracle} {missing}",
                    'add a line such as portfolio = ["policies/checkpoints"]',
                )

    def _preset(self) -> Mapping[str, Mapping[str, Any]]:
        if self.document.get("preset") == "paper":
            self._fail(
                ("preset",),
                "the preset 'paper' no longer exists",
                "'plumbline experiment' repeats the experiments of the papers",
            )
        name = self._checked(("preset",), one_of(PRESETS), DEFAULT_PRESET)
        return PRESETS[name].values

    def _table(self, name: str, preset: Mapping[str, Any]) -> dict[str, Any]:
        table = self.document.get(name, {})
        if not isinstance(table, dict):
            self._fail((name,), "a table is expected here", f"write it as [{name}]")
        fields = _TABLES[name]
        self._refuse_unknown((name,), tuple(fields), table)
        values: dict[str, Any] = {}
        for key, value in {**preset, **table}.items():
            if key == "oracles":
                elements = self._elements((name, key), value, fields[key])
                values[key] = tuple(dict.fromkeys(elements))
            else:
                values[key] = self._check((name, key), fields[key], value)
        return values

    def _problems(self) -> tuple[str, ...]:
        patterns = self._elements(("problems",), self._required("problems"), quoted_text)
        found: dict[str, None] = {}
        for number, pattern in enumerate(patterns):
            found.update(dict.fromkeys(self._files(("problems", number), pattern)))
        return tuple(found)

    def _files(self, place: KeyPath, pattern: str) -> list[str]:
        """The files a path or a pattern such as `problems/*.pddl` names."""
        if not is_pattern(pattern):
            return [self._file(place, pattern)]
        try:
            found = list(map(str, find_files(self.folder / pattern)))
        except LongSearchError:
            self._fail(
                place,
                f"'{pattern:.60}' searches more than {MAX_FOLDERS} folders or {MAX_NAMES} files",
                "begin the pattern with the folder that holds the files",
            )
        except ValueError as error:
            self._fail(place, f"'{pattern:.60}' is not a pattern: {error}", "check the path")
        except OSError as error:  # a name that is too long
            self._fail(
                place, f"cannot look for '{pattern:.60}': {error.strerror}", "check the path"
            )
        if not found:
            self._fail(place, f"no file matches '{pattern}'", "check the path")
        return found

    def _file(self, place: KeyPath, name: str) -> str:
        path = self.folder / name
        if not os.path.isfile(path):  # including a name too long for a file
            self._fail(place, f"file '{name}' does not exist", "paths are relative to this file")
        return str(path)

    def _domain(self, problems: tuple[str, ...]) -> str | None:
        grounded = [Path(problem).suffix.lower() == SAS_SUFFIX for problem in problems]
        if all(grounded):
            return None
        if any(grounded):
            self._fail(("problems",), "PDDL problems and .sas files cannot be mixed")
        name = self._check(("domain",), quoted_text, self._required("domain"))
        return self._file(("domain",), name)

    def _policies(self, key: str, value: Any) -> Iterator[str]:
        specs = self._elements((key,), value, quoted_text)
        for number, text in enumerate(dict.fromkeys(specs)):
            place = (key, number)
            try:
                spec, whole = PolicySpec.parse(text), PolicySpec.parse(text, self.folder)
                if spec.kind is SpecKind.BUILTIN:
                    kind_named("builtin").open(PolicySource(spec), 0)  # an unknown name ends it
            except PolicyError as error:
                self._fail(place, error.message, error.hint)
            if spec.path is None:
                yield text
            elif spec.kind is SpecKind.PLUGIN:
                yield str(spec.at(self._file(place, spec.place)))
            elif key == "portfolio" and whole.kind is SpecKind.FOLDER:
                yield from self._checkpoints(place, Path(whole.place))
            else:
                for file in self._files(place, spec.place):
                    yield str(spec.at(file))

    def _checkpoints(self, place: KeyPath, folder: Path) -> list[str]:
        files = [str(path) for path in portfolio_files(folder)] if os.path.isdir(folder) else []
        if not files:
            self._fail(place, f"'{folder.name}' contains no policy files", "check the path")
        return files

    def _seeds(self) -> tuple[int, ...]:
        value = self.document.get("seeds", 0)
        seeds = self._elements(("seeds",), value, whole_number(0, 2**32 - 1))
        return tuple(dict.fromkeys(seeds))

    def _elements(self, path: KeyPath, value: Any, check: Callable[[Any], Any]) -> list[Any]:
        """A list, or one value without brackets."""
        if not isinstance(value, list):
            return [self._check(path, check, value)]
        if not value:
            self._fail(path, "the list is empty", "name at least one")
        return [self._check((*path, n), check, element) for n, element in enumerate(value)]

    def _required(self, key: str) -> Any:
        if key not in self.document:
            self._fail((), f"'{key}' is missing", "'plumbline campaign --init' writes an example")
        return self.document[key]

    def _checked(self, path: KeyPath, check: Callable[[Any], Any], default: Any) -> Any:
        key = path[-1]
        return self._check(path, check, self.document[key]) if key in self.document else default

    def _check(self, path: KeyPath, check: Callable[[Any], Any], value: Any) -> Any:
        try:
            return check(value)
        except ValueError as reason:
            return self._fail(path, f"{_dotted(path)}: {reason}")

    def _refuse_unknown(
        self, path: KeyPath, known: tuple[str, ...], table: Mapping[str, Any]
    ) -> None:
        for key in table:
            if key not in known:
                close = get_close_matches(key, known, 1)
                hint = f"did you mean '{close[0]}'?" if close else f"choose from {', '.join(known)}"
                self._fail((*path, key), f"unknown setting '{_dotted((*path, key))}'", hint)

    def _fail(self, path: KeyPath, message: str, hint: str = "") -> NoReturn:
        position: Position | None = None
        while path and (position := self.positions.get(path)) is None:
            path = path[:-1]
        line, column = position or (None, None)
        raise ConfigurationError(message, Location.of(self.path, line, column), hint)


def _dotted(path: KeyPath) -> str:
    return ".".join(part for part in path if isinstance(part, str))
