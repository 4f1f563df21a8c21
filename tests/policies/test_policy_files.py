"""Telling policy files apart, and refusing those that would run something."""

import os
import pickle
import zipfile
from pathlib import Path

import pytest
import torch

from engine.errors import PolicyError
from engine.policies.kinds import portfolio_files
from engine.policies.policy import open_policy


class Bomb:
    """Unpickling this writes a file."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self):
        return os.system, (f"touch {self.target}",)


@pytest.mark.parametrize("suffix", [".ckpt", ".pt", ".policy"])
def test_a_checkpoint_that_would_run_a_program(tmp_path: Path, suffix: str) -> None:
    target, path = tmp_path / "harm", tmp_path / f"bad{suffix}"
    torch.save({"state_dict": Bomb(target), "hyper_parameters": {}}, path)
    with pytest.raises(PolicyError, match="could run a program"):
        open_policy(str(path))
    assert not target.exists()


def test_a_plain_pickle_that_would_run_a_program(tmp_path: Path) -> None:
    target, path = tmp_path / "harm", tmp_path / "bad.pt"
    path.write_bytes(pickle.dumps(Bomb(target)))
    with pytest.raises(PolicyError, match="not a policy file"):
        open_policy(str(path))
    assert not target.exists()


def test_a_zip_that_is_no_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "notes.pt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(PolicyError, match="damaged"):
        open_policy(str(path))


@pytest.mark.parametrize("share", [0.01, 0.5, 0.99])
def test_a_truncated_checkpoint(tmp_path: Path, share: float) -> None:
    path = tmp_path / "cut.ckpt"
    torch.save({"state_dict": {"a": torch.zeros(10_000)}}, path)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(PolicyError):
        open_policy(str(path))


@pytest.mark.parametrize("contents", [[1, 2], {"state_dict": {}}, {"a": torch.zeros(2)}])
def test_a_checkpoint_of_something_else(tmp_path: Path, contents: object) -> None:
    path = tmp_path / "other.ckpt"
    torch.save(contents, path)
    with pytest.raises(PolicyError):
        open_policy(str(path))


@pytest.mark.parametrize("content", [b"", b"hello", b"(define (domain d))"])
def test_a_file_of_another_kind(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "some.policy"
    path.write_bytes(content)
    with pytest.raises(PolicyError, match="not a policy file"):
        open_policy(str(path))


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="cannot be read: No such file") as caught:
        open_policy(str(tmp_path / "none.policy"))
    assert caught.value.location.file == str(tmp_path / "none.policy")


def test_a_directory_is_a_portfolio(tmp_path: Path) -> None:
    for name in ("b.policy", "a.pt", "notes.txt"):
        (tmp_path / name).touch()
    assert [path.name for path in portfolio_files(tmp_path)] == ["a.pt", "b.policy"]
    with pytest.raises(PolicyError, match="portfolio"):
        open_policy(str(tmp_path))


def test_an_unknown_builtin() -> None:
    with pytest.raises(PolicyError, match="unknown built-in policy 'best'") as caught:
        open_policy("builtin:best")
    assert "builtin:hadd" in caught.value.hint
