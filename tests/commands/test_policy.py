"""`plumbline policy`: what it says, what fits, and the exit codes."""

import json
from pathlib import Path

import pytest
import torch

from engine.cli import main
from engine.pddl import parse_domain
from engine.policies.asnets.checkpoint import save_checkpoint
from engine.policies.asnets.network import Asnets
from engine.policies.asnets.relatedness import relate

DOMAIN = """\
(define (domain lamps)
  (:predicates (on ?l) (wired ?l))
  (:action switch-on :parameters (?l) :precondition (wired ?l) :effect (on ?l))
  (:action switch-off :parameters (?l) :precondition (on ?l) :effect (not (on ?l))))
"""


@pytest.fixture
def domain(tmp_path: Path) -> Path:
    path = tmp_path / "domain.pddl"
    path.write_text(DOMAIN)
    return path


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    model = parse_domain(DOMAIN)
    folder = tmp_path / "trained"
    folder.mkdir()
    torch.manual_seed(0)
    save_checkpoint(folder / "first.pt", Asnets(relate(model)), model, {"epoch": 4})
    return folder / "first.pt"


def test_a_policy_that_fits(
    checkpoint: Path, domain: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["policy", str(checkpoint), "--domain", str(domain), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["kind"], answer["domain"], answer["fits"]) == ("asnets", "lamps", True)
    assert answer["details"]["epoch"] == 4
    assert answer["reasons"] == []


def test_a_policy_of_another_domain(
    checkpoint: Path, domain: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    domain.write_text(DOMAIN.replace("switch-off", "turn-off").replace("wired", "plugged"))
    assert main(["policy", str(checkpoint), "--domain", str(domain), "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert not answer["fits"]
    assert "the policy does not know the actions 'turn-off'" in answer["reasons"]
    assert "the domain lacks the predicates 'wired'" in answer["reasons"]


def test_without_a_domain_nothing_is_reported_about_fitting(
    checkpoint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["policy", str(checkpoint)]) == 0
    text = capsys.readouterr().out
    assert "kind    asnets\ndomain  lamps\n" in text
    assert "actions  switch-on, switch-off\n" in text
    assert "fit" not in text
    assert main(["policy", "builtin:gc", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["fits"] is None


def test_a_plugin_is_not_run_so_nothing_is_reported_about_fitting(
    domain: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plugin = domain.with_name("plugin.py")
    plugin.write_text("raise SystemExit(3)")
    assert main(["policy", f"{plugin}:make", "--domain", str(domain), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["fits"] is None
    assert main(["policy", f"{plugin}:make", "--domain", str(domain)]) == 0
    assert "whether it fits the domain is checked when it runs" in capsys.readouterr().out


def test_a_folder_of_checkpoints(
    checkpoint: Path, domain: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkpoint.with_name("second.pt").write_bytes(checkpoint.read_bytes())
    arguments = ["policy", str(checkpoint.parent), "--domain", str(domain)]
    assert main([*arguments, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["kind"], answer["domain"], answer["fits"]) == ("portfolio", "lamps", True)
    files = [item["file"] for item in answer["details"]["policies"]]
    assert files == [str(checkpoint), str(checkpoint.with_name("second.pt"))]
    domain.write_text(DOMAIN.replace("wired", "plugged"))
    assert main(arguments) == 1
    assert f"does not fit: {checkpoint}: " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ("none.policy", "cannot be read"),
        ("builtin:best", "unknown built-in policy"),
        ("domain.pddl", "not a policy file"),
        (".", "no policy files"),
    ],
)
def test_what_is_no_policy(
    domain: Path, policy: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = policy if ":" in policy else str(domain.parent / policy)
    assert main(["policy", spec]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("error: ")
    assert message in output.err
