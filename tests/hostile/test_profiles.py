"""Untrusted animation profiles, which are found beside a domain: what one may cost and say."""

from __future__ import annotations

import base64
import os
import struct
import zlib
from pathlib import Path

import pytest
from reference.drawn_tasks import example_task, walk
from reference.hostile_readers import FERRY, READ, readers, taken

from engine.errors import PlumblineError, ProfileError, UnreadableFileError
from engine.pictures import profile_stages
from engine.pictures.profile import MAX_WARNINGS, Profile, parse_profile, read_profile
from engine.pictures.profile_stages import ProfilePicture, Stage, stages_of
from engine.pictures.svg import svg

TEXT = (FERRY / "profiles" / "animation.pddl").read_text()
SHORT = """(define (animation ferry)
  (:predicate ashore :parameters (?r ?i) :effect ((equal (?r x) (?i x)) (equal (?r y) (?i y))))
  (:visual all :type default :properties ((x 1) (y 1) (width 9) (height 9) (showname true)))
  VISUALS)"""


def png(width: int, height: int) -> str:
    """An empty picture of any size: a few kilobytes."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    rows = zlib.compress(bytes((width // 8 + 1) * height), 9)
    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + parts).decode()


def read(visuals: str) -> Profile:
    task = example_task("ferry")
    assert task.source is not None
    return parse_profile(SHORT.replace("VISUALS", visuals), "p.pddl", task.source.domain)


def drawn(profile: Profile, steps: int = 2) -> list[Stage]:
    task = example_task("ferry")
    return stages_of(profile, task, *walk(task, steps))


def test_a_number_with_thousands_of_digits(tmp_path: Path) -> None:
    """Python refuses to read it."""
    use = readers(tmp_path, example_task("ferry"))["profile"]
    assert taken(use, TEXT.encode()) == READ
    found = read(f"(:visual b :type custom :objects b :properties ((x {'0' * 5000}7)))")
    assert drawn(found)[0].objects["b"]["x"] == 7
    with pytest.raises(ProfileError, match="no number between") as refused:
        read(f"(:visual b :type custom :objects b :properties ((x {'9' * 5000})))")
    assert len(str(refused.value)) < 5000


def test_many_images_that_are_huge_when_painted() -> None:
    """700 of them fit into a file, and would take 45 GB."""
    images = "".join(f"(i{number} {png(4096, 1024)})" for number in range(8))
    found = read(f"(:image {images})")
    assert sorted(found.images) == ["i0", "i1", "i2", "i3"]
    assert sum("16 million pixels together" in warning for warning in found.warnings) == 4


@pytest.mark.parametrize(
    ("visuals", "message"),
    [
        (
            f"(:visual c :type custom :objects ({' '.join(map('c{}'.format, range(11_000)))}))",
            "many",
        ),
        (
            "(:visual c :type default :properties ("
            + "".join(f"(a{n} 1)" for n in range(101))
            + "))",
            "more than 100 properties",
        ),
        ("(:visual c :type custom :objects (" + "c " * 200_000 + "))", "200,000 words"),
        ("(" * 50, "nested deeper"),
    ],
)
def test_more_than_can_be_drawn(visuals: str, message: str) -> None:
    with pytest.raises(ProfileError, match=message):
        drawn(read(visuals))


def test_rules_that_wait_for_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profile_stages, "MAX_TRIES", 20)
    with pytest.raises(ProfileError, match="its rules take too long; draw without the profile"):
        drawn(read(""))


def test_many_objects_in_many_states(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profile_stages, "MAX_DRAWN", 20)
    with pytest.raises(ProfileError, match="too many objects in too many states"):
        drawn(read(""))


@pytest.mark.parametrize("name", ["()", "(())", "x"])
def test_a_function_without_a_name(name: str) -> None:
    text = SHORT.replace("(equal (?r x) (?i x))", f"(equal (?r x) (function {name} (objects)))")
    task = example_task("ferry")
    assert task.source is not None
    with pytest.raises(ProfileError, match="unknown function"):
        parse_profile(text, "p.pddl", task.source.domain)


def test_warnings_are_short_and_few() -> None:
    settings = "".join(f"(paddin{'g' * 999}{n} 1)" for n in range(500))
    rule = f"(equal (?r x) (function distributex (objects ?r) (settings {settings})))"
    task = example_task("ferry")
    assert task.source is not None
    text = SHORT.replace("(equal (?r x) (?i x))", rule).replace("VISUALS", "")
    found = parse_profile(text, "p.pddl", task.source.domain)
    assert len(found.warnings) == MAX_WARNINGS
    assert max(map(len, found.warnings)) < 200


INJECTED = '"><script>alert(1)</script>'


@pytest.mark.parametrize(
    "visuals",
    [
        f"(:visual c :type custom :objects ({INJECTED}) :properties ((x 1) (y 1) (showname true)))",
        f"(:visual c :type custom :objects c :properties ((x 1) (y 1) (color {INJECTED})))",
        "(:visual c :type custom :objects c :properties ((x 1) (y 1) (color url(http://x/y.png))))",
        "(:visual c :type custom :objects c :properties "
        f"((x 1) (y 1) (showlabel true) (label {INJECTED})))",
        f"(:visual c :type custom :objects c :properties ((x 1) (prefabimage {INJECTED})))"
        f"(:image ({INJECTED} {png(2, 2)}))",
        "(:visual c :type custom :objects c :properties ((x 1) (prefabimage http://x/y.png)))",
        "(:image (i http://x/y.png))",
        "(:image (i " + base64.b64encode(b"<svg onload='alert(1)'/>").decode() + "))",
    ],
)
def test_nothing_of_a_profile_becomes_markup_or_is_fetched(tmp_path: Path, visuals: str) -> None:
    """The reader holds every picture against a list of elements and links."""
    use = readers(tmp_path, example_task("ferry"))["profile"]
    outcome = taken(use, SHORT.replace("VISUALS", visuals).encode())
    assert outcome in (READ, "refused")
    try:
        found = read(visuals)
    except PlumblineError:
        return
    text = svg(ProfilePicture(found, [drawn(found)]).scene("", drawn(found)[0]))
    assert "<script" not in text
    assert "http://x" not in text.replace(">http://x", "")


def test_a_pipe_in_place_of_a_profile(tmp_path: Path) -> None:
    """A workspace may name any path; reading never waits for a writer."""
    task = example_task("ferry")
    assert task.source is not None
    os.mkfifo(tmp_path / "profile.pddl")
    with pytest.raises(UnreadableFileError):
        read_profile(tmp_path / "profile.pddl", task.source.domain)
