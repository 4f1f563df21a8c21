"""The equivalence screen: whether two versions of a domain mean the same."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QLabel,
    QSpinBox,
    QStackedWidget,
    QTabWidget,
    QWidget,
)

from app.models.comparison_tables import (
    HISTORY_COLUMNS,
    READING_TIPS,
    STRUCTURE_COLUMNS,
    answers,
    structure_lines,
)
from app.models.project_files import project_files
from app.models.table_model import TableModel
from app.services.context import Context
from app.services.folders import EXAMPLES, show_in_desktop
from app.services.jobs import Job
from app.views.equivalence.diff_view import TextDiffView
from app.views.equivalence.domain_slot import DomainSlot
from app.views.equivalence.verdict_view import VerdictView
from app.widgets.builders import action, button, describe
from app.widgets.empty_state import EmptyState
from app.widgets.labels import ElidedLabel
from app.widgets.layouts import hbox, vbox
from app.widgets.page import Page
from app.widgets.table_view import TableView
from engine.errors import PlumblineError
from engine.files import resource, write_bytes, write_text
from engine.pddl.diff import diff_domains
from engine.pddl.reader import text_of
from engine.records.comparison import CompareOptions, Comparison
from engine.records.inputs import File
from engine.report.comparison_text import READINGS, progress_line
from engine.usecases.compare import DEFAULT_OPTIONS, compare
from engine.workspace.rows import ComparisonRow

EXAMPLE = EXAMPLES / "ferry" / "domain.pddl"
RENAMED = resource("versions", "ferry-renamed.pddl")
WHAT_IT_IS = (
    "Two domains are equivalent if their predicates can be matched so that each domain can reach "
    "whatever the other can reach, for all objects. Drop two versions on A and B."
)
READY = "Ready to compare"
NOT_COMPARED = (
    "The verdict comes with evidence: how each action is done in the other domain, or a problem "
    "that only one of the domains can solve."
)
TAB_TIPS = (
    "Show whether the domains mean the same, and why",
    "Show both files side by side",
    "Show differences in types, predicates and actions by name",
    "Show earlier comparisons in this workspace; press Enter to open one",
)


class EquivalencePage(Page):
    """`show_item` takes the number of a stored comparison."""

    name: ClassVar[str] = "equivalence"
    title: ClassVar[str] = "Equivalence"
    icon: ClassVar[str] = "equivalence"

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        theme, settings = context.theme, context.settings
        self._job: Job | None = None
        self._options = DEFAULT_OPTIONS
        self.a, self.b = DomainSlot(theme, "A"), DomainSlot(theme, "B")
        self.swap_button = button(
            "Swap", "comparison-swap", "Swap A and B", clicked=self._swap, icon=(theme, "swap")
        )
        self.limit_label = QLabel("Time limit")
        self.run_button = button(
            "Compare", "comparison-run", clicked=self.start, icon=(theme, "run"), primary=True
        )
        self.stop_button = button(
            "Stop",
            "comparison-stop",
            "Stop the comparison; keep the verdicts found so far (Shift+F5)",
            clicked=self.stop,
            icon=(theme, "stop"),
        )
        self.reading = QComboBox()
        self.permute = QCheckBox("Try reordered arguments")
        self.seconds = QSpinBox()
        self.progress = ElidedLabel("", Qt.TextElideMode.ElideRight)
        self.diff = TextDiffView(theme)
        self.structure = TableModel(STRUCTURE_COLUMNS, theme, self)
        self.structure_table = self._table("structure", "Structural differences", self.structure)
        self.verdict = VerdictView(theme, settings)
        self.history = TableModel(HISTORY_COLUMNS, theme, self)
        self.history_table = self._table("history", "Earlier comparisons", self.history)
        self._answer_stack = QStackedWidget()
        self.ready = self._ready_state()
        self.tabs = QTabWidget()
        self._build()
        self._connect()
        self._read_history()
        self._on_slots_changed()

    def show_item(self, item: object) -> None:
        if isinstance(item, int):
            self._show_stored(item)

    def page_actions(self) -> list[QAction]:
        return [self._run_action, self._stop_action]

    def may_close(self) -> str:
        return "" if self._job is None else "A comparison is still running."

    @Slot()
    def start(self) -> None:
        """Compare what is in the slots."""
        if self._blocker():
            return
        assert self.a.file is not None
        assert self.b.file is not None
        self._options = self._chosen_options()
        files = self.a.file, self.b.file
        title = f"Compare {files[0].name} and {files[1].name}"
        self._job = self.context.jobs.start(title, compare, *files, self._options)
        self._files = files
        self._job.events.connect(self._on_events)
        self._job.finished.connect(self._on_compared)
        self._job.ended.connect(self._on_ended)
        self.progress.setText("Reading…")
        self._update_buttons()

    @Slot()
    def stop(self) -> None:
        if self._job is not None:
            self.progress.setText("Stopping…")
            self._job.stop()

    @Slot(list)
    def _on_events(self, events: list[object]) -> None:
        self.progress.setText(progress_line(events) or self.progress.text())

    @Slot(object)
    def _on_compared(self, comparison: Comparison) -> None:
        try:
            self.context.document.store.add_comparison(*self._files, self._options, comparison)
        except PlumblineError as error:
            self.context.messages.error(f"Cannot save the comparison: {error}")
        else:
            self.context.document.notify("comparisons")
        if comparison.stopped and self._shows_more_than(comparison):
            self.context.messages.info("Stopped; the verdict from before is kept.")
        else:
            self._show_comparison(comparison, *self._files)

    def _shows_more_than(self, comparison: Comparison) -> bool:
        """Whether the verdict on the screen is one of the same files that says more."""
        if self._answer_stack.currentWidget() is not self.verdict or self._shown[1:] != self._files:
            return False
        return answers(comparison) < answers(self._shown[0])

    @Slot()
    def _on_ended(self) -> None:
        self._job = None
        self.progress.clear()
        self._update_buttons()

    def _show_stored(self, number: int) -> None:
        try:
            kept = self.context.document.store.comparison(number)
        except PlumblineError as error:
            self.context.messages.error(f"Cannot show comparison {number}: {error}")
            return
        self._show_comparison(kept.row.comparison, kept.a, kept.b)

    def _show_comparison(self, comparison: Comparison, a: File, b: File) -> None:
        if (self.a.file, self.b.file) != (a, b):
            self.a.take(a)
            self.b.take(b)
        self.verdict.show_comparison(comparison, _text(a), _text(b))
        self._shown = comparison, a, b
        self._answer_stack.setCurrentWidget(self.verdict)
        self.tabs.setCurrentIndex(0)

    def open_example(self) -> None:
        """Load a domain and a version of it with other names."""
        self.a.load(EXAMPLE)
        self.b.load(RENAMED)
        self.run_button.setFocus()

    @Slot()
    def _on_slots_changed(self) -> None:
        for one, other in ((self.a, self.b), (self.b, self.a)):
            one.folder = one.folder or other.folder  # the other version is often not far
        self.diff.show_domains(self.a, self.b)
        lines = []
        if self.a.domain is not None and self.b.domain is not None:
            lines = structure_lines(diff_domains(self.a.domain, self.b.domain).as_text())
            self._answer_stack.setCurrentWidget(self.ready)
        else:
            self._answer_stack.setCurrentIndex(0)
        self.structure.set_rows(lines)
        self.structure_table.resizeColumnsToContents()
        self.tabs.setTabText(1, f"Text ({self.diff.differences})")
        self.tabs.setTabText(2, f"Structure ({len(lines)})")
        self._update_buttons()

    @Slot()
    def _swap(self) -> None:
        a, b = self.a.file, self.b.file
        self.a.take(b)
        self.b.take(a)

    def _chosen_options(self) -> CompareOptions:
        return CompareOptions(
            tuple(self.reading.currentData()),
            self.permute.isChecked(),
            float(self.seconds.value()),
            verify=True,
        )

    def _blocker(self) -> str:
        if self._job is not None:
            return "a comparison is running"
        return self.a.problem or self.b.problem

    def _update_buttons(self) -> None:
        reason = self._blocker()
        for item in (self.run_button, self.ready.button, self._run_action):
            item.setEnabled(not reason)
            item.setToolTip(f"Unavailable: {reason}" if reason else "Compare A and B (F5)")
        for item in (self.stop_button, self._stop_action):
            item.setEnabled(self._job is not None)
        self.ready.title.setText(READY if self._job is None else "Comparing…")

    @Slot(str)
    def _on_document_changed(self, topic: str) -> None:
        if topic in ("comparisons", "outside"):
            self._read_history()

    def _read_history(self) -> None:
        self.context.document.reader.ask(
            self,
            lambda store: store.comparisons(),
            self._show_history,
            self.context.messages.failure("Cannot read earlier comparisons"),
        )

    def _show_history(self, rows: list[ComparisonRow]) -> None:
        if rows[::-1] != self.history.rows:
            self.history.set_rows(reversed(rows))
            self.history_table.resizeColumnsToContents()
        self.tabs.setTabText(3, f"History ({len(rows)})")

    @Slot()
    def _open_from_history(self) -> None:
        row = self.history_table.currentIndex().row()
        if row >= 0:
            self._show_stored(self.history.row(row).id)

    @Slot()
    def _verify(self) -> None:
        """Compare again; independent code checks the evidence."""
        if not self._blocker():
            self.start()

    @Slot()
    def _export(self) -> None:
        _, a, b = self._shown
        name = Path(self.a.folder) / f"{Path(a.name).stem}-{Path(b.name).stem}.html"
        chosen, _ = QFileDialog.getSaveFileName(
            self, "Export comparison", str(name), "HTML (*.html);;JSON (*.json)"
        )
        if chosen:
            self.export_to(Path(chosen))

    def export_to(self, path: Path) -> None:
        from engine.report.comparison import comparison_report

        comparison, a, b = self._shown
        try:
            write_text(path, comparison_report(comparison, a, b, path.suffix))
        except PlumblineError as error:
            self.context.messages.error(str(error))
        else:
            show = partial(show_in_desktop, path.parent, self.context.messages)
            self.context.messages.info(
                f"Exported the comparison to {path}", actions=[("Open folder", show)]
            )

    @Slot()
    def _open_problem(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, "Save counterexample", self.a.folder)
        if folder:
            self.open_problem_in(Path(folder))

    def open_problem_in(self, folder: Path) -> None:
        """Write both domains and problems, and add the pair that has a plan to the project.

        Ask first if that would replace the domain of the project.
        """
        found = self.verdict.counterexample
        assert found is not None
        _, a, b = self._shown
        side = found.solved_by.lower()
        texts = {
            "domain-a.pddl": a.content,
            "domain-b.pddl": b.content,
            "problem-a.pddl": found.problem_a.encode(),
            "problem-b.pddl": found.problem_b.encode(),
            f"plan-{side}.plan": f"{found.step}\n".encode(),
        }
        try:
            for name, content in texts.items():
                write_bytes(folder / name, content)
        except PlumblineError as error:
            self.context.messages.error(str(error))
            return
        paths = [folder / f"domain-{side}.pddl", folder / f"problem-{side}.pddl"]
        take = partial(self.page_requested.emit, "project", paths)
        if project_files(self.context).project.is_empty:
            take()
        else:
            text = f"Saved the counterexample (domains, problems, plan) to {folder}"
            self.context.messages.info(text, actions=[("Replace domain of this project", take)])

    def _build(self) -> None:
        for names, text in (
            (tuple(READINGS), "Both readings"),
            *(((name,), text) for name, text in READINGS.items()),
        ):
            self.reading.addItem(text, names)
            tip = "\n".join(READING_TIPS[name] for name in names)
            self.reading.setItemData(self.reading.count() - 1, tip, Qt.ItemDataRole.ToolTipRole)
        describe(
            self.reading,
            "reading",
            "Reading of parameters",
            "Choose whether two parameters of an action may stand for the same object. PDDL allows "
            "it,\nmany models do not intend it, and the verdict can depend on it.",
        )
        describe(
            self.permute,
            "permute",
            "Try reordered arguments",
            "Also match predicates with their arguments in another order, such as\n"
            "(on ?x ?y) with (under ?y ?x). This takes longer.",
        )
        describe(self.seconds, "seconds", "Time limit in seconds")
        self.seconds.setRange(1, 86_400)
        self.seconds.setValue(int(DEFAULT_OPTIONS.seconds))
        self.seconds.setSuffix(" s")
        tip = "Stop after this time; the verdict is then undecided"
        self.seconds.setToolTip(tip)
        self.limit_label.setToolTip(tip)
        self.limit_label.setBuddy(self.seconds)
        places = hbox((self.a, 1), self.swap_button, (self.b, 1))
        options = hbox(
            self.reading,
            self.permute,
            self.limit_label,
            self.seconds,
            self.run_button,
            self.stop_button,
            (self.progress, 1),
        )
        self._answer_stack.addWidget(
            EmptyState(
                self.context.theme,
                "equivalence",
                "Do two domains mean the same?",
                WHAT_IT_IS,
                action_text="Open example pair",
                on_action=self.open_example,
            )
        )
        self._answer_stack.addWidget(self.ready)
        self._answer_stack.addWidget(self.verdict)
        describe(self.tabs, "comparison-tabs", "Views of the comparison")
        self.tabs.setDocumentMode(True)
        self.tabs.addTab(self._answer_stack, "Verdict")
        self.tabs.addTab(self.diff, "Text")
        self.tabs.addTab(self.structure_table, "Structure")
        self.tabs.addTab(self.history_table, "History")
        for number, tip in enumerate(TAB_TIPS):
            self.tabs.setTabToolTip(number, tip)
        vbox(places, options, (self.tabs, 1), parent=self, spacing=8, margins=16)

    def _connect(self) -> None:
        self._run_action = action(self, "Compare", self.start, "F5")
        self._stop_action = action(self, "Stop comparison", self.stop, "Shift+F5")
        for slot in (self.a, self.b):
            slot.changed.connect(self._on_slots_changed)
        self.history_table.activated.connect(self._open_from_history)
        self.verdict.verify_requested.connect(self._verify)
        self.verdict.export_requested.connect(self._export)
        self.verdict.problem_requested.connect(self._open_problem)
        self.context.document.changed.connect(self._on_document_changed)
        for model in (self.structure, self.history):
            self.context.theme.changed.connect(model.restyle)

    def _ready_state(self) -> EmptyState:
        return EmptyState(
            self.context.theme,
            "equivalence",
            READY,
            NOT_COMPARED,
            action_text="Compare",
            on_action=self.start,
        )

    def _table(self, name: str, title: str, model: TableModel[Any]) -> TableView:
        table = TableView(f"comparison-{name}", title)
        table.setModel(model)
        table.remember(self.context.settings)
        return table


def _text(file: File) -> str:
    return text_of(file.content)
