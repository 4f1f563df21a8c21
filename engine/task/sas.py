"""Tasks in the Fast Downward translator's output format, version 3.

The reader is strict: every count, index and keyword is checked and errors name the line. Axioms
and conditional effects are refused, because no later stage can handle them. What the writer
writes reads back equal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.errors import Location, SasError, UnsupportedError
from engine.task.task import Fact, Operator, Task, Variable

VERSION = 3
MAX_COST = 2**31 - 1

_INTEGERS = re.compile(r"-?[0-9]{1,18}(?:[ \t]+-?[0-9]{1,18})*")
_REFUSED = "use a version of the domain without it"


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
        # The same few lines make up most of a big file: each is understood and checked once.
        self.known_numbers: dict[str, tuple[int, ...]] = {}
        self.known_facts: dict[str, Fact] = {}
        self.known_effects: dict[str, tuple[Fact | None, Fact]] = {}

    def task(self) -> Task:
        self.version()
        has_costs = self.metric()
        variables = tuple(self.variable() for _ in self.times("variables", lines_each=6))
        self.sizes = [len(variable.values) for variable in variables]
        mutexes = tuple(self.mutex_group() for _ in self.times("mutex groups", lines_each=3))
        init = self.state()
        goal = self.goal()
        operators = tuple(self.operator(has_costs) for _ in self.times("operators", lines_each=6))
        self.no_axioms()
        self.end_of_file()
        return Task(variables, operators, init, goal, mutexes, has_costs)

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
        if layer != -1:
            raise self.unsupported(f"variable {name} is derived by axioms")
        size = self.count(f"the number of values of {name}", minimum=1)
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
        effect: dict[int, int] = {}
        for _ in self.times("preconditions that stay true"):
            self.insert(precondition, self.fact("a precondition"), "the precondition", name)
        for _ in self.times("effects"):
            before, after = self.effect(name)
            if before is not None:
                self.insert(precondition, before, "the precondition", name)
            self.insert(effect, after, "the effect", name)
        cost = self.integer("the cost", 0, MAX_COST)
        self.keyword("end_operator")
        return Operator(
            name,
            tuple(sorted(precondition.items())),
            tuple(sorted(effect.items())),
            cost if has_costs else 1,
        )

    def effect(self, operator: str) -> tuple[Fact | None, Fact]:
        """What the line demands of the variable before, and what it makes of it."""
        line = self.next_line("an effect")
        if line not in self.known_effects:
            self.known_effects[line] = self.parse_effect(line, operator)
        return self.known_effects[line]

    def parse_effect(self, line: str, operator: str) -> tuple[Fact | None, Fact]:
        conditions, *rest = self.parse_integers(line, "an effect")
        if conditions > 0:
            raise self.unsupported(f"operator ({operator}) has a conditional effect")
        if conditions < 0 or len(rest) != 3:
            raise self.error("an effect must be '0 variable before after'")
        variable, before, after = rest
        if before != -1:
            self.check_fact("a precondition", variable, before)
        self.check_fact("an effect", variable, after)
        return ((variable, before) if before != -1 else None), (variable, after)

    def no_axioms(self) -> None:
        if self.integer("the number of axioms", 0) > 0:
            raise self.unsupported("the task has axioms (derived predicates)")

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
        """The translator may say the same thing twice, but not two different things."""
        variable, value = fact
        if facts.setdefault(variable, value) != value:
            of = f" of ({operator})" if operator else ""
            raise self.error(f"{where}{of} names two values of variable {variable}")

    # Errors.

    def location(self) -> Location:
        return Location(self.path, max(1, min(self.line, len(self.lines))))

    def error(self, message: str, hint: str = "") -> SasError:
        return SasError(message, self.location(), hint)

    def unsupported(self, message: str) -> UnsupportedError:
        return UnsupportedError(message, self.location(), _REFUSED)


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
    yield from map(str, task.init)
    yield "end_state"
    yield "begin_goal"
    yield from _facts(task.goal)
    yield "end_goal"
    yield str(len(task.operators))
    for operator in task.operators:
        yield from _operator_lines(operator)
    yield "0"  # axioms


def _facts(facts: tuple[Fact, ...]) -> Iterator[str]:
    yield str(len(facts))
    for variable, value in facts:
        yield f"{variable} {value}"


def _operator_lines(operator: Operator) -> Iterator[str]:
    before = dict(operator.precondition)
    changed = {variable for variable, _ in operator.effect}
    yield from ("begin_operator", operator.name)
    yield from _facts(tuple(fact for fact in operator.precondition if fact[0] not in changed))
    yield str(len(operator.effect))
    for variable, value in operator.effect:
        yield f"0 {variable} {before.get(variable, -1)} {value}"
    yield from (str(operator.cost), "end_operator")
