"""The equivalence screen: nothing yet, equivalent versions, a counterexample, both texts."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtTest import QTest

from app.services.folders import EXAMPLES
from app.views.equivalence.page import EXAMPLE, EquivalencePage
from tools.screenshots.stage import LARGE, SIZE, Stage

VERSIONS = EXAMPLES.parent / "versions"


def take(stage: Stage) -> None:
    window = stage.blank()
    window.show_page("equivalence")
    page = window.current_page
    assert isinstance(page, EquivalencePage)
    stage.grab("equivalence-empty")
    page.open_example()
    stage.grab("equivalence-ready")
    _compare(stage, page)
    stage.grab("equivalence-equivalent")
    page.b.load(VERSIONS / "ferry-forgetful.pddl")
    _compare(stage, page)
    stage.grab("equivalence-counterexample", docs=True)
    window.resize(LARGE)
    stage.grab("equivalence-counterexample-large")
    window.resize(SIZE)
    for number, name in enumerate(("text", "structure", "history"), start=1):
        page.tabs.setCurrentIndex(number)
        QTest.qWait(100)
        stage.grab(f"equivalence-{name}")
    _error(stage, page)


def _compare(stage: Stage, page: EquivalencePage) -> None:
    page.start()
    stage.settle()


def _error(stage: Stage, page: EquivalencePage) -> None:
    broken = Path(page.context.document.path).with_name("broken.pddl")
    broken.write_text(EXAMPLE.read_text().replace("(ferry-at ?to)", "(fery-at ?to)", 1))
    page.tabs.setCurrentIndex(0)
    page.b.load(broken)
    stage.grab("equivalence-error")
