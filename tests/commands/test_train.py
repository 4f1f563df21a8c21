import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from reference.faulty import as_a_shell_tells

from engine import cli
from engine.errors import ExitCode

DOMAIN = """
(define (domain doors) (:requirements :strips)
  (:predicates (link ?a ?b) (in ?a) (been ?a))
  (:action go :parameters (?a ?b) :precondition (and (in ?a) (link ?a ?b))
    :effect (and (in ?b) (been ?b) (not (in ?a)))))
"""
PROBLEM = """
(define (problem {name}) (:domain doors) (:objects a b c d)
  (:init (in {start}) (been {start}) (link a b) (link b a) (link b c) (link c b) (link c d))
  (:goal (and (been a) (been d))))
"""


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    (tmp_path / "domain.pddl").write_text(DOMAIN)
    for start in "ab":
        (tmp_path / f"{start}.pddl").write_text(PROBLEM.format(name=start, start=start))
    return [str(tmp_path / name) for name in ("domain.pddl", "a.pddl", "b.pddl")]


SMALL = ["--hidden", "4", "--layers", "1", "--steps", "5"]


def train(files: list[str], out: Path, *options: str) -> int:
    return cli.main(["train", *files[:2], "--out", str(out), *SMALL, *options])


def test_the_answer_names_every_checkpoint_and_the_best(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    code = train(files, out, "--validation", files[2], "--epochs", "2", "--json")
    assert code == ExitCode.DONE
    printed = capsys.readouterr()
    answer = json.loads(printed.out)
    keys = {"epoch", "loss", "success", "checkpoint"}
    assert all(set(epoch) >= keys for epoch in answer["epochs"])
    assert [epoch["epoch"] for epoch in answer["epochs"]] == [1, 2]
    assert all(Path(epoch["checkpoint"]).is_file() for epoch in answer["epochs"])
    assert answer["best"] in [epoch["checkpoint"] for epoch in answer["epochs"]]
    assert Path(answer["policy"]).is_file()
    assert "epoch 2: loss" in printed.err

    code = train(files, out, "--validation", files[2], "--epochs", "3", "--resume", "--json")
    assert code == ExitCode.DONE
    resumed = json.loads(capsys.readouterr().out)
    assert resumed["epochs"][:2] == answer["epochs"]
    assert len(resumed["epochs"]) == 3


def test_people_read_where_the_policy_is(files: list[str], tmp_path: Path, capsys) -> None:
    assert train(files, tmp_path / "out", "--epochs", "1") == ExitCode.DONE
    text = capsys.readouterr().out
    assert "1 epoch, all epochs done." in text
    assert f"policy      {tmp_path / 'out' / 'policy.pt'}" in text


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--epochs", "0"], "'0' is not a whole number from 1 to 9999"),
        (["--hidden", "x"], "'x' is not a whole number"),
        (["--seed", "-1"], "'-1' is not a whole number"),
        (["--learning-rate", "nan"], "not a learning rate"),
        (["--teacher", "nobody"], "invalid choice"),
    ],
)
def test_bad_options(files: list[str], tmp_path: Path, capsys, options, complaint: str) -> None:
    assert train(files, tmp_path / "out", *options) == ExitCode.BAD_INPUT
    assert complaint in capsys.readouterr().err


def test_bad_files(files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train([files[0], "missing.pddl"], tmp_path / "out") == ExitCode.BAD_INPUT
    assert "missing.pddl" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_an_interrupt_keeps_what_was_learned(files: list[str], tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = [sys.executable, "-m", "engine.cli", "train", *files[:2], "--out", str(out), *SMALL]
    process = subprocess.Popen(
        [*command, "--epochs", "9999", "--patience", "9999"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )
    try:
        assert process.stderr is not None
        assert "epoch 1:" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=90)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    assert as_a_shell_tells(process.returncode) == ExitCode.INTERRUPTED
    checkpoints = len(list((out / "checkpoints").glob("epoch-*.pt")))
    assert checkpoints >= 1
    assert train(files, out, "--resume", "--epochs", str(checkpoints + 1)) == ExitCode.DONE
    assert len(list((out / "checkpoints").glob("epoch-*.pt"))) >= checkpoints + 1


def test_a_time_limit_is_no_end(files: list[str], tmp_path: Path, capsys) -> None:
    out = tmp_path / "out"
    assert train(files, out, "--time-limit", "0.000001") == ExitCode.LIMIT_REACHED
    assert "--resume continues" in capsys.readouterr().err
    assert train(files, out, "--resume") == ExitCode.DONE
