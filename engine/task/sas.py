"""Tasks in the Fast Downward translator's output format, version 3.

The reader is strict: every count, index and keyword is checked and errors name the line. Effects
are brought into normal form. What the writer writes reads back equal.

The state section of a file holds the defaults of derived variables, not their values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain

from engine.errors import Location, SasError
from engine.pddl.unsupported import MAX_COST
from engine.task.axioms import Axiom
from engine.task.task import ConditionalEffect, Fact, Operator, Task, Variable

VERSION = 3
_REMAKE = "write it again with the translator of Fast Downward"

_INTEGERS = re.compile(r"-?[0-9]{1,18}(?:[ \t]+-?[0-9]{1,18})*")


def parse_sas(text: str, path: str | None = None) -> Task:
    """The task in `text`; `path` is only named in errors."""
    return _Reader(text, path).task()


class _Reader:
    """Walks through the lines once; `self.line` counts the lines already read."""

    def __init__(self, text: str, path: str | None) -> None:
        self.lines = text.split("\n")
        self.path = path
        self.line = 0
        self.sizes: list[int] = []
        self.layers: list[int] = []
        # The same few lines make up most of a big file: each is understood and checked once.
        self.known_numbers: dict[str, tuple[int, ...]] = {}
        self.known_facts: dict[str, Fact] = {}
        self.known_effects: dict[str, tuple[Fact | None, ConditionalEffect]] = {}

    def task(self) -> Task:
        self.version()
        has_costs = self.metric()
        variables = tuple(self.variable() for _ in self.times("variables", lines_each=6))
        self.sizes = [len(variable.values) for variable in variables]
        self.layers = [variable.layer for variable in variables]
        mutexes = tuple(self.mutex_group() for _ in self.times("mutex groups", lines_each=3))
        init = self.state()
        goal = self.goal()
        operators = tuple(self.operator(has_costs) for _ in self.times("operators", lines_each=6))
        axioms = tuple(self.axiom(init) for _ in self.times("axioms", lines_each=4))
        self.end_of_file()
        variables = tuple(
            replace(variable, default=init[number]) if variable.is_derived else variable
            for number, variable in enumerate(variables)
        )
        return Task(variables, operators, init, goal, mutexes, has_costs, axioms=axioms)

    # Sections, in the order of the file.

    def version(self) -> None:
        self.keyword("begin_version")
        version = self.integer("the version of the format")
        if version != VERSION:
            raise self.error(
                f"version {version} of the format is not supported",
                f"write the file with a translator that writes version {VERSION}",
            )
        self.keyword("end_version")

    def metric(self) -> bool:
        self.keyword("begin_metric")
        has_costs = bool(self.integer("the metric", 0, 1))
        self.keyword("end_metric")
        return has_costs

    def variable(self) -> Variable:
        self.keyword("begin_variable")
        name = self.name("a variable's name")
        layer = self.integer(f"the axiom layer of {name}", -1)
        size = self.count(f"the number of values of {name}", minimum=1)
        if layer >= 0 and size != 2:
            raise self.error(f"the derived variable {name} must have 2 values, not {size}")
        values = tuple(self.name(f"a value of {name}") for _ in range(size))
        self.keyword("end_variable")
        return Variable(name, values, layer)

    def mutex_group(self) -> tuple[Fact, ...]:
        self.keyword("begin_mutex_group")
        facts = tuple(self.fact("a fact") for _ in self.times("facts in the mutex group"))
        self.keyword("end_mutex_group")
        return facts

    def state(self) -> tuple[int, ...]:
        self.keyword("begin_state")
        values = tuple(
            self.integer(f"the initial value of variable {variable}", 0, size - 1)
            for variable, size in enumerate(self.sizes)
        )
        self.keyword("end_state")
        return values

    def goal(self) -> tuple[Fact, ...]:
        self.keyword("begin_goal")
        goal: dict[int, int] = {}
        for _ in self.times("goal facts"):
            self.insert(goal, self.fact("a goal fact"), "the goal")
        self.keyword("end_goal")
        return tuple(sorted(goal.items()))

    def operator(self, has_costs: bool) -> Operator:
        self.keyword("begin_operator")
        name = " ".join(self.name("an operator's name").split())
        precondition: dict[int, int] = {}
        always: dict[int, int] = {}
        effects: list[ConditionalEffect] = []
        for _ in self.times("preconditions that stay true"):
            self.insert(precondition, self.fact("a precondition"), "the precondition", name)
        for _ in self.times("effects"):
            before, effect = self.effect(name)
            if before is not None:
                self.insert(precondition, before, "the precondition", name)
            if not effect[0]:
                self.insert(always, effect[1], "the effect", name)
            effects.append(effect)
        cost = self.integer("the cost", 0, MAX_COST)
        self.keyword("end_operator")
        return Operator(
            name,
            tuple(sorted(precondition.items())),
            *self.effects(precondition, always, effects, cost if has_costs else 1),
        )

    def effects(
        self,
        precondition: dict[int, int],
        always: dict[int, int],
        effects: list[ConditionalEffect],
        cost: int,
    ) -> tuple[tuple[Fact, ...], int, tuple[ConditionalEffect, ...]]:
        if all(not condition for condition, _ in effects):
            return tuple(sorted(always.items())), cost, ()
        effect, conditional = normalize_effects(precondition, effects)
        return effect, cost, conditional

    def effect(self, operator: str) -> tuple[Fact | None, ConditionalEffect]:
        """Return the fact that the line requires before the step, if any, and its effect."""
        line = self.next_line("an effect")
        if line not in self.known_effects:
            self.known_effects[line] = self.parse_effect(line, operator)
        return self.known_effects[line]

    def parse_effect(self, line: str, operator: str) -> tuple[Fact | None, ConditionalEffect]:
        size, *rest = self.parse_integers(line, "an effect")
        if size < 0 or len(rest) != 2 * size + 3:
            raise self.error("an effect must be '0 variable before after', or 'n' and n conditions")
        condition: dict[int, int] = {}
        for position in range(0, 2 * size, 2):
            fact = rest[position], rest[position + 1]
            self.check_fact("an effect's condition", *fact)
            self.insert(condition, fact, "a condition of an effect", operator)
        variable, before, after = rest[2 * size :]
        if before != -1:
            self.check_fact("a precondition", variable, before)
        self.check_fact("an effect", variable, after)
        if self.layers[variable] >= 0:
            raise self.error(
                f"({operator}) sets variable {variable}, which is derived",
                "the values of derived variables follow from the axioms",
            )
        demanded = (variable, before) if before != -1 else None
        return demanded, (tuple(sorted(condition.items())), (variable, after))

    def axiom(self, defaults: tuple[int, ...]) -> Axiom:
        self.keyword("begin_rule")
        body: dict[int, int] = {}
        for _ in self.times("facts in the body of the axiom"):
            self.insert(body, self.fact("a fact of the body"), "the body of an axiom")
        body_end = self.line
        line = self.next_line("the head of an axiom")
        numbers = self.parse_integers(line, "the head of an axiom")
        if len(numbers) != 3:
            raise self.error("the head of an axiom must be 'variable default value'")
        head, default, value = numbers
        self.check_fact("the head of an axiom", head, default)
        self.check_fact("the head of an axiom", head, value)
        if self.layers[head] < 0:
            raise self.error(f"the head of an axiom is variable {head}, which is not derived")
        if default != defaults[head]:
            raise self.error(
                f"the default of variable {head} is {default} here, {defaults[head]} in the state"
            )
        if value == default:
            raise self.error(f"an axiom gives variable {head} its default value")
        for variable, wanted in body.items():
            if self.layers[variable] > self.layers[head]:
                self.line = body_end
                raise self.error(f"variable {head} depends on variable {variable} of a later layer")
            same = self.layers[variable] == self.layers[head]
            if same and wanted == defaults[variable]:
                self.line = body_end
                raise self.error(
                    f"variable {head} depends on the default of variable {variable} of its layer"
                )
        self.keyword("end_rule")
        return Axiom(tuple(sorted(body.items())), head)

    def end_of_file(self) -> None:
        for number in range(self.line, len(self.lines)):
            if self.lines[number].strip():
                self.line = number + 1
                raise self.error("the task ends before this line", "remove what follows")

    # Lines.

    def next_line(self, expected: str) -> str:
        if self.line >= len(self.lines):
            raise self.error(f"the file ends where {expected} should be", "it was cut off")
        self.line += 1
        return self.lines[self.line - 1].strip()

    def keyword(self, word: str) -> None:
        line = self.next_line(f"'{word}'")
        if line != word:
            raise self.error(f"'{word}' expected, not {_quote(line)}")

    def name(self, what: str) -> str:
        line = self.next_line(what)
        if not line:
            raise self.error(f"{what} expected, not an empty line")
        return line

    def parse_integers(self, line: str, what: str) -> tuple[int, ...]:
        if not _INTEGERS.fullmatch(line):
            raise self.error(f"{what} expected, not {_quote(line)}")
        return tuple(int(word) for word in line.split())

    def integer(self, what: str, low: int | None = None, high: int | None = None) -> int:
        line = self.next_line(what)
        numbers = self.known_numbers.get(line)
        if numbers is None:
            numbers = self.known_numbers[line] = self.parse_integers(line, what)
        if len(numbers) != 1:
            raise self.error(f"{what} must be one number")
        (number,) = numbers
        if (low is not None and number < low) or (high is not None and number > high):
            bounds = f"at least {low}" if high is None else f"between {low} and {high}"
            raise self.error(f"{what} must be {bounds}, not {number}")
        return number

    def count(self, what: str, minimum: int = 0, lines_each: int = 1) -> int:
        """A number of things that follow, checked against the lines that are left."""
        number = self.integer(what, minimum)
        if number * lines_each > len(self.lines) - self.line:
            raise self.error(f"{what} is {number}, more than the rest of the file holds")
        return number

    def times(self, things: str, lines_each: int = 1) -> Iterator[int]:
        yield from range(self.count(f"the number of {things}", 0, lines_each))

    # Facts.

    def fact(self, what: str) -> Fact:
        line = self.next_line(what)
        fact = self.known_facts.get(line)
        if fact is None:
            numbers = self.parse_integers(line, what)
            if len(numbers) != 2:
                raise self.error(f"{what} must be 'variable value'")
            fact = numbers[0], numbers[1]
            self.check_fact(what, *fact)
            self.known_facts[line] = fact
        return fact

    def check_fact(self, what: str, variable: int, value: int) -> None:
        if not 0 <= variable < len(self.sizes):
            raise self.error(f"{what} names variable {variable}; there are {len(self.sizes)}")
        if not 0 <= value < self.sizes[variable]:
            size = self.sizes[variable]
            raise self.error(f"{what} names value {value} of variable {variable}, which has {size}")

    def insert(self, facts: dict[int, int], fact: Fact, where: str, operator: str = "") -> None:
        """Insert a fact, which may occur twice but not contradict another one."""
        variable, value = fact
        if facts.setdefault(variable, value) != value:
            of = f" of ({operator})" if operator else ""
            raise self.error(f"{where}{of} names two values of variable {variable}")

    # Errors.

    def location(self) -> Location:
        return Location(self.path, max(1, min(self.line, len(self.lines))))

    def error(self, message: str, hint: str = _REMAKE) -> SasError:
        return SasError(message, self.location(), hint)


def _quote(line: str) -> str:
    if not line:
        return "an empty line"
    return repr(line if len(line) <= 40 else line[:37] + "...")


def write_sas(task: Task) -> str:
    """The task as a file; `parse_sas` gives the same task back, without its PDDL source."""
    return "\n".join(_lines(task)) + "\n"


def _lines(task: Task) -> Iterator[str]:
    yield from ("begin_version", str(VERSION), "end_version")
    yield from ("begin_metric", str(int(task.has_costs)), "end_metric")
    yield str(len(task.variables))
    for variable in task.variables:
        yield from ("begin_variable", variable.name, str(variable.layer))
        yield str(len(variable.values))
        yield from variable.values
        yield "end_variable"
    yield str(len(task.mutexes))
    for group in task.mutexes:
        yield "begin_mutex_group"
        yield from _facts(group)
        yield "end_mutex_group"
    yield "begin_state"
    yield from map(str, (task.defaults.get(number, x) for number, x in enumerate(task.init)))
    yield "end_state"
    yield "begin_goal"
    yield from _facts(task.goal)
    yield "end_goal"
    yield str(len(task.operators))
    for operator in task.operators:
        yield from _operator_lines(operator)
    yield str(len(task.axioms))
    for axiom in task.axioms:
        default = task.defaults[axiom.head]
        yield "begin_rule"
        yield from _facts(axiom.body)
        yield from (f"{axiom.head} {default} {1 - default}", "end_rule")


def _facts(facts: tuple[Fact, ...]) -> Iterator[str]:
    yield str(len(facts))
    for variable, value in facts:
        yield f"{variable} {value}"


def _operator_lines(operator: Operator) -> Iterator[str]:
    before = dict(operator.precondition)
    changed = {variable for variable, _ in operator.effect}
    yield from ("begin_operator", operator.name)
    yield from _facts(tuple(fact for fact in operator.precondition if fact[0] not in changed))
    yield str(len(operator.effect) + len(operator.conditional))
    for variable, value in operator.effect:
        yield f"0 {variable} {before.get(variable, -1)} {value}"
    for condition, (variable, value) in operator.conditional:
        numbers = (len(condition), *chain.from_iterable(condition), variable, -1, value)
        yield " ".join(map(str, numbers))
    yield from (str(operator.cost), "end_operator")


def normalize_effects(
    precondition: dict[int, int], effects: Iterable[ConditionalEffect]
) -> tuple[tuple[Fact, ...], tuple[ConditionalEffect, ...]]:
    """Return the unconditional and the conditional effects that together do what `effects` do.

    The former are sorted by variable, the latter in the order of the file, and their conditions by
    variable. Conditions repeat nothing of the precondition. An effect `v=x -> v:=x` stays, because
    it can hide an earlier effect on v.
    """
    always: dict[int, int] = {}
    conditional: dict[ConditionalEffect, None] = {}  # ordered by the last time each was seen
    for condition, (variable, value) in effects:
        if any(precondition.get(v, x) != x for v, x in condition):
            continue  # never fires
        open_condition = tuple(sorted({fact for fact in condition if fact[0] not in precondition}))
        line = open_condition, (variable, value)
        conditional.pop(line, None)
        if open_condition:
            conditional[line] = None
            continue
        always[variable] = value
        for hidden in [item for item in conditional if item[1][0] == variable]:
            del conditional[hidden]
    return tuple(sorted(always.items())), tuple(conditional)
