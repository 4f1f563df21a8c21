"""Files that keep their form and lose their meaning: read or refused, nothing else."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import hostile_files as files
from reference.amount import amount
from reference.hostile_readers import FERRY, READ, REFUSED, Read, samples, taken

from engine.campaign.config_reader import parse_toml
from engine.errors import ConfigurationError, SasError
from engine.pddl import check_texts
from engine.task.sas import parse_sas
from engine.task.task import Task

hostile = settings.get_profile("hostile")


def fine(read: Read, content: str | bytes) -> None:
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    assert taken(read, data) in (READ, REFUSED)


def test_the_samples_are_sound(reading: dict[str, Read], task: Task) -> None:
    """Else all of this would only ever reach the first check."""
    for kind, sample in samples(task).items():
        assert taken(reading[kind], sample.encode()) == READ, kind


@settings(hostile, max_examples=amount(150, 30))
@given(domain=files.domains)
def test_domains(reading: dict[str, Read], domain: str) -> None:
    fine(reading["domain"], domain)


@settings(hostile, max_examples=amount(100, 25))
@given(problem=files.problems)
def test_problems(reading: dict[str, Read], problem: str) -> None:
    fine(reading["problem"], problem)
    fine(reading["own problem"], problem)


@pytest.mark.parametrize("kind", ["sas", "plan", "pool", "bugs", "policy cache", "filter"])
@settings(hostile, max_examples=amount(100, 25))
@given(data=st.data())
def test_texts_with_absurd_words(
    reading: dict[str, Read], task: Task, kind: str, data: st.DataObject
) -> None:
    fine(reading[kind], data.draw(files.with_other_words(samples(task)[kind])))


CONFIGURATION = tomllib.loads((FERRY / "campaign.toml").read_text())


@settings(hostile, max_examples=amount(120, 30))
@given(text=files.campaigns(CONFIGURATION))
def test_campaigns(reading: dict[str, Read], text: str) -> None:
    fine(reading["campaign"], text)


def test_a_number_with_thousands_of_digits(reading: dict[str, Read]) -> None:
    text = (FERRY / "campaign.toml").read_text()
    with pytest.raises(ConfigurationError, match="too many digits"):
        parse_toml(f"x = {'9' * 5000}\n{text}", FERRY / "campaign.toml")
    assert taken(reading["campaign"], f"x = {'9' * 5000}\n{text}".encode()) == REFUSED


@pytest.mark.parametrize(
    "text",
    [
        "begin_version\n3\nend_version\nbegin_metric\n0\nend_metric\n1000000000\n",
        "begin_version\n3\nend_version\nbegin_metric\n0\nend_metric\n-5\n",
        "begin_version\n3\nend_version\nbegin_metric\n0\nend_metric\n1\nbegin_variable\nvar0\n-1\n"
        "2000000000\nAtom a()\nend_variable\n",
    ],
)
def test_a_count_is_no_promise(text: str) -> None:
    """The lines have to be there before anything is made of them."""
    with pytest.raises(SasError):
        parse_sas(text)


def test_nesting_has_a_limit_that_is_reported() -> None:
    for text in ("(" * 300_000, "(and " * 100_000 + ")" * 100_000):
        report = check_texts(f"(define (domain d) {text})")
        assert not report.ok
        assert report.diagnostics


def test_a_word_has_a_limit_so_that_messages_have_one() -> None:
    for text in (f"(define (domain {'x' * 10**6}))", f"(define (domain d) ({'x' * 10**6}))"):
        (diagnostic,) = check_texts(text).diagnostics
        assert "more than 1000 characters" in diagnostic.message
        assert len(diagnostic.message) < 100
