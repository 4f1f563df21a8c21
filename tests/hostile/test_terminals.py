"""Escape sequences in whatever others write: none reaches a terminal, a log or a label."""

from __future__ import annotations

import io
import json
import logging
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import grpc
import pytest
import torch
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage, QPainter, QPalette
from pytestqt.qtbot import QtBot
from reference.hostile_policies import INFO
from reference.hostile_readers import FERRY

from app.services.messages import Messages
from app.services.theme import PlainTextStyle
from engine.commands.console import Console
from engine.logs import log_path, set_up_logging
from engine.plain_text import printable, printable_json
from engine.policies.remote import protocol as pheromone

EVIL = "\x1b]0;owned\x07\x1b[31m\x9b2J\x9d8;;x\x9c\x08\x7f\u202egpj.exe\u2066\u200f\u2028"
"""Title and color of a terminal, its contents erased, a link, and a name that is read backward."""
ALLOWED = "\t\n\r"
DOMAIN, PROBLEM = FERRY / "domain.pddl", FERRY / "problems" / "p01.pddl"
PLUGIN = f"""\
import sys
print({EVIL!r})
print({EVIL!r}, file=sys.stderr)


def factory(task):
    print({EVIL!r})
    raise ValueError({EVIL!r})
"""
Words = list[object]


def is_clean(text: str) -> bool:
    return not re.search(
        "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]",
        text,
    )


def pddl(folder: Path, text: str) -> Path:
    path = folder / "evil.pddl"
    path.write_text(text)
    return path


def domain_name(folder: Path) -> Words:
    return ["check", pddl(folder, DOMAIN.read_text().replace("domain ferry", f"domain {EVIL}"))]


def problem_name(folder: Path) -> Words:
    text = PROBLEM.read_text().replace("(problem ", f"(problem {EVIL}")
    return ["check", DOMAIN, pddl(folder, text)]


def object_name(folder: Path) -> Words:
    text = PROBLEM.read_text().replace("(:objects", f"(:objects {EVIL}")
    return ["task", DOMAIN, pddl(folder, text)]


def action_name(folder: Path) -> Words:
    text = DOMAIN.read_text().replace("(:action ", f"(:action {EVIL}", 1)
    return ["compare", DOMAIN, pddl(folder, text)]


def keyword(folder: Path) -> Words:
    return ["check", pddl(folder, f"(define (domain d) (:{EVIL}))")]


def missing_file(folder: Path) -> Words:
    return ["check", folder / f"no{EVIL}"]


def undecodable_name(folder: Path) -> Words:
    path = os.fsencode(folder) + b"/\xff\x9b.pddl"
    with open(path, "w") as file:
        file.write(f"(define ({EVIL}")
    return ["check", os.fsdecode(path)]


def option(folder: Path) -> Words:
    return ["check", DOMAIN, f"--{EVIL}"]


def plan(folder: Path) -> Words:
    path = folder / "evil.plan"
    path.write_text(f"(sail{EVIL} a b)\n")
    return ["validate", DOMAIN, PROBLEM, path]


def sas(folder: Path) -> Words:
    path = folder / "evil.sas"
    path.write_text(f"begin_version\n{EVIL}\n")
    return ["task", path]


def pool(folder: Path) -> Words:
    path = folder / "evil.pool"
    path.write_text(f"{EVIL}\n")
    words: Words = ["test", DOMAIN, PROBLEM, "--policy", "builtin:gc", "--pool", path]
    return [*words, "--oracle", "lookahead"]


def oracle(folder: Path) -> Words:
    words: Words = ["test", DOMAIN, PROBLEM, "--policy", "builtin:gc", "--pool", folder / "none"]
    return [*words, "--oracle", f"bmo{EVIL}:x=1"]


def campaign_key(folder: Path) -> Words:
    path = folder / "evil.toml"
    path.write_text(f'domain = "{DOMAIN}"\n"\\u001b]0;owned\\u0007\\u202e" = 1\n')
    return ["campaign", path, "--out", folder / "w.plumb"]


def campaign_policy(folder: Path) -> Words:
    path = folder / "evil.toml"
    path.write_text(
        f'domain = "{DOMAIN}"\nproblems = ["{PROBLEM}"]\npolicies = ["builtin:\\u001b[31m"]\n'
    )
    return ["campaign", path, "--out", folder / "w.plumb"]


