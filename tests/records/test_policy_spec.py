from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import DamagedRecordError, PolicyError
from engine.records.codec import check, decode, encode
from engine.records.inputs import PolicyInput
from engine.records.policy_spec import RESOLUTIONS, PolicySpec, SpecKind
from engine.records.project import Project

pieces = st.sampled_from(
    [
        *(
            "grpc://",
            "builtin:",
            "unix:",
            ".py",
            ":",
            "#",
            "/",
            ".",
            "\\",
            " ",
            "\n",
            "é",
            "*",
            "[",
        ),
        *("#first", "#worst", "#best", "host:50051", "make", "policy.pt", "1", "-"),
    ]
)
texts = st.lists(pieces, max_size=8).map("".join) | st.text(max_size=30)

words = st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True)
paths = st.lists(words, min_size=1, max_size=4).map("/".join)
endings = st.sampled_from(("", *RESOLUTIONS))
specs = st.one_of(
    st.builds(PolicySpec, st.just(SpecKind.FILE), paths, st.just(""), endings),
    st.builds(PolicySpec, st.just(SpecKind.FOLDER), paths, st.just(""), endings),
    st.builds(PolicySpec, st.just(SpecKind.BUILTIN), words, st.just(""), endings),
    st.builds(
        PolicySpec,
        st.just(SpecKind.SERVER),
        st.builds("{}:{}".format, words, st.integers(1, 2**16 - 1))
        | st.builds("unix:/{}".format, paths),
        st.just(""),
        endings,
    ),
    st.builds(PolicySpec, st.just(SpecKind.PLUGIN), paths.map("{}.py".format), words, endings),
)


@given(specs)
def test_a_spec_is_read_back_from_its_text(spec: PolicySpec) -> None:
    assert PolicySpec.parse(str(spec)) == spec
    assert decode(encode(spec), PolicySpec) == spec


def parsed(text: str, base: str | None) -> PolicySpec | PolicyError:
    try:
        return PolicySpec.parse(text, base)
    except PolicyError as error:
        return error


@given(texts, st.sampled_from([None, "", "/a folder", "/a.py:b", "/builtin:"]))
def test_any_text_is_read_back_or_refused_in_words(text: str, base: str | None) -> None:
    spec = parsed(text, base)
    if isinstance(spec, PolicyError):
        assert spec.message
        assert spec.hint
        return
    assert PolicySpec.parse(str(spec), base) == spec
    assert spec.place
    assert spec.name
    assert (spec.path is None) == (spec.kind in (SpecKind.SERVER, SpecKind.BUILTIN))


@pytest.mark.parametrize(
    ("text", "spec", "name"),
    [
        ("a/b.policy", PolicySpec(SpecKind.FILE, "a/b.policy"), "b.policy"),
        ("./builtin:x", PolicySpec(SpecKind.FILE, "./builtin:x"), "builtin:x"),
        ("a#b.pt", PolicySpec(SpecKind.FILE, "a#b.pt"), "a#b.pt"),
        ("a/x.rules#worst", PolicySpec(SpecKind.FILE, "a/x.rules", "", "worst"), "x.rules#worst"),
        ("checkpoints/", PolicySpec(SpecKind.FOLDER, "checkpoints"), "checkpoints/"),
        ("/", PolicySpec(SpecKind.FOLDER, "/"), "/"),
        ("grpc://here:1", PolicySpec(SpecKind.SERVER, "here:1"), "grpc://here:1"),
        ("grpc://unix:/a/b", PolicySpec(SpecKind.SERVER, "unix:/a/b"), "grpc://unix:/a/b"),
        ("a/b.py:make", PolicySpec(SpecKind.PLUGIN, "a/b.py", "make"), "b.py:make"),
        ("a/b.py:make#best", PolicySpec(SpecKind.PLUGIN, "a/b.py", "make", "best"), None),
        ("builtin:hff", PolicySpec(SpecKind.BUILTIN, "hff"), "builtin:hff"),
    ],
)
def test_every_form_of_a_policy(text: str, spec: PolicySpec, name: str | None) -> None:
    assert PolicySpec.parse(text) == spec
    assert str(spec) == text
    assert name is None or spec.name == name


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "'' names no policy; name a policy file"),
        (" \n", "names no policy"),
        ("#first", "names no policy"),
        ("builtin:", "'builtin:' names no policy"),
        ("grpc://", "'grpc://' names no policy"),
        ("grpc://host", "'host' is not the address of a policy server; write grpc://host:port"),
        ("grpc://host:0", "is not the address"),
        ("grpc://host:65536", "is not the address"),
        ("grpc://host:٣", "is not the address"),
        ("a\0b", "contains a NUL character"),
        ("plug.py:", "'' is not the name of a function; name a plug-in as path/to/file.py:factory"),
        ("plug.py:a-b", "'a-b' is not the name of a function"),
        ("plug.py", "does not say which function of the plug-in makes the policy; write plug.py:"),
        ("plug.py#best", "write plug.py:FACTORY"),
    ],
)
def test_what_names_no_policy_is_refused(text: str, said: str) -> None:
    with pytest.raises(PolicyError) as caught:
        PolicySpec.parse(text)
    assert said in str(caught.value)


def test_folders_are_looked_up_below_a_base_only(tmp_path: Path) -> None:
    (tmp_path / "checkpoints").mkdir()
    spec = PolicySpec.parse("checkpoints", tmp_path)
    assert spec == PolicySpec(SpecKind.FOLDER, str(tmp_path / "checkpoints"))
    assert PolicySpec.parse(str(spec), tmp_path) == spec
    assert PolicySpec.parse(str(tmp_path / "checkpoints")).kind is SpecKind.FILE
    assert PolicySpec.parse("a.pt", tmp_path).place == str(tmp_path / "a.pt")
    assert PolicySpec.parse("/a.pt", tmp_path).place == "/a.pt"
    assert PolicySpec.parse("plug.py:make", tmp_path).place == str(tmp_path / "plug.py")
    assert PolicySpec.parse("x" * 5000, tmp_path).kind is SpecKind.FILE


def test_programs_and_servers_need_consent_and_files_are_copied() -> None:
    parsed = {text: PolicySpec.parse(text) for text in ("a.pt", "a/", "a.py:f", "grpc://a:1")}
    assert [spec.needs_consent for spec in parsed.values()] == [False, False, True, True]
    assert [spec.is_external for spec in parsed.values()] == [False, False, True, True]
    builtin = PolicySpec.parse("builtin:gc")
    assert (builtin.needs_consent, builtin.is_external) == (False, True)


def test_short_names_grow_by_folders() -> None:
    spec = PolicySpec.parse("/a/b/plug.py:make")
    assert [spec.short_name(parts) for parts in (1, 2)] == ["plug.py:make", "b/plug.py:make"]
    assert PolicySpec.parse("grpc://unix:/a/b").short_name(1) == "grpc://unix:/a/b"


@pytest.mark.parametrize("text", ["", "plug.py:", "grpc://nowhere"])
def test_stored_records_name_policies(text: str) -> None:
    good = encode(Project(policies=("builtin:gc",)))
    with pytest.raises(DamagedRecordError):
        decode(good.replace(b"builtin:gc", text.encode()), Project)
    sound = PolicyInput("gc", "builtin:gc", None)
    assert check(sound) == sound
    with pytest.raises(DamagedRecordError, match=r"policy|function"):
        PolicyInput("gc", text, None)
