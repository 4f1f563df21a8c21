import argparse
import errno
import logging
import sys
from types import SimpleNamespace

import pytest

from engine import cli
from engine.commands.console import Console
from engine.errors import ExitCode, LimitReachedError, Location, PddlError


@pytest.fixture(autouse=True)
def _no_handlers():
    """Each test begins as a process does: nothing is logged anywhere."""
    logger = logging.getLogger("engine")
    for handler in logger.handlers[:]:
        logger.removeHandler(handler)
        handler.close()


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, tmp_path) -> SimpleNamespace:
    """A command `probe` whose behavior each test chooses."""
    module = SimpleNamespace(configure=lambda parser: None, run=lambda args, console: ExitCode.DONE)
    monkeypatch.setitem(cli.COMMANDS, "probe", "a command for tests")
    monkeypatch.setattr(cli, "load_command", lambda name: module)
    monkeypatch.setattr("engine.logs.log_path", lambda: tmp_path / "plumbline.log")
    return module


def raising(error: BaseException):
    def run(args: argparse.Namespace, console: Console) -> int:
        raise error

    return run


def test_the_exit_code_of_a_command_is_passed_on(command: SimpleNamespace) -> None:
    command.run = lambda args, console: ExitCode.ANSWER_IS_NO
    assert cli.main(["probe"]) == ExitCode.ANSWER_IS_NO


def test_a_user_error_is_one_line(command: SimpleNamespace, capsys) -> None:
    command.run = raising(PddlError("unknown type", Location.of("d.pddl", 3, 4), "declare it"))
    assert cli.main(["probe"]) == ExitCode.BAD_INPUT
    assert capsys.readouterr().err == "error: d.pddl:3:4: unknown type; declare it\n"


def test_a_limit_has_its_own_exit_code(command: SimpleNamespace) -> None:
    command.run = raising(LimitReachedError("no answer after 3 s"))
    assert cli.main(["probe"]) == ExitCode.LIMIT_REACHED


def test_interrupting_is_no_error(command: SimpleNamespace, capsys) -> None:
    command.run = raising(KeyboardInterrupt())
    assert cli.main(["probe"]) == ExitCode.INTERRUPTED
    assert capsys.readouterr().err == "stopped\n"


def test_too_many_open_files_are_a_limit(command: SimpleNamespace, capsys) -> None:
    command.run = raising(OSError(errno.EMFILE, "Too many open files"))
    assert cli.main(["probe"]) == ExitCode.LIMIT_REACHED
    assert "ulimit -n" in capsys.readouterr().err


def test_a_defect_is_logged_and_shown_in_one_line(
    command: SimpleNamespace, capsys, tmp_path
) -> None:
    command.run = raising(ZeroDivisionError("oops"))
    assert cli.main(["probe"]) == ExitCode.INTERNAL
    shown = capsys.readouterr().err
    assert shown.count("\n") == 1
    assert str(tmp_path / "plumbline.log") in shown
    assert "ZeroDivisionError: oops" in (tmp_path / "plumbline.log").read_text()


def test_a_command_that_cannot_be_loaded_is_a_defect_of_one_line(
    command: SimpleNamespace, capsys, tmp_path
) -> None:
    command.configure = lambda parser: 1 / 0
    assert cli.main(["probe"]) == ExitCode.INTERNAL
    assert capsys.readouterr().err.count("\n") == 1
    assert "ZeroDivisionError" in (tmp_path / "plumbline.log").read_text()


def test_wrong_options_are_bad_input(command: SimpleNamespace, capsys) -> None:
    assert cli.main(["probe", "--no-such-option"]) == ExitCode.BAD_INPUT
    assert capsys.readouterr().err.startswith("error: ")


def test_an_unknown_command_is_bad_input(capsys) -> None:
    assert cli.main(["chekc"]) == ExitCode.BAD_INPUT
    assert "chekc" in capsys.readouterr().err


def test_without_a_command_the_help_is_shown(capsys) -> None:
    assert cli.main([]) == ExitCode.BAD_INPUT
    assert "check" in capsys.readouterr().err


def test_version(capsys) -> None:
    assert cli.main(["--version"]) == ExitCode.DONE
    assert capsys.readouterr().out.startswith("plumbline 0.")


@pytest.mark.parametrize("name", list(cli.COMMANDS))
def test_every_command_explains_itself(name: str, capsys) -> None:
    assert cli.main([name, "--help"]) == ExitCode.DONE
    assert f"plumbline {name}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("command", "slow"),
    [
        ("None", ("torch", "z3", "grpc")),
        ("'campaign'", ("engine.usecases.verify", "ssl")),
        ("'report'", ("networkx", "engine.oracles.registry")),
        ("'task'", ("numpy",)),
    ],
)
def test_commands_import_what_they_need_to_begin(command: str, slow: tuple[str, ...]) -> None:
    """The command line answers at once: torch, for example, is imported where it is needed."""
    import subprocess

    code = (
        f"import sys; from engine.cli import build_parser; build_parser({command}); "
        f"print(*(name for name in {slow} if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not done.stdout.split()


def test_too_little_memory_is_a_limit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(args: object, console: object) -> int:
        raise MemoryError

    monkeypatch.setattr("engine.commands.doctor.run", run)
    assert cli.main(["doctor"]) == ExitCode.LIMIT_REACHED
    assert "not enough memory" in capsys.readouterr().err
