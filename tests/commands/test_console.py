import io
import json

from engine.commands.console import Console


def test_json_mode_prints_one_document_and_nothing_else() -> None:
    out, err = io.StringIO(), io.StringIO()
    console = Console(as_json=True, stdout=out, stderr=err)
    console.message("working")
    console.result({"ok": True, "name": "größe"}, "text for people")
    assert json.loads(out.getvalue()) == {"ok": True, "name": "größe"}
    assert err.getvalue() == "working\n"


def test_text_mode_ends_with_one_newline() -> None:
    out = io.StringIO()
    Console(as_json=False, stdout=out, stderr=io.StringIO()).result({}, "all good")
    assert out.getvalue() == "all good\n"


def test_progress_is_silent_without_a_terminal() -> None:
    err = io.StringIO()
    console = Console(as_json=False, stdout=io.StringIO(), stderr=err)
    with console.progress("searching") as bar:
        bar.update(3, "3 states")
    assert err.getvalue() == ""


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_shows_title_and_text_on_a_terminal() -> None:
    err = _Terminal()
    console = Console(as_json=False, stdout=io.StringIO(), stderr=err)
    with console.progress("searching", total=10) as bar:
        bar.update(3, "3 states")
    assert "searching 3 states" in err.getvalue()
