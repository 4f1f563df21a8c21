"""Animation profiles: what they draw, their defects, and what untrusted ones cannot do."""

from __future__ import annotations

import base64
import re
import time
from pathlib import Path

import pytest
from reference.drawn_tasks import example_task, walk

from engine.campaign.recognize import Role, recognize_file
from engine.errors import PlumblineError, ProfileError
from engine.files import resource
from engine.pictures.profile import (
    Profile,
    css_colors,
    find_profile,
    image_size,
    is_profile,
    parse_profile,
)
from engine.pictures.profile_stages import ProfilePicture, Stage, never_applied, stages_of
from engine.pictures.svg import svg

PIXEL = base64.b64encode(
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x02\0\0\0\x03\x08\x06\0\0\0" + b"\0" * 8
).decode()

TEXT = f"""(define (animation ferry)
  (:predicate lane :parameters (?a ?b) :effect ((action (function draw_line (objects ?a ?b)))))
  (:predicate ferry-at :parameters (?i) :custom boat
    :effect ((equal (boat x) (add (?i x) 10)) (equal (boat y) (?i y)) :priority (1)))
  (:predicate ashore :parameters (?r ?i)
    :effect ((assign (?r x y) (function distribute_within_objects_vertical (objects ?r ?i)))))
  (:predicate aboard :parameters (?r ?b)
    :effect ((equal (?r y) (boat y)) (equal (?r x) (boat x)) (equal (?r color) RED))
    :custom (boat))
  (:visual island :type predefine :objects (%island)
    :properties ((x 0) (y 0) (width 80) (height 60) (color #AABBCC) (showname true)
                 (prefabimage Img)))
  (:visual robot :type default
    :properties ((x null) (y null) (width 20) (height 10) (color RandomColor) (depth 2)))
  (:visual boat :type custom :objects boat :properties ((x null) (y null) (width 30) (height 5)))
  (:image (img {PIXEL})))
"""


def profile(text: str = TEXT) -> Profile:
    task = example_task("ferry")
    assert task.source is not None
    return parse_profile(text, "p.pddl", task.source.domain)


def stages(found: Profile, steps: int = 8) -> list[Stage]:
    task = example_task("ferry")
    states, actions = walk(task, steps)
    return stages_of(found, task, states, actions)


def test_properties_follow_the_facts() -> None:
    found = stages(profile())
    assert len(found) == 9
    first = found[0].objects
    assert first["boat"]["x"] == 10
    assert first["island1"]["color"] == "#aabbcc"
    assert first["robot1"]["color"] == "random"
    assert first["robot1"]["x"] == 5
    assert any(pair[0] != pair[1] for pair in found[0].lines)
    aboard = [s for s in found if any(o.get("color") == "#ff0000" for o in s.objects.values())]
    assert aboard or not any("board" in (s.action or "") for s in found)


def test_what_is_unset_blocks_a_rule_without_an_error() -> None:
    text = TEXT.replace(
        "(:visual island :type predefine :objects (%island)\n    :properties ((x 0)",
        "(:visual island :type predefine :objects (%island)\n    :properties ((x null)",
    )
    found = stages(profile(text))
    assert found[0].objects["robot1"]["x"] is None
    never = never_applied(found)
    assert {fact[0] for fact in never} == {"lane", "ashore", "ferry-at", "aboard"}
    assert not any(stage.applied.intersection(never) for stage in found)
    assert never_applied(stages(profile())) == []


def test_a_scene_has_one_panel_for_all_stages_and_multiplied_images() -> None:
    found, read = stages(profile()), profile()
    picture = ProfilePicture(read, [found])
    scenes = [picture.scene("t", stage) for stage in found]
    assert len({(scene.width, scene.height) for scene in scenes}) == 1
    assert scenes[0].paper == "#FFFFFF"
    text = svg(scenes[0])
    assert text.count("data:image/png") == 1
    assert 'filter id="tintaabbcc"' in text
    assert all(scene.boxes()["island1"].image == "img" for scene in scenes)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("(define (animation ferry)", "(define (domain ferry)", "not an animation profile"),
        ("(:image", "(:picture", "unknown block ':picture'"),
        (":type default", ":type usual", "unknown type of visual 'usual'"),
        ("draw_line", "draw_circle", "unknown function 'draw_circle'"),
        ("(equal (?r x) (boat x))", "(same (?r x) (boat x))", "unknown form of rule"),
        ("(boat x) (add", "(ship x) (add", "'ship' is neither a parameter"),
        (":parameters (?r ?i)", ":parameters (?r)", "'ashore' has 2 parameters in the domain, 1"),
        ("(assign (?r x y)", "(assign (?r x color)", "does not set 'color'"),
        ("(width 20)", "(width 1e999)", "no number between"),
        ("(:image", "(:image (", "never closed"),
    ],
)
def test_errors_say_where_and_what(old: str, new: str, message: str) -> None:
    assert old in TEXT
    with pytest.raises(ProfileError, match=re.escape(message)) as error:
        profile(TEXT.replace(old, new, 1))
    assert str(error.value).startswith("p.pddl:")