def checkpoint(folder: Path) -> Words:
    metadata = {"kind": "asnets", "hidden": 2, "layers": 1, "domain_name": EVIL, "domain_hash": "h"}
    metadata |= {"actions": [EVIL], "predicates": [], "details": {EVIL: EVIL}}
    contents = {"plumbline": 1, "metadata": json.dumps(metadata), "state_dict": {}}
    torch.save(contents, folder / "evil.pt")
    return ["policy", folder / "evil.pt"]


def published_policy(folder: Path) -> Words:
    path = folder / "evil.policy"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            INFO + "CREATE TABLE asnets_weights (id INTEGER, layer, sig, idx, name, weights)"
        )
        connection.execute("INSERT INTO asnets_info VALUES ('domain_name', -1, -1.0, ?)", (EVIL,))
        connection.execute("INSERT INTO asnets_info VALUES (?, -1, -1.0, ?)", (EVIL, EVIL))
        connection.commit()
    return ["policy", path]


def plugin(folder: Path) -> Words:
    (folder / "evil.py").write_text(PLUGIN)
    return ["run", f"{folder / 'evil.py'}:factory", DOMAIN, PROBLEM]


def plugin_name(folder: Path) -> Words:
    return ["run", f"{folder / 'none.py'}:{EVIL}", DOMAIN, PROBLEM]


def verbose_plugin(folder: Path) -> Words:
    return [*plugin(folder), "--verbose"]


