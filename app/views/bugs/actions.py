"""The actions on bugs: for the screen's menu, the context menu of the table and the keyboard."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QAction, QGuiApplication, QUndoCommand
from PySide6.QtWidgets import QFileDialog, QInputDialog, QMenu

from app.models.step_cursor import Side
from app.services.folders import last_folder
from app.views.unit_export import UnitExport
from app.widgets.builders import action
from engine.errors import PlumblineError
from engine.records.finding import BugStatus
from engine.task.plans import format_operator_plan
from engine.task.task import Task
from engine.usecases.export import problems_folder, reproduce_command, write_problem
from engine.workspace.rows import BugRow
from engine.workspace.triage import Undo
from engine.workspace.witnesses import DeletedWitnesses
from engine.workspace.workspace import Workspace

if TYPE_CHECKING:
    from app.views.bugs.page import BugsPage

EXPORT_FOLDER = "bugs/export-folder"
MAX_SPIN_BOX_VALUE = 2**31 - 1
MARK_AS_DUPLICATE = "Mark as duplicate of bug…"
Decide = Callable[[], Undo]
"""Saves a status or note, and returns what takes it back."""
Part = str | None | tuple[str, tuple[str | None, ...]]
"""The name of an action, a separator, or a submenu with its title and entries."""

MENU: tuple[Part, ...] = (
    *("confirm", "ignore", "duplicate", "duplicate-of", "new", "note", None),
    *("localize", "minimize", "pattern", "find-plan", ("Verify", ("verify", "verify-all")), None),
    ("Table", ("next-bug", "previous-bug", "advance", None, "find", "sort", "columns")),
    (
        "Steps",
        (
            *("next-step", "previous-step", None, "next-difference", "previous-difference"),
            *(None, "bad-action"),
        ),
    ),
    ("Show", tuple(f"tab-{number}" for number in range(4))),
    ("Copy", ("copy-command", "copy-policy-plan", "copy-better-plan")),
    None,
    "open-problem",
    ("Export", ("export", "export-problem", "export-unit")),
)
CONTEXT_MENU = (
    *(None, "confirm", "ignore", "duplicate", "duplicate-of", "new", "note", None),
    *("localize", "minimize", "pattern", "verify", "find-plan", None),
    *("export", "export-problem", "open-problem", "export-unit"),
)
"""Actions on the selected bugs; navigation is in the menu of the screen."""


class TriageCommand(QUndoCommand):
    """A triage decision that can be undone and redone."""

    def __init__(self, text: str, store: Workspace, decide: Decide, page: BugsPage) -> None:
        super().__init__(text)
        self._store, self._page = store, page
        self._next = decide
        self._is_new = True

    def redo(self) -> None:
        self._apply()

    def undo(self) -> None:
        self._apply()

    def _apply(self) -> None:
        try:
            before = self._next()
        except PlumblineError as error:
            self.setObsolete(True)  # nothing happened, so there is nothing to undo
            self._page.context.messages.error(f"Cannot save the triage: {error}")
            return
        self._next = partial(self._store.undo, before)
        self._page.bugs_changed([old.bug for old in before], select=not self._is_new)
        self._is_new = False


class DeletionCommand(QUndoCommand):
    """Deletes a witness; undo restores it."""

    def __init__(self, witness: int, bug: int, store: Workspace, page: BugsPage) -> None:
        super().__init__(f"delete the witness of bug {bug}")
        self._witness, self._bug, self._store, self._page = witness, bug, store, page
        self._deleted: DeletedWitnesses | None = None

    def redo(self) -> None:
        self._apply(self._delete)

    def undo(self) -> None:
        self._apply(self._restore)

    def _delete(self) -> None:
        self._deleted = self._store.delete_witnesses([self._witness])

    def _restore(self) -> None:
        assert self._deleted is not None
        self._store.restore_witnesses(self._deleted)

    def _apply(self, change: Callable[[], None]) -> None:
        try:
            change()
        except PlumblineError as error:
            self.setObsolete(True)
            self._page.context.messages.error(f"Cannot change the witness: {error}")
            return
        self._page.on_minimized(self._bug)


_VERBS = {
    BugStatus.NEW: "mark {} as new",
    BugStatus.CONFIRMED: "confirm {}",
    BugStatus.IGNORED: "ignore {}",
    BugStatus.DUPLICATE: "mark {} as duplicate",
}


class BugActions(QObject):
    """`menu` is the screen's menu; all actions are `by_name`."""

    def __init__(self, page: BugsPage) -> None:
        super().__init__(page)
        self._page = page
        self._exchange = UnitExport(page.context, page)
        self._noted: list[BugRow] = []
        self.by_name: dict[str, QAction] = {}
        self._add_navigation()
        self._add_triage()
        self._add_jobs()
        self.menu = [self._part(part) for part in MENU]
        page.view.addActions([self._part(part) for part in CONTEXT_MENU])
        names = ("copy-command", "copy-policy-plan", "copy-better-plan")
        page.detail.plan.addActions([self.by_name[name] for name in names])

    def _add_navigation(self) -> None:
        page, detail = self._page, self._page.detail
        self._add("next-bug", "Next bug", lambda: page.view.step(1), "J", "Alt+Down")
        self._add("previous-bug", "Previous bug", lambda: page.view.step(-1), "K", "Alt+Up")
        self._add("find", "Filter bugs", page.filter.focus, "Ctrl+F", "/")
        self._add("sort", "Sort by the current column", page.view.sort_by_current, "S", "Shift+S")
        self._add("columns", "Choose columns…", page.view.choose_columns, "Ctrl+Shift+C")
        forth, back = detail.plan.next_difference, detail.plan.previous_difference
        self._add("next-difference", "Next difference", forth, "F8")
        self._add("previous-difference", "Previous difference", back, "Shift+F8")
        self._add("next-step", "Next step", detail.steps.forth, "Alt+Right")
        self._add("previous-step", "Previous step", detail.steps.back, "Alt+Left")
        self._add("bad-action", "Go to worst step", detail.plan.go_to_bad_step, "B", icon="bad")
        for number in range(detail.tabs.count()):
            self._add_tab(number, detail.tabs.tabText(number).lower())

    def _add_triage(self) -> None:
        self._add_status("confirm", "Confirm", BugStatus.CONFIRMED, "C", "check")
        self._add_status("ignore", "Ignore", BugStatus.IGNORED, "I", "ignore")
        self._add_status("duplicate", "Mark as duplicate", BugStatus.DUPLICATE, "D", "duplicate")
        self._add("duplicate-of", MARK_AS_DUPLICATE, self.duplicate_of, "Shift+D")
        self._add_status("new", "Mark as new", BugStatus.NEW, "U", "new")
        self._add("note", "Edit note", self.write_note, "N", icon="note")
        self._advance = self._add("advance", "Select next bug after triage", self._keep_advance)
        self._advance.setCheckable(True)
        self._advance.setChecked(self._page.context.settings.get("bugs/advance", True))

    def _add_jobs(self) -> None:
        self._add("localize", "Localize", self.localize, "L", icon="localize")
        self._add("minimize", "Minimize", self.minimize, "M", icon="fold")
        self._add("pattern", "Show pattern", self.show_pattern, "Shift+M")
        self._add("verify", "Verify", self.verify, "V", icon="verify")
        self._add("verify-all", "Verify workspace", lambda: self._page.jobs.verify(None), "Shift+V")
        self._add("find-plan", "Find better plan", self.find_plan, "P", icon="search")
        self._add("export", "Export bundles…", self.export, "Ctrl+E", icon="export")
        self._add("export-problem", "Export state as problem…", self.export_problem)
        self._add("open-problem", "Add state to project", self.open_as_problem, icon="problem")
        self._add("export-unit", "Export for other tools…", self.export_unit)
        self._add("copy-command", "Copy command to reproduce", self.copy_command)
        self._add("copy-policy-plan", "Copy policy plan", lambda: self._copy_plan(Side.POLICY))
        self._add("copy-better-plan", "Copy better plan", lambda: self._copy_plan(Side.BETTER))

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
        """Save the note for the bugs that were selected when editing started."""
        rows = [row for row in self._noted if row.note != note]
        self._noted = []
        if rows:
            store, bugs = self._page.context.document.store, [row.id for row in rows]
            self._push(f"note on {_bugs_text(rows)}", partial(store.set_note, bugs, note))

    @Slot()
    def duplicate_of(self) -> None:
        """Ask for the original bug; suggest the first bug of the region."""
        rows = self._page.selected()
        if not rows:
            return
        likely = min(rows[0].duplicate_of or rows[0].region or 1, MAX_SPIN_BOX_VALUE)
        which = f"Bug {rows[0].id} duplicates" if len(rows) == 1 else f"{len(rows)} bugs duplicate"
        number, chosen = QInputDialog.getInt(
            self._page, "Mark as duplicate", f"{which} bug number:", likely, 1
        )
        if chosen and not self._page.context.document.store.bug_rows([number]):
            self._page.context.messages.error(
                f"Unknown bug {number}; enter a number from the first column of the table."
            )
        elif chosen:
            self._decide_status(rows, BugStatus.DUPLICATE, number)

    @Slot()
    def write_note(self) -> None:
        self._noted = self._page.selected()
        if self._noted:
            self._page.detail.header.edit_note(self._noted[0].note)

    @Slot()
    def localize(self) -> None:
        if bugs := self._selected_numbers():
            self._page.jobs.localize(bugs, self._page.detail.localize.options)

    @Slot()
    def minimize(self) -> None:
        if bugs := self._selected_numbers():
            self._page.jobs.minimize(bugs)

    @Slot()
    def show_pattern(self) -> None:
        rows = self._page.selected()
        if rows:
            self._page.show_pattern(rows[0])

    def export_witness(self, witness: int) -> None:
        folder = str(self._export_folder())
        name = QFileDialog.getExistingDirectory(self._page, "Export witness", folder)
        if name:
            self._page.context.settings.set(EXPORT_FOLDER, name)
            self._page.jobs.export([witness], Path(name))

    def delete_witness(self, witness: int, bug: int) -> None:
        """Delete a witness; undo restores it."""
        document = self._page.context.document
        document.undo_stack.push(DeletionCommand(witness, bug, document.store, self._page))

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
        if bugs and (
            name := QFileDialog.getExistingDirectory(self._page, "Export bundles", folder)
        ):
            self._page.context.settings.set(EXPORT_FOLDER, name)
            self._page.jobs.export(bugs, Path(name))

    @Slot()
    def export_problem(self) -> None:
        known = self._page.detail.known
        if known is None:
            return
        suggested = str(self._export_folder() / f"bug-{known.bug.row.id}.pddl")
        name, _ = QFileDialog.getSaveFileName(
            self._page, "Export state as problem", suggested, "PDDL problems (*.pddl)"
        )
        if name:
            self._page.context.settings.set(EXPORT_FOLDER, str(Path(name).parent))
            self._write(known.task, Path(name))

    @Slot()
    def export_unit(self) -> None:
        """Offer the units, with that of the selected bug first."""
        rows = self._page.selected()
        self._exchange.ask(unit=rows[0].unit if rows else None)

    def _export_folder(self) -> Path:
        context = self._page.context
        return last_folder(context.settings, EXPORT_FOLDER, context.document.path)

    @Slot()
    def open_as_problem(self) -> None:
        """Save the bug state as a problem beside the workspace, and add it to the project."""
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

    def _copy_plan(self, side: Side) -> None:
        """Copy a plan in the format of plan files."""
        known, comparison = self._page.detail.known, self._page.detail.cursor_at.comparison
        if known is None or comparison is None:
            return
        trace = comparison.policy if side is Side.POLICY else comparison.better
        operators = [step.operator for step in trace.steps] if trace is not None else []
        QGuiApplication.clipboard().setText(format_operator_plan(known.task, operators))

    def _add(
        self, name: str, text: str, slot: Callable[[], object], *keys: str, icon: str = ""
    ) -> QAction:
        made = action(self._page, text, slot, *keys, name=name)
        if icon:
            self._page.context.theme.keep_icon(made, icon)
        self._page.addAction(made)
        self.by_name[name] = made
        return made

    def _add_tab(self, number: int, title: str) -> None:
        tabs, keys = self._page.detail.tabs, f"Alt+{number + 1}"
        self._add(f"tab-{number}", f"Show {title}", lambda: tabs.setCurrentIndex(number), keys)

    def _add_status(self, name: str, text: str, status: BugStatus, key: str, icon: str) -> None:
        self._add(name, text, lambda: self._set_status(status), key, icon=icon)

    def _selected_numbers(self) -> list[int]:
        return [row.id for row in self._page.selected()]

    def _set_status(self, status: BugStatus) -> None:
        rows = self._page.selected()
        changed = [row for row in rows if row.status != status]
        if changed:
            self._decide_status(changed, status)
        if len(rows) == 1 and self._advance.isChecked():
            self._page.view.step(1)

    def _decide_status(
        self, rows: list[BugRow], status: BugStatus, duplicate_of: int | None = None
    ) -> None:
        store, bugs = self._page.context.document.store, [row.id for row in rows]
        decide = partial(store.set_status, bugs, status, duplicate_of=duplicate_of)
        self._push(_VERBS[status].format(_bugs_text(rows)), decide)

    def _push(self, text: str, decide: Decide) -> None:
        document = self._page.context.document
        document.undo_stack.push(TriageCommand(text, document.store, decide, self._page))

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


def _bugs_text(rows: Sequence[BugRow]) -> str:
    return f"bug {rows[0].id}" if len(rows) == 1 else f"{len(rows)} bugs"