def test_arithmetic_with_text_is_an_error() -> None:
    text = TEXT.replace("(x 0) (y 0)", "(x panel_size) (y 0)")
    with pytest.raises(ProfileError, match="not a number"):
        stages(profile(text))


def test_numbers_do_not_grow_without_bound() -> None:
    text = TEXT.replace("(add (?i x) 10)", "(add (?i x) 900000 900000)")
    with pytest.raises(ProfileError, match="beyond 1,000,000"):
        stages(profile(text))


def test_a_profile_of_another_domain_is_refused() -> None:
    text = re.sub(r":predicate (lane|ferry-at|ashore)", r":predicate un\1", TEXT)
    with pytest.raises(ProfileError, match="made for another domain"):
        profile(text)


def test_warnings_name_the_nearest_word() -> None:
    text = TEXT.replace("(objects ?r ?i)", "(objects ?r ?i) (settings (paddin 3))")
    text = text.replace(":priority (1)", "").replace(":custom boat", ":priotity 3 :custom boat")
    warnings = profile(text).warnings
    assert any("did you mean 'padding'?" in warning for warning in warnings)
    assert any("did you mean ':priority'?" in warning for warning in warnings)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("%%%", "not base64"),
        (base64.b64encode(b"<svg/>").decode(), "no PNG, JPEG or WebP"),
        (
            base64.b64encode(
                base64.b64decode(PIXEL).replace(b"\0\0\0\x02", b"\0\0\x20\0")
            ).decode(),
            "4096",
        ),
    ],
)
def test_a_bad_image_is_a_warning_and_a_rectangle(data: str, reason: str) -> None:
    found = profile(TEXT.replace(PIXEL, data))
    assert found.images == {}
    assert any(reason in warning for warning in found.warnings)
    assert "<image" not in svg(ProfilePicture(found, [stages(found)]).scene("", stages(found)[0]))


def test_sizes_are_read_from_headers() -> None:
    assert image_size(base64.b64decode(PIXEL)) == (2, 3)
    jpeg = b"\xff\xd8\xff\xe0\0\x04\0\0\xff\xc0\0\x0b\x08\0\x07\0\x09\x01\0\0\0"
    assert image_size(jpeg) == (9, 7)
    assert image_size(b"RIFF\0\0\0\0WEBPVP8X" + b"\0" * 8 + b"\x04\0\0\x05\0\0") == (5, 6)
    assert image_size(b"\x89PNG\r\n\x1a\n") is None


def test_any_truncation_and_any_lost_bracket_is_an_error_or_a_picture() -> None:
    began = time.process_time()
    variants = [TEXT[:end] for end in range(0, len(TEXT), 17)]
    brackets = [match.start() for match in re.finditer(r"[()]", TEXT)]
    variants += [TEXT[:at] + TEXT[at + 1 :] for at in brackets[::3]]
    variants += [
        TEXT[: match.start()] + "1e999" + TEXT[match.end() :]
        for match in re.finditer(r"(?<=[ (])\d+(?=\))", TEXT)
    ]
    outcomes = set()
    for text in variants:
        try:
            stages(profile(text), 2)
            outcomes.add("picture")
        except PlumblineError:
            outcomes.add("error")
    assert "error" in outcomes
    assert (time.process_time() - began) / len(variants) < 1


def test_a_profile_is_known_by_its_contents_and_found_beside_the_domain(tmp_path: Path) -> None:
    assert is_profile("\ufeff; mine\n(DEFINE (Animation x))")
    assert not is_profile("(define (domain x))")
    domain = tmp_path / "domain.pddl"
    assert find_profile(domain) is None
    (tmp_path / "animation.pddl").write_text(TEXT)
    assert recognize_file(tmp_path / "animation.pddl").role is Role.PROFILE
    assert find_profile(domain) == tmp_path / "animation.pddl"


def test_colors_have_codes() -> None:
    assert len(css_colors()) == 149
    codes = [code for name, code in css_colors().items() if name != "randomcolor"]
    assert all(re.fullmatch("#[0-9a-f]{6}", code) for code in codes)
    assert css_colors()["tomato"] == "#ff6347"


def test_examples_have_profiles_that_fit() -> None:
    for name in ("container-yard", "crumbling-temple", "ferry", "parcel-delivery", "workshop"):
        task = example_task(name)
        assert task.source is not None
        path = resource("examples", name, "profiles", "animation.pddl")
        found = parse_profile(path.read_text(), str(path), task.source.domain)
        assert found.warnings == []
        states, actions = walk(task, 20)
        drawn = stages_of(found, task, states, actions)
        scene = ProfilePicture(found, [drawn]).scene("", drawn[-1])
        names = {item.name for item in task.source.problem.objects}
        assert len(scene.boxes().keys() & names) >= len(names) // 2
