"""Files that cannot be read, and files that are read although they are odd."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import pytest

from engine.errors import PddlError, UnreadableFileError
from engine.pddl import InvalidPddlError, check_files, definition_kind, read_domain, read_problem

DOMAIN = b"(define (domain d) (:predicates (p)))"


def write(folder: Path, data: bytes) -> Path:
    path = folder / "domain.pddl"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty"),
        (b" \n\t", "the file is empty"),
        (b"\x7fELF\x00\x01", "not a text file"),
        ("(define (domain d))".encode("utf-16"), "not a text file"),
    ],
)
def test_files_without_text(data: bytes, message: str, tmp_path: Path) -> None:
    path = write(tmp_path, data)
    with pytest.raises(UnreadableFileError, match=message) as caught:
        read_domain(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert caught.value.hint


def test_missing_files_and_folders(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFileError, match="does not exist"):
        read_domain(tmp_path / "missing.pddl")
    with pytest.raises(UnreadableFileError, match="folder"):
        read_domain(tmp_path)
    with pytest.raises(UnreadableFileError):
        read_domain("a\0b")
    with pytest.raises(UnreadableFileError, match="cannot be read"):
        read_domain(tmp_path / ("x" * 5000))


def test_a_pipe_is_refused_instead_of_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UnreadableFileError, match="not a regular file"):
        read_domain(tmp_path / "pipe")


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + DOMAIN,
        b"; J\xf6rg wrote this\n" + DOMAIN,
        "; Jörg wrote this\n".encode() + DOMAIN,
        DOMAIN.replace(b" (:", b"\r\n(:"),
    ],
    ids=["byte-order-mark", "latin-1-comment", "utf-8-comment", "windows-lines"],
)
def test_odd_files_that_are_read(data: bytes, tmp_path: Path) -> None:
    assert read_domain(write(tmp_path, data)).name == "d"


def test_bytes_that_are_not_utf_8_in_a_name(tmp_path: Path) -> None:
    path = write(tmp_path, b"(define (domain d)\n (:predicates (h\xf6he)))")
    with pytest.raises(PddlError) as caught:
        read_domain(path)
    assert str(caught.value).startswith(f"{path}:2:17: the character")


def test_a_problem_knows_its_file(tmp_path: Path) -> None:
    domain = read_domain(write(tmp_path, DOMAIN))
    path = tmp_path / "problem.pddl"
    path.write_text("(define (problem x) (:domain d) (:init) (:goal (p)))")
    assert read_problem(path, domain).path == str(path)
    assert domain.path == str(tmp_path / "domain.pddl")


def test_the_report_holds_whatever_could_be_read(tmp_path: Path) -> None:
    path = write(tmp_path, DOMAIN)
    report = check_files(path, tmp_path / "missing.pddl")
    assert report.domain is not None
    assert report.problem is None
    assert [item.message for item in report.errors] == ["the file does not exist"]
    assert report.texts == {str(path): DOMAIN.decode()}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("; (define (problem\n(DEFINE(Domain d) (broken", "domain"),
        ("( define ( problem p))", "problem"),
        ("(define (plan p))", ""),
        ("(define", ""),
        ("ü", ""),
        ("", ""),
    ],
)
def test_files_are_recognized_by_what_they_contain(text: str, kind: str) -> None:
    assert definition_kind(text) == kind


def test_errors_cross_process_boundaries_whole(tmp_path: Path) -> None:
    with pytest.raises(InvalidPddlError) as caught:
        read_domain(write(tmp_path, b"(define (domain d) (:foo) (:bar))"))
    copy = pickle.loads(pickle.dumps(caught.value))
    assert str(copy) == str(caught.value)
    assert copy.diagnostics == caught.value.diagnostics
