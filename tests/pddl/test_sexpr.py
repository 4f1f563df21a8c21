"""Text to blocks: positions, comments, case, parentheses."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.pddl.diagnostics import MalformedError
from engine.pddl.model import Position
from engine.pddl.sexpr import DEEPEST_NESTING, Block, Word, parse_file


def malformed(text: str) -> MalformedError:
    with pytest.raises(MalformedError) as caught:
        parse_file(text)
    return caught.value


def test_words_are_lower_case_and_know_where_they_stand() -> None:
    whole = parse_file("; a comment (\n  (Define\t(DOMAIN x)) ; the end )")
    assert whole.position == Position(2, 3)
    assert whole.items[0] == Word("define", Position(2, 4))
    header = whole.items[1]
    assert isinstance(header, Block)
    assert header.position == Position(2, 11)
    assert header.items == (Word("domain", Position(2, 12)), Word("x", Position(2, 19)))


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_every_kind_of_line_end_counts_once(newline: str) -> None:
    whole = parse_file(f"(a ; comment{newline}b{newline}{newline} c)")
    assert [word.position for word in whole.items] == [
        Position(1, 2),
        Position(2, 1),
        Position(4, 2),
    ]


def test_a_question_mark_starts_a_new_word_as_in_the_translator() -> None:
    assert [word.text for word in parse_file("(at?x?y)").items if isinstance(word, Word)] == [
        "at",
        "?x",
        "?y",
    ]


def test_an_unclosed_parenthesis_is_reported_where_it_was_opened() -> None:
    assert malformed("(a\n  (b c)\n").position == Position(1, 1)
    assert malformed("(a\n  (b c\n").position == Position(2, 3)


def test_a_forgotten_parenthesis_is_found_before_the_next_section() -> None:
    text = "(define (domain d)\n  (:predicates (p)\n  (:action a\n    :effect (p)))\n"
    error = malformed(text)
    assert error.position == Position(2, 3)
    assert error.message == "this parenthesis is never closed"


def test_a_forgotten_parenthesis_is_found_before_the_next_part_of_an_action() -> None:
    text = "(define (domain d)\n  (:action a\n    :precondition (and (p)\n    :effect (p)))\n"
    assert malformed(text).position == Position(3, 19)


def test_a_stray_parenthesis_is_reported_where_it_is() -> None:
    assert malformed("(a b))\n").position == Position(1, 6)
    assert malformed(") (a)").position == Position(1, 1)


def test_a_parenthesis_that_ends_the_definition_too_early_is_reported() -> None:
    error = malformed("(define (domain d)\n  (:predicates (p)))\n  (:action a :effect (p)))")
    assert error.position == Position(2, 20)
    assert "line 3" in error.message


def test_words_outside_the_definition_are_reported() -> None:
    assert malformed("define (domain d)").position == Position(1, 1)
    assert malformed("(define (domain d)) end").position == Position(1, 21)


@pytest.mark.parametrize("character", ["ä", "\u00a0", "\u2028", "\x07", "\x1c", "日"])
def test_strange_characters_are_allowed_in_comments_only(character: str) -> None:
    assert parse_file(f"(a) ; {character}").head == "a"
    error = malformed(f"(a\n b{character}c)")
    assert error.position == Position(2, 3)
    assert "not allowed outside comments" in error.message


@pytest.mark.parametrize("text", ["(" * 100_000, "(" * 100_000 + ")" * 100_000])
def test_deep_nesting_is_an_error_and_no_overflow(text: str) -> None:
    error = malformed(text)
    assert error.position == Position(1, DEEPEST_NESTING + 1)
    assert "nested deeper" in error.message


def test_a_file_of_comments_is_an_error() -> None:
    assert "nothing but comments" in malformed("; just\n; this\n").message


@given(st.text(alphabet="() ;\n?:-abÄ\x00", max_size=60))
def test_any_text_gives_a_block_or_our_error(text: str) -> None:
    with suppress(MalformedError):
        parse_file(text)
