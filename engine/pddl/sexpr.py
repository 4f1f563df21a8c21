"""Text to nested blocks of words with exact positions.

PDDL is ASCII and knows no upper case; a `;` starts a comment. Words also end before a `?`, as
in the Fast Downward translator. Nothing here recurses, so no nesting can overflow the stack.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from engine.pddl.diagnostics import MalformedError
from engine.pddl.model import Position

DEEPEST_NESTING = 100
"""Far above any sensible file, and low enough for the recursive readers that follow."""
LONGEST_WORD = 1000
"""Messages repeat names, and a terminal would show megabytes."""

TOKEN = re.compile(r"[()]|\?[^\s();?]*|[^\s();?]+|;", re.ASCII)
NOT_PDDL = re.compile(r"[^\x21-\x7e]")
ACTION_KEYWORDS = frozenset({":parameters", ":precondition", ":effect", ":condition", ":duration"})


@dataclass(frozen=True, slots=True)
class Word:
    text: str
    position: Position


@dataclass(frozen=True, slots=True)
class Block:
    items: tuple[Node, ...]
    position: Position  # of the opening parenthesis

    @property
    def head(self) -> str:
        """The first word, or nothing."""
        first = self.items[0] if self.items else None
        return first.text if isinstance(first, Word) else ""


Node = Word | Block


@dataclass(slots=True)
class _Open:
    position: Position
    items: list[Node]

    @property
    def is_section(self) -> bool:
        first = self.items[0] if self.items else None
        return isinstance(first, Word) and first.text.startswith(":")


def show(node: Node) -> str:
    """A short form of a node for messages."""
    if isinstance(node, Word):
        return f"'{node.text}'"
    head = node.head
    return f"'({head} ...)'" if head else "'(...)'" if node.items else "'()'"


def parse_file(text: str, deepest: int = DEEPEST_NESTING, raw: bool = False) -> Block:
    """The one block a PDDL file consists of; `raw` keeps upper case and any character."""
    stack: list[_Open] = []
    whole: Block | None = None
    suspect: Position | None = None  # an open parenthesis that is probably the forgotten one
    last = Position()
    for token, position in tokens(text, raw):
        if whole is not None:
            raise _after_the_end(token, position, whole, last)
        last = position
        if token == "(":
            if len(stack) == deepest:
                raise MalformedError(
                    position,
                    f"parentheses are nested deeper than {deepest} levels",
                    "simplify the expression",
                )
            stack.append(_Open(position, []))
        elif not stack:
            raise _outside(token, position)
        elif token == ")":
            done = stack.pop()
            block = Block(tuple(done.items), done.position)
            if stack:
                stack[-1].items.append(block)
            else:
                whole = block
        else:
            suspect = suspect or _forgotten(token, stack)
            stack[-1].items.append(Word(token, position))
    if stack:
        raise MalformedError(
            suspect or stack[-1].position,
            "this parenthesis is never closed",
            "add the missing ')'",
        )
    if whole is None:
        raise MalformedError(
            Position(1, 1), "the file has nothing but comments", "choose a PDDL file with content"
        )
    return whole


def lines_of(text: str) -> list[str]:
    """Return the lines as positions count them; PDDL knows no other line breaks of Unicode."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def tokens(text: str, raw: bool = False) -> Iterator[tuple[str, Position]]:
    """Parentheses and lower-case words in textual order; `raw` words are as written."""
    for number, line in enumerate(lines_of(text), start=1):
        for match in TOKEN.finditer(line):
            token = match.group()
            if token == ";":
                break
            strange = None if raw else NOT_PDDL.search(token)
            if strange:
                raise _strange(
                    strange.group(), Position(number, match.start() + strange.start() + 1)
                )
            position = Position(number, match.start() + 1)
            if not raw and len(token) > LONGEST_WORD:
                raise MalformedError(
                    position, f"a word has more than {LONGEST_WORD} characters", "shorten it"
                )
            yield token if raw else token.lower(), position


def _forgotten(token: str, stack: list[_Open]) -> Position | None:
    """Where a parenthesis must have been forgotten, judging by a keyword that is too deep."""
    if not token.startswith(":"):
        return None
    if not stack[-1].items:
        return stack[-2].position if len(stack) > 2 else None
    if token in ACTION_KEYWORDS and not stack[-1].is_section:
        return stack[-1].position
    return None


def _after_the_end(token: str, position: Position, whole: Block, end: Position) -> MalformedError:
    if token == ")":
        return MalformedError(
            position, "this ')' closes nothing", "remove it, or add the '(' it belongs to"
        )
    if whole.head == "in-package":
        return MalformedError(
            whole.position,
            "'(in-package ...)' is Lisp, not PDDL",
            "remove this line: a file begins with '(define'",
        )
    if token == "(" or whole.head != "define":
        return MalformedError(
            end,
            f"this ')' ends the definition, but more follows in line {position.line}",
            "remove the ')' that is too many; a file holds one domain or one problem",
        )
    return MalformedError(position, f"'{token}' follows the end of the definition", "remove it")


def _outside(token: str, position: Position) -> MalformedError:
    if token == ")":
        return MalformedError(
            position, "this ')' closes nothing", "remove it, or add the '(' it belongs to"
        )
    return MalformedError(
        position,
        f"expected '(' but found '{token}'",
        "a PDDL file starts with '(define (domain NAME)' or '(define (problem NAME)'",
    )


def _strange(character: str, position: Position) -> MalformedError:
    name = f"'{character}'" if character.isprintable() else f"U+{ord(character):04X}"
    return MalformedError(
        position,
        f"the character {name} is not allowed outside comments",
        "use ASCII letters, digits, '-' and '_' in names",
    )