WAYS: dict[str, Callable[[Path], Words]] = {
    make.__name__: make
    for make in (
        *(domain_name, problem_name, object_name, action_name, keyword, missing_file),
        *(undecodable_name, option, plan, sas, pool, oracle, campaign_key, campaign_policy),
        *(checkpoint, published_policy, plugin, plugin_name, verbose_plugin),
    )
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CONFIG", "DATA", "CACHE", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / "home" / name.lower()))
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def said_by(*words: object) -> tuple[int, str, str]:
    """What a command prints, as bytes of a terminal."""
    process = subprocess.run(
        [sys.executable, "-P", "-m", "engine.cli", *map(str, words)],
        capture_output=True,
        check=False,
    )
    out, err = (text.decode("utf-8") for text in (process.stdout, process.stderr))
    assert process.returncode != 70, err
    assert is_clean(out), out
    assert is_clean(err), err
    if log_path().exists():
        assert is_clean(log_path().read_text())
    return process.returncode, out, err


@pytest.mark.parametrize("way", WAYS)
def test_no_escape_sequence_comes_through(home: Path, way: str) -> None:
    words = WAYS[way](home)
    code, out, err = said_by(*words)
    assert code in (0, 1, 2, 3)
    assert out or err
    assert code != 0 or "owned" in out


def test_what_a_server_says(home: Path) -> None:
    def refuse(request: bytes, context: Any) -> bytes:
        del request
        context.abort(grpc.StatusCode.INTERNAL, EVIL.encode("ascii", "ignore").decode())

    with ThreadPoolExecutor(1) as threads:
        server = grpc.server(threads)
        handlers = {
            method.name: grpc.unary_unary_rpc_method_handler(refuse)
            for method in (pheromone.TASK, pheromone.OPERATOR)
        }
        handler = grpc.method_handlers_generic_handler(pheromone.SERVICE, handlers)
        server.add_generic_rpc_handlers((handler,))
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        code, _, err = said_by("run", f"grpc://127.0.0.1:{port}", DOMAIN, PROBLEM)
        server.stop(0).wait()
    assert code == 2
    assert "error:" in err


@pytest.fixture
def stranger(sound: Path, home: Path) -> Path:
    """A workspace in which everything that has a name or a text is evil."""
    path = Path(shutil.copy(sound, home / "w.plumb"))
    with closing(sqlite3.connect(path)) as connection:
        for statement in (
            "UPDATE OR IGNORE problems SET name = ?1, path = ?1",
            "UPDATE OR IGNORE policies SET name = ?1",
            "UPDATE findings SET note = ?1, oracle = ?1, evidence_kind = ?1",
            "UPDATE units SET error = ?1",
            "UPDATE root_causes SET action = ?1",
            "UPDATE inputs SET name = ?1",
            "UPDATE log SET text = ?1",
        ):
            connection.execute(statement, (EVIL,))
        connection.commit()
    return path


@pytest.mark.parametrize("command", ["bugs", "verify", "localize", "report", "export"])
def test_what_a_workspace_says(stranger: Path, home: Path, command: str) -> None:
    options: dict[str, Words] = {"report": ["--out", home / f"r{EVIL}.html"]}
    options |= {"localize": ["--bug", 1], "verify": ["--bug", 1]}
    options["export"] = ["--bug", 1, "--out", home / f"out{EVIL}"]
    code, out, err = said_by(command, stranger, *options.get(command, []))
    assert code in (0, 1, 2, 3)
    assert out or err


@pytest.mark.parametrize("suffix", ["html", "csv", "json", "xml"])
def test_a_report_may_be_shown_by_a_terminal(stranger: Path, home: Path, suffix: str) -> None:
    assert said_by("report", stranger, "--out", home / f"r.{suffix}")[0] == 0
    text = (home / f"r.{suffix}").read_text()
    assert "owned" in text
    assert is_clean(text)


def test_a_bundle_may_be_shown_by_a_terminal(stranger: Path, home: Path) -> None:
    said_by("export", stranger, "--bug", 1, "--out", home / "out")
    text = (home / "out" / "bug-1" / "README.md").read_text()
    assert "owned" in text
    assert is_clean(text)


def test_json_means_what_it_meant(stranger: Path) -> None:
    _, out, _ = said_by("bugs", stranger, "--json")
    notes = {bug["found_by"] for bug in json.loads(out)["bugs"]}
    assert any(EVIL in note for note in notes)


# where it is done


@pytest.mark.parametrize("number", [*range(0xA0), 0x61C, *range(0x200B, 0x2070), 0xD800, 0xE0001])
def test_every_control_character_is_shown_as_its_code(number: int) -> None:
    character = chr(number)
    shown = printable(f"a{character}b")
    assert is_clean(shown)
    document = json.dumps(f"a{character}b", ensure_ascii=False)
    assert json.loads(printable_json(document)) == f"a{character}b"
    assert is_clean(printable_json(document))


def test_ordinary_text_stays() -> None:
    text = "Zürich, \t\u0434\u0432\u0430\n日本語 🙂 é (a b) [red]"
    assert printable(text) == text
    assert printable_json(text) == text


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_on_a_terminal() -> None:
    terminal = _Terminal()
    with Console(as_json=False, stderr=terminal).progress("test") as bar:
        bar.update(1, f"{EVIL}[bold]", 2)
    shown = terminal.getvalue()
    assert "\x1b]0;" not in shown
    assert "\x9b" not in shown
    assert "\u202e" not in shown


@pytest.fixture
def log(home: Path) -> Iterator[Path]:
    set_up_logging()
    yield log_path()
    for handler in list(logging.getLogger("engine").handlers):
        logging.getLogger("engine").removeHandler(handler)
        handler.close()


def test_a_message_cannot_pretend_to_be_a_line_of_the_log(log: Path) -> None:
    forged = "2026-01-01 00:00:00,000 1 ERROR engine: all is well"
    logging.getLogger("engine.test").warning("%s\n%s", EVIL, forged)
    assert is_clean(log.read_text())
    assert not [line for line in log.read_text().splitlines() if line.startswith(forged)]


def test_labels_of_the_window(qtbot: QtBot) -> None:
    """Drawn by our style, a name looks like its codes and not like what it pretends to be."""
    style = PlainTextStyle()

    def drawn(text: str) -> QImage:
        image = QImage(400, 30, QImage.Format.Format_RGB32)
        image.fill(Qt.GlobalColor.white)
        painter = QPainter(image)
        style.drawItemText(painter, image.rect(), 0, QPalette(), True, text)
        painter.end()
        return image

    assert drawn("a\u202efdp.exe") == drawn(r"a\u202efdp.exe")


def test_messages_of_the_window() -> None:
    message = Messages().error(EVIL, EVIL)
    assert is_clean(message.text)
    assert is_clean(message.details)
