"""The project screen: empty, an example, an error in a file, a policy that does not fit, problems
that cannot be tested.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from app.services.folders import EXAMPLES
from app.views.project.page import ProjectPage
from tools.screenshots.stage import LARGE, Stage

PLUGIN = "def factory(task):\n    return Mine(task)\n"


def take(stage: Stage) -> None:
    window = stage.blank()
    window.show_page("project")
    stage.grab("project-empty")
    window = stage.example()
    window.show_page("project")
    page = window.current_page
    assert isinstance(page, ProjectPage)
    stage.wait(lambda: not page.files.is_busy, "for the files")
    page.table.select_row(1)
    stage.grab("project", docs=True)
    with tempfile.TemporaryDirectory() as folder:
        _troubles(stage, Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        _obstacles(stage, Path(folder))


def _obstacles(stage: Stage, folder: Path) -> None:
    """A goal that asks for nothing, and one with a preference."""
    ferry = EXAMPLES / "ferry"
    shutil.copy(ferry / "problems" / "p01.pddl", folder)
    head, goal, _ = (ferry / "problems" / "p02.pddl").read_text().partition("(:goal")
    (folder / "p02.pddl").write_text(f"{head}{goal} (and)))\n")
    (folder / "p03.pddl").write_text(f"{head}{goal} (preference early (at c1 l1))))\n")
    window = stage.blank()
    window.show_page("project", [ferry / "domain.pddl", folder])
    page = window.current_page
    assert isinstance(page, ProjectPage)
    page.files.add_policy("builtin:hadd")
    stage.wait(lambda: not page.files.is_busy, "for the files")
    page.table.select_row(1)
    stage.grab("project-obstacles", docs=True)
    window.show_page("campaign")
    stage.grab("campaign-obstacles")
    page.context.document.undo_stack.clear()


def _troubles(stage: Stage, folder: Path) -> None:
    """A problem with a mistake, a policy of another domain, and an untrusted plug-in."""
    ferry = EXAMPLES / "ferry"
    text = (ferry / "problems" / "p02.pddl").read_text()
    (folder / "p02.pddl").write_text(text.replace("(ferry-at", "(fery-at", 1))
    shutil.copy(ferry / "problems" / "p01.pddl", folder)
    (folder / "mine.py").write_text(PLUGIN)
    window = stage.blank()
    window.resize(LARGE)
    window.show_page("project", [ferry / "domain.pddl", folder / "p01.pddl", folder / "p02.pddl"])
    page = window.current_page
    assert isinstance(page, ProjectPage)
    page.add_files([EXAMPLES / "workshop" / "policies" / "policy.pt", folder / "mine.py"])
    page.files.add_policy("builtin:hadd")
    stage.wait(lambda: not page.files.is_busy, "for the files")
    page.cards.choose("builtin:hadd")
    stage.grab("project-error")
    page.context.document.undo_stack.clear()
