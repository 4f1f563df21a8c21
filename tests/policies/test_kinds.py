"""Kinds of policies: recognized by what they are, and loaded only when one is opened."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from engine.errors import PolicyError
from engine.policies.kinds import (
    PolicySource,
    checkpoint_suffixes,
    is_policy,
    kind_named,
    policy_kinds,
    policy_suffixes,
)
from engine.policies.policy import close_policy, open_policy
from engine.records.policy_spec import PolicySpec

EXAMPLES = Path(__file__).resolve().parents[2] / "resources" / "examples"
SLOW = ("torch", "grpc", "PySide6")


def modules_after(code: str, *arguments: str) -> set[str]:
    """Which slow packages a fresh interpreter has imported after running some code."""
    program = f"import sys\n{code}\nprint(*(name for name in {SLOW!r} if name in sys.modules))"
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_a_kind_is_registered_under_its_name() -> None:
    names = [kind.name for kind in policy_kinds()]
    assert all(kind_named(name).name == name for name in names)
    assert len(set(names)) == len(names)
    assert all(kind.title for kind in policy_kinds())
    suffixes = policy_suffixes()
    assert len(set(suffixes)) == len(suffixes)
    assert set(checkpoint_suffixes()) == set(suffixes) - {".cache"}
    assert [kind.name for kind in policy_kinds() if kind.of_task] == ["remote", "policy cache"]


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        ("builtin:gc", "builtin"),
        ("{folder}/plug.py:make", "plug-in"),
        ("{folder}/states.cache", "policy cache"),
        (f"{EXAMPLES}/ferry/policies/policy.pt", "asnets"),
    ],
)
def test_a_policy_says_its_kind(tmp_path: Path, spec: str, kind: str) -> None:
    (tmp_path / "plug.py").write_text("def make(task):\n    pass\n")
    (tmp_path / "states.cache").write_text("0 1 2\n")
    policy = open_policy(spec.format(folder=tmp_path))
    assert policy.describe().kind == kind
    close_policy(policy)


def test_looking_at_files_loads_nothing_slow() -> None:
    code = """
from engine.policies.kinds import *
zip_file = PolicySource(PolicySpec.parse("a.pt"), b"PK\\x03\\x04rest")
assert is_policy(zip_file)
assert not is_policy(PolicySource(PolicySpec.parse("a.txt"), b"words"))
assert not is_policy(PolicySource(PolicySpec.parse("a.txt")))
"""
    assert modules_after(code) == set()


@pytest.mark.parametrize(
    ("spec", "slow"),
    [("builtin:gc", set()), ("policy.pt", set()), ("grpc://127.0.0.1:1", {"grpc"})],
)
def test_opening_a_policy_loads_what_its_kind_needs(spec: str, slow: set[str]) -> None:
    name = f"{EXAMPLES}/ferry/policies/{spec}" if spec.endswith(".pt") else spec
    code = """
from engine.errors import PolicyLostError
from engine.policies.policy import open_policy
try:
    open_policy(sys.argv[1])
except PolicyLostError:
    pass
"""
    assert modules_after(code, name) == slow


def test_one_action_per_state_needs_no_resolution() -> None:
    with pytest.raises(PolicyError, match="chooses one action in every state; leave out #worst"):
        open_policy("builtin:gc#worst")


def test_what_no_kind_recognizes(tmp_path: Path) -> None:
    (tmp_path / "words.pt").write_text("words")
    with pytest.raises(PolicyError, match=r"not a policy file; choose one of.* \.ckpt \(Graph net"):
        open_policy(str(tmp_path / "words.pt"))
    assert not is_policy(PolicySource(PolicySpec.parse("words.pt"), b"words"))
