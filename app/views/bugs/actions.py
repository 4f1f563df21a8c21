"""What can be done with bugs, as actions with keys: for the menu, the table and the keyboard."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QAction, QGuiApplication, QKeySequence
from PySide6.QtWidgets import QFileDialog, QInputDialog, QMenu

from app.models.step_cursor import Side
from app.services.folders import last_folder
from app.views.unit_export import UnitExport
from engine.errors import PlumblineError
from engine.task.plans import format_operator_plan
from engine.task.task import Task
from engine.usecases.export import problems_folder, reproduce_command, write_problem
from engine.workspace.rows import BugRow
from engine.workspace.triage import DUPLICATE

if TYPE_CHECKING:
    from app.views.bugs.page import BugsPage


from collections.abc import Sequence

from PySide6.QtGui import QUndoCommand

from engine.workspace.workspace import Workspace

Told = Callable[[list[int]], None]
"""Hears of bugs whose status or note is different now."""
Failed = Callable[[str], object]
"""Hears why a decision could not be kept."""


class Decision(QUndoCommand):
    """A status, a note, or both, for some bugs."""

    def __init__(
        self,
        store: Workspace,
        rows: Sequence[BugRow],
        told: Told,
        failed: Failed,
        *,
        status: str | None = None,
        note: str | None = None,
        duplicate_of: int | None = None,
    ) -> None:
        super().__init__(_words(rows, status))
        self._store, self._told, self._failed = store, told, failed
        self._before = [(row.id, row.status, row.note, row.duplicate_of) for row in rows]
        self._after = [
            (
                row.id,
                status or row.status,
                row.note if note is None else note,
                row.duplicate_of if status is None else duplicate_of,
            )
            for row in rows
        ]

    def redo(self) -> None:
        self._write(self._after)

    def undo(self) -> None:
        self._write(self._before)

    def _write(self, decisions: list[tuple[int, str, str, int | None]]) -> None:
        alike: dict[tuple[str, str, int | None], list[int]] = {}
        for bug, status, note, original in decisions:
            alike.setdefault((status, note, original), []).append(bug)
        try:
            for (status, note, original), bugs in alike.items():
                self._store.set_status(bugs, status, note, original)
        except PlumblineError as error:
            self.setObsolete(True)  # nothing happened, so there is nothing to undo
            self._failed(f"The decision cannot be kept: {error}")
        self._told([bug for bug, *_ in decisions])


def _words(rows: Sequence[BugRow], status: str | None) -> str:
    which = f"bug {rows[0].id}" if len(rows) == 1 else f"{len(rows)} bugs"
    verbs = {"confirmed": "confirm", "ignored": "ignore", "duplicate": "mark as duplicate"}
    if status is None:
        return f"note on {which}"
    return f"{verbs[status]} {which}" if status in verbs else f"mark {which} as {status}"


EXPORT_FOLDER = "bugs/export-folder"
MAX_SPIN_BOX_VALUE = 2**31 - 1  # that Qt's fields can show
Part = str | None | tuple[str, tuple[str | None, ...]]
"""An action's name, a line, or a submenu's title and what is in it."""

MENU: tuple[Part, ...] = (
    *("confirm", "ignore", "duplicate", "duplicate-of", "new", "note", None),
    *("localize", "verify", "find-plan", None),
    ("Table", ("next-bug", "previous-bug", "advance", None, "find", "sort", "columns")),
    (
        "Steps",
        (
            *("next-step", "previous-step", None, "next-difference", "previous-difference"),
            *(None, "bad-action"),
        ),
    ),
    ("Show", tuple(f"tab-{number}" for number in range(5))),
    ("Copy", ("copy-command", "copy-policy-plan", "copy-better-plan")),
    None,
    *("export", "export-problem", "open-problem", "export-unit"),
)
CONTEXT_MENU = (
    *(None, "confirm", "ignore", "duplicate", "duplicate-of", "new", "note", None),
    *("localize", "verify", "find-plan", None),
    *("export", "export-problem", "open-problem", "export-unit"),
)
"""What is done with bugs; how to get about is in the menu of the screen."""


class BugActions(QObject):
    """`menu` is the screen's menu; all actions are `by_name`."""

    def __init__(self, page: BugsPage) -> None:
        super().__init__(page)
        self._page = page
        self._exchange = UnitExport(page.context, page)
        self._noted: list[BugRow] = []
        self.by_name: dict[str, QAction] = {}
        self._add_ways_about()
        self._add_decisions()
        self._add_work()
        self.menu = [self._part(part) for part in MENU]
        page.view.addActions([self._part(part) for part in CONTEXT_MENU])
        names = ("copy-command", "copy-policy-plan", "copy-better-plan")
        page.detail.plan.addActions([self.by_name[name] for name in names])

    def _add_ways_about(self) -> None:
        page, detail = self._page, self._page.detail
        self._add("next-bug", "Next bug", self.next_bug, "J", "Alt+Down")
        self._add("previous-bug", "Previous bug", self.previous_bug, "K", "Alt+Up")
        self._add("find", "Filter bugs", page.filter.focus, "Ctrl+F", "/")
        self._add("sort", "Sort by the current column", page.view.sort_by_current, "S", "Shift+S")
        self._add("columns", "Choose columns", page.view.choose_columns, "Ctrl+Shift+C")
        forth, back = detail.plan.next_difference, detail.plan.previous_difference
        self._add("next-difference", "Next difference", forth, "F8")
        self._add("previous-difference", "Previous difference", back, "Shift+F8")
        self._add("next-step", "Next step", detail.steps.forth, "Alt+Right")
        self._add("previous-step", "Previous step", detail.steps.back, "Alt+Left")
        self._add("bad-action", "Go to the bad action", detail.plan.go_to_bad_step, "B", icon="bad")
        for number in range(detail.tabs.count()):
            title = detail.tabs.tabText(number)
            self._add(f"tab-{number}", f"Show {title}", self._shower(number), f"Alt+{number + 1}")

    def _add_decisions(self) -> None:
        self._add("confirm", "Confirm", self.confirm, "C", icon="check")
        self._add("ignore", "Ignore", self.ignore, "I", icon="ignore")
        self._add("duplicate", "Mark as duplicate", self.duplicate, "D", icon="duplicate")
        self._add(
            "duplicate-of", "Mark as duplicate of another\u2026", self.duplicate_of, "Shift+D"
        )
        self._add("new", "Mark as new", self.mark_new, "U", icon="new")
        self._add("note", "Write a note", self.write_note, "N", icon="note")
        self._advance = self._add("advance", "Go on after a decision", self._keep_advance)
        self._advance.setCheckable(True)
        self._advance.setChecked(self._page.context.settings.get("bugs/advance", True))

    def _add_work(self) -> None:
        self._add("localize", "Localize", self.localize, "L", icon="localize")
        self._add("verify", "Verify", self.verify, "V", icon="verify")
        self._add("find-plan", "Find a better plan", self.find_plan, "P", icon="search")
        self._add("export", "Export as bundles\u2026", self.export, "Ctrl+E", icon="export")
        self._add("export-problem", "Export the state as a problem\u2026", self.export_problem)
        self._add("open-problem", "Open as problem", self.open_as_problem, icon="problem")
        self._add("export-unit", "Export for other tools\u2026", self.export_unit)
        self._add("copy-command", "Copy the command to reproduce", self.copy_command)
        self._add("copy-policy-plan", "Copy the policy's plan", self.copy_policy_plan)
        self._add("copy-better-plan", "Copy the better plan", self.copy_better_plan)

    def _part(self, part: Part) -> QAction:
        if isinstance(part, str):
            return self.by_name[part]
        if part is None:
            line = QAction(self._page)
            line.setSeparator(True)
            return line
        title, inner = part
        menu = QMenu(title, self._page)
        menu.setObjectName(f"bugs-{title.lower()}")
        menu.addActions([self._part(name) for name in inner])
        return menu.menuAction()

    def keep_note(self, note: str) -> None:
        """What was written is for the bugs that were selected when writing began."""
        rows = [row for row in self._noted if row.note != note]
        self._noted = []
        if rows:
            self._decide(rows, note=note)

    @Slot()
    def next_bug(self) -> None:
        self._page.view.step(1)

    @Slot()
    def previous_bug(self) -> None:
        self._page.view.step(-1)

    @Slot()
    def confirm(self) -> None:
        self._set_status("confirmed")

    @Slot()
    def ignore(self) -> None:
        self._set_status("ignored")

    @Slot()
    def duplicate(self) -> None:
        self._set_status(DUPLICATE)

    @Slot()
    def duplicate_of(self) -> None:
        """Asks for the bug that the selected ones repeat; the first of their region comes first."""
        rows = self._page.selected()
        if not rows:
            return
        likely = min(rows[0].duplicate_of or rows[0].region or 1, MAX_SPIN_BOX_VALUE)
        which = f"Bug {rows[0].id} repeats" if len(rows) == 1 else f"{len(rows)} bugs repeat"
        number, chosen = QInputDialog.getInt(
            self._page, "Mark as duplicate", f"{which} the bug with the number", likely, 1
        )
        if chosen and not self._page.context.document.store.bug_rows([number]):
            self._page.context.messages.error(
                f"There is no bug {number}: take a number from the first column of the table."
            )
        elif chosen:
            self._decide(rows, status=DUPLICATE, duplicate_of=number)

    @Slot()
    def mark_new(self) -> None:
        self._set_status("new")

    @Slot()
    def write_note(self) -> None:
        self._noted = self._page.selected()
        if self._noted:
            self._page.detail.header.edit_note(self._noted[0].note)

    @Slot()
    def localize(self) -> None:
        if bugs := self._selected_numbers():
            self._page.jobs.localize(bugs)

    @Slot()
    def verify(self) -> None:
        if bugs := self._selected_numbers():
            self._page.detail.evidence.show_checking()
            self._page.jobs.verify(bugs)

    @Slot()
    def find_plan(self) -> None:
        if bugs := self._selected_numbers():
            self._page.jobs.find_plan(bugs[0])

    @Slot()
    def export(self) -> None:
        bugs, folder = self._selected_numbers(), str(self._export_folder())
        if bugs and (name := QFileDialog.getExistingDirectory(self._page, "Export to", folder)):
            self._page.context.settings.set(EXPORT_FOLDER, name)
            self._page.jobs.export(bugs, Path(name))

    @Slot()
    def export_problem(self) -> None:
        known = self._page.detail.known
        if known is None:
            return
        suggested = str(self._export_folder() / f"bug-{known.bug.row.id}.pddl")
        name, _ = QFileDialog.getSaveFileName(
            self._page, "Export the state as a problem", suggested, "PDDL problems (*.pddl)"
        )
        if name:
            self._page.context.settings.set(EXPORT_FOLDER, str(Path(name).parent))
            self._write(known.task, Path(name))

    @Slot()
    def export_unit(self) -> None:
        """The pool and all bugs of a unit, at first of the one this bug is of."""
        rows = self._page.selected()
        self._exchange.ask(unit=rows[0].unit if rows else None)

    def _export_folder(self) -> Path:
        context = self._page.context
        return last_folder(context.settings, EXPORT_FOLDER, context.document.path)

    @Slot()
    def open_as_problem(self) -> None:
        """Back into the project: the bug state becomes a problem beside the workspace."""
        known = self._page.detail.known
        if known is None:
            return
        folder = problems_folder(self._page.context.document.path)
        path = self._write(known.task, folder / f"bug-{known.bug.row.id}.pddl")
        if path is not None:
            self._page.page_requested.emit("project", [path])

    @Slot()
    def copy_command(self) -> None:
        known = self._page.detail.known
        if known is not None:
            store = self._page.context.document.store
            command = reproduce_command(store, known.bug, known.task)
            QGuiApplication.clipboard().setText(command)

    @Slot()
    def copy_policy_plan(self) -> None:
        self._copy_plan(Side.POLICY)

    @Slot()
    def copy_better_plan(self) -> None:
        self._copy_plan(Side.BETTER)

    def _copy_plan(self, side: Side) -> None:
        """As a plan file."""
        known, comparison = self._page.detail.known, self._page.detail.cursor_at.comparison
        if known is None or comparison is None:
            return
        trace = comparison.policy if side is Side.POLICY else comparison.better
        operators = [step.operator for step in trace.steps] if trace is not None else []
        QGuiApplication.clipboard().setText(format_operator_plan(known.task, operators))

    def _add(
        self, name: str, text: str, slot: Callable[[], object], *keys: str, icon: str = ""
    ) -> QAction:
        action = QAction(text, self._page)
        action.setObjectName(name)
        action.setShortcuts([QKeySequence(key) for key in keys])
        action.triggered.connect(slot)
        if icon:
            self._page.context.theme.keep_icon(action, icon)
        self._page.addAction(action)
        self.by_name[name] = action
        return action

    def _shower(self, tab: int) -> Callable[[], None]:
        def show() -> None:
            self._page.detail.tabs.setCurrentIndex(tab)

        return show

    def _selected_numbers(self) -> list[int]:
        return [row.id for row in self._page.selected()]

    def _set_status(self, status: str) -> None:
        rows = self._page.selected()
        changed = [row for row in rows if row.status != status]
        if changed:
            self._decide(changed, status=status)
        if len(rows) == 1 and self._advance.isChecked():
            self._page.view.step(1)

    def _decide(
        self,
        rows: list[BugRow],
        *,
        status: str | None = None,
        note: str | None = None,
        duplicate_of: int | None = None,
    ) -> None:
        """By what the workspace says of them now: the table may be a moment behind."""
        context = self._page.context
        store = context.document.store
        try:
            known = store.bug_rows([row.id for row in rows])
        except PlumblineError as error:
            context.messages.error(f"The decision cannot be kept: {error}")
            return
        context.document.undo_stack.push(
            Decision(
                store,
                known,
                self._page.bugs_changed,
                context.messages.error,
                status=status,
                note=note,
                duplicate_of=duplicate_of,
            )
        )

    @Slot()
    def _keep_advance(self) -> None:
        self._page.context.settings.set("bugs/advance", self._advance.isChecked())

    def _write(self, task: Task, path: Path) -> Path | None:
        known = self._page.detail.known
        assert known is not None
        store = self._page.context.document.store
        try:
            return write_problem(store, known.bug, task, path)
        except PlumblineError as error:
            self._page.context.messages.error(str(error))
            return None
