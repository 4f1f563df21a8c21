"""The bug browser: find bugs in the table, see what went wrong, and triage them by keyboard."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import cast

from PySide6.QtCore import QItemSelectionRange, QModelIndex, Qt, QTemporaryDir, Slot
from PySide6.QtGui import QAction, QHideEvent, QShowEvent
from PySide6.QtWidgets import QComboBox, QLabel, QStackedWidget, QWidget

from app.models.bug_table import BugTable, GroupBy
from app.services.context import Context
from app.services.reader import LatestQuery
from app.views.bugs.actions import BugActions
from app.views.bugs.bug_jobs import BugJobs, TaskCache
from app.views.bugs.detail import BugDetail, History, Known
from app.views.bugs.feed import BugFeed
from app.views.bugs.filter_bar import FilterBar
from app.views.bugs.pattern_view import PatternDialog, ShownPattern, read_pattern
from app.views.bugs.picture_view import profile_of
from app.views.bugs.table_view import BugTableView
from app.views.bugs.thumbnails import Thumbnails
from app.widgets.builders import describe
from app.widgets.empty_state import EmptyState
from app.widgets.layouts import hbox, pane, remember_division, vbox, vsplit
from app.widgets.page import Page
from engine.errors import PlumblineError
from engine.records.localization import Localization
from engine.records.verification import Standing, Verification
from engine.report.bug_text import tested_text
from engine.report.pattern_text import attempt_text, pattern_titles
from engine.report.verification_text import bug_text, headline, summary_lines
from engine.usecases.better_plan import FoundPlan
from engine.usecases.export import write_problem
from engine.usecases.localize import LocalizeOptions, Localizing
from engine.verify.claims import require_fit
from engine.workspace.filter import Term
from engine.workspace.lock import Writer
from engine.workspace.rows import Bug, BugRow, StateCounts, WitnessRow

MAX_DRAGGED_FILES = 100
_TOKENS = {Standing.HOLDS: "proven", Standing.FALSE: "bad", Standing.UNDECIDED: "muted"}
"""Files that one drag writes at most."""


NO_BUGS_YET = "No bugs yet"
CONFIGURE_CAMPAIGN, SHOW_CAMPAIGN = "Configure campaign", "Show campaign"
HOW_TO_FIND_BUGS = "Run a campaign to test the policy; the bugs it finds appear here."


class BugsPage(Page):
    name = "bugs"
    title = "Bugs"
    icon = "bugs"

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        theme = context.theme
        self.table = BugTable(theme, self._read_rows, self)
        self.feed = BugFeed(context.document, self.table, self)
        self.tasks = TaskCache(context.document.reader, self)
        self.jobs = BugJobs(context, self)
        self.view = BugTableView(theme, self.table, self._drag_files)
        in_sight, scale = self.view.bugs_in_sight, self.view.devicePixelRatioF
        self.view.use_thumbnails(Thumbnails(theme, context.document.reader, in_sight, scale, self))
        self.filter = FilterBar(theme, self.table.values)
        self.detail = BugDetail(theme)
        self.count = QLabel()
        self.group = QComboBox()
        reader, failure = context.document.reader, context.messages.failure
        no_pattern, no_counts = failure("Cannot show the pattern"), failure("Cannot count states")
        self._bug_query = LatestQuery(reader, self, self._show_whole, self._cannot_show)
        self._tested_query = LatestQuery(reader, self, self._show_tested, no_counts)
        self._pattern_query = LatestQuery(reader, self, self._show_pattern, no_pattern)
        titles = self.table.set_pattern_titles
        self._titles_query = LatestQuery(reader, self, titles, no_pattern)
        self._grouped = False  # by the user, or because patterns were known
        self._bug: int | None = None
        self._row: BugRow | None = None  # what the table says of it
        self._wants_bad_step = False  # as soon as it is shown
        self._wanted: int | None = None
        self._arranging = False  # the user has asked for another filter or other groups
        self._returning: list[int] = []  # bugs to be selected when the list is arranged
        self._place = 0
        self._found_plans: dict[int, tuple[int, ...]] = {}
        self._drag_folder: QTemporaryDir | None = None
        self._lay_out()
        self.setFocusProxy(self.view)  # letters decide about bugs, rather than filter them
        self.actions_of = BugActions(self)
        self._connect()
        self.view.remember(context.settings)
        self.detail.localize.remember(context.settings)
        remember_division(self.splitter, "bugs-splitter", context.settings)
        remember_division(self.detail.splitter, "bug-splitter", context.settings)

    def page_actions(self) -> list[QAction]:
        return self.actions_of.menu

    def show_item(self, item: object) -> None:
        """Show a bug by its number, or a filter given as text."""
        if isinstance(item, int):
            self._wanted = item
            if not self.view.select_bug(item) and self.table.known(item) is not None:
                self.filter.set_text("")
                self.view.select_bug(item)
            if self._bug == item:
                self._wanted = None  # it is there already
        elif isinstance(item, str):
            self.filter.set_text(item)
        self.view.setFocus()

    def _read_rows(self, bugs: list[int]) -> list[BugRow]:
        try:
            return self.context.document.store.bug_rows(bugs) if bugs else []
        except PlumblineError as error:
            self.context.messages.error(str(error))
            return []

    def selected(self) -> list[BugRow]:
        return self.view.selected_bugs()

    def _lay_out(self) -> None:
        theme = self.context.theme
        self.count.setObjectName("bug-count")
        self.count.setProperty("role", "muted")
        describe(
            self.group, "bug-group", "Group bugs by", "Group bugs that have something in common"
        )
        for choice in GroupBy:
            is_none = choice is GroupBy.NOTHING
            self.group.addItem(choice.value if is_none else f"By {choice.value}", choice)
        bar = hbox(
            (self.filter, 1),
            (self.group, 0, Qt.AlignmentFlag.AlignTop),
            self.count,
            spacing=8,
            margins=(12, 8, 12, 8),
        )
        nothing = EmptyState(
            theme,
            "search",
            "No matching bugs",
            "No bug matches the filter. Remove some or all of its conditions.",
            action_text="Clear filter",
            on_action=self._clear_filter,
        )
        self.splitter = vsplit(self.view, self.detail, stretch=(2, 3), sizes=(260, 460))
        self._matches = QStackedWidget()
        self._matches.addWidget(self.splitter)
        self._matches.addWidget(nothing)
        full = pane(bar, (self._matches, 1), spacing=0)
        self._empty = EmptyState(
            theme,
            "bugs",
            NO_BUGS_YET,
            HOW_TO_FIND_BUGS,
            action_text=CONFIGURE_CAMPAIGN,
            on_action=self._go_to_campaign,
        )
        self._stack = QStackedWidget()
        self._stack.addWidget(full)
        self._stack.addWidget(self._empty)
        vbox(self._stack, parent=self)

    def _connect(self) -> None:
        self.filter.changed.connect(self._set_terms)
        self.filter.left.connect(self._back_to_table)
        self.group.currentIndexChanged.connect(self._set_group)
        self.view.selectionModel().currentChanged.connect(self._on_current_changed)
        self.view.selectionModel().selectionChanged.connect(self._show_count)
        self.feed.read.connect(self._on_all_read)
        self.feed.arranged.connect(self._arranged)
        self.feed.failed.connect(self.context.messages.error)
        self.tasks.arrived.connect(self._on_task_arrived)
        self.tasks.failed.connect(self._on_task_failed)
        self.jobs.verified.connect(self._on_verified)
        self.jobs.localized.connect(self._on_localized)
        self.jobs.searched.connect(self._on_searched)
        self.jobs.plan_found.connect(self._on_plan_found)
        self.jobs.minimized.connect(self.on_minimized)
        self.jobs.changed.connect(self._on_jobs_changed)
        detail = self.detail
        detail.header.localize_requested.connect(self.actions_of.localize)
        detail.header.plan_requested.connect(self._find_plan)
        detail.header.export_requested.connect(self.actions_of.export)
        detail.header.minimize_requested.connect(self.actions_of.minimize)
        detail.header.note_written.connect(self._on_note_written)
        detail.header.note_left.connect(self._back_to_table)
        detail.localize.localize_requested.connect(self._localize)
        detail.localize.stop_requested.connect(self._stop_localizing)
        detail.evidence.verify_requested.connect(self._verify_current)
        detail.evidence.plan_requested.connect(self._find_plan)
        self.context.theme.changed.connect(self.table.restyle)
        self.context.document.changed.connect(self._on_document_changed)
        self._on_document_changed("project")

    @Slot(str)
    def _on_document_changed(self, topic: str) -> None:
        if topic == "project":
            with suppress(PlumblineError):  # the project screen says it
                project = self.context.document.store.project()
                self.detail.picture.use_profile(profile_of(project))

    def bugs_changed(self, bugs: list[int], *, select: bool = False) -> None:
        """Update bugs after triage on this screen, or after its undo, which selects them."""
        self.feed.take(bugs)
        self._hide_empty_columns()
        if select and not self.view.select_bugs(bugs):
            self._returning = bugs  # the filter may show them again
            self.feed.arrange()
        row = self.table.known(self._bug) if self._bug in bugs else None
        if row is not None:
            self._show_row(row)

    def _hide_empty_columns(self) -> None:
        self.view.hide_empty_columns(self.table.empty_columns() if self.table.total else set())

    @Slot(object)
    def _set_terms(self, terms: tuple[Term, ...]) -> None:
        self._place = self.view.currentIndex().row()
        self._arranging = True
        self.table.set_terms(terms)

    def _open_grouped(self) -> None:
        """Group by pattern at first if patterns are known; later the user decides."""
        if not self._grouped and self.table.total:
            self._grouped = True
            if self.table.overview.has_patterns and self.group.currentIndex() == 0:
                self._bug, self._place = None, 0  # the first bug of the first pattern
                self.group.setCurrentIndex(self.group.findData(GroupBy.PATTERN))

    @Slot()
    def _set_group(self) -> None:
        self._grouped = self._arranging = True
        self.table.set_group_by(self.group.currentData())

    @Slot()
    def _arranged(self) -> None:
        """Keep the bug selected after a change of filter or groups, if it is still visible."""
        self._show_count()
        returning, self._returning = self._returning, []
        wanted = [] if self._bug is None else [self._bug]
        is_found = self.view.select_bugs(returning)
        if self._arranging and not (is_found or self.view.select_bugs(wanted)):
            self.view.select_near(self._place)
        self._arranging = False

    @Slot()
    def _on_all_read(self) -> None:
        self._open_grouped()
        if self.table.overview.has_patterns:
            self._titles_query.ask(pattern_titles)
        self._show_count()
        self._hide_empty_columns()
        row = None if self._bug is None else self.table.known(self._bug)
        if row is not None and row != self._row:
            self._show_row(row)  # another process has changed it
        if self._wanted is not None and self.view.select_bug(self._wanted):
            self._wanted = None
        elif not self.view.currentIndex().isValid():
            self.view.select_near(self._place)

    @Slot()
    def _show_count(self) -> None:
        total, shown = self.table.total, self.table.shown_bugs
        reading = "" if self.feed.complete else ", reading…"
        ranges = cast("Iterable[QItemSelectionRange]", self.view.selectionModel().selection())
        selected = sum(item.height() for item in ranges)
        chosen = f", {selected:,} selected" if selected > 1 else ""
        of = f"{shown:,} of {total:,}" if self.table.terms or self.feed.complete else f"{total:,}"
        self.count.setText(f"{of}{chosen}{reading}")
        empty = total == 0 and self.feed.complete
        if empty:
            self._tested_query.ask(lambda store: (store.tested(), store.writer()))
        self._stack.setCurrentIndex(1 if empty else 0)
        unfit = total and not shown and self.table.terms
        self._matches.setCurrentIndex(1 if unfit else 0)

    def _show_tested(self, found: tuple[StateCounts, Writer | None]) -> None:
        """Show what was tested if there are no bugs, and whether that is all."""
        counts, campaign = found
        is_running = campaign is not None
        is_final = counts.tested and not is_running
        is_known = counts.tested or is_running
        self._empty.title.setText("No bugs found" if is_final else NO_BUGS_YET)
        words = tested_text(counts, is_running=is_running) if is_known else HOW_TO_FIND_BUGS
        self._empty.text.setText(words)
        self._empty.set_action(SHOW_CAMPAIGN if is_running else CONFIGURE_CAMPAIGN)

    @Slot()
    def _back_to_table(self) -> None:
        self.view.setFocus()

    def _clear_filter(self) -> None:
        self.filter.set_text("")
        self.view.setFocus()

    def _go_to_campaign(self) -> None:
        self.page_requested.emit("campaign", None)

    @Slot(QModelIndex, QModelIndex)
    def _on_current_changed(self, current: QModelIndex, _: QModelIndex) -> None:
        row = self.table.bug_at(current.row())
        self._place = max(current.row(), 0)
        if row is not None and row.id != self._bug:
            self._bug, self._wants_bad_step = row.id, False
            self._show_row(row)

    def _show_row(self, row: BugRow) -> None:
        self._row = row
        self.detail.show_row(row)
        self._show_bug(row.id)

    def _show_bug(self, number: int) -> None:
        self._bug_query.ask(
            lambda store: (
                bug := store.bug(number),
                store.localization(number),
                store.history(number),
                store.attempt_on(bug.row),
            )
        )

    def _cannot_show(self, error: PlumblineError) -> None:
        self.context.messages.error(f"Cannot show bug {self._bug}: {error}")

    def _show_whole(
        self, whole: tuple[Bug, Localization | None, History, WitnessRow | None]
    ) -> None:
        bug, found, history, minimized = whole
        number = bug.row.id
        if number != self._bug or self._bug_query.is_waiting:
            return  # the user has selected another bug, or the bug has changed
        task = self.tasks.get(bug.problem_id)
        if task is None:
            return  # it comes later
        try:
            require_fit(bug, task, found)
        except PlumblineError as error:
            self._cannot_show(error)
            return
        plan = None
        if not bug.finding.evidence.is_plan:
            plan = self._found_plans.get(number) or (found.better_plan if found else None)
        self.detail.show_known(Known(bug, task, found, history, minimized, plan))
        self._show_localizing()
        if self._wants_bad_step:
            self._wants_bad_step = False
            self.detail.cursor_at.move_to_interesting_step()

    @Slot(int)
    def _on_task_arrived(self, _: int) -> None:
        if self._bug is not None:
            self._show_bug(self._bug)

    @Slot(int, str)
    def _on_task_failed(self, _: int, why: str) -> None:
        self.context.messages.error(f"Cannot read the task of this bug: {why}")

    @Slot()
    def _verify_current(self) -> None:
        if self._bug is not None:
            self.detail.evidence.show_checking()
            self.jobs.verify([self._bug])

    @Slot(object)
    def _on_verified(self, found: Verification) -> None:
        if self._bug in found.bugs:
            self.detail.evidence.show_verdict(*_verdict_text(found, self._bug))
        details = "\n".join(summary_lines(found))
        if found.failed:
            self.context.messages.error(f"Verification failed: {headline(found)}", details)
        elif len(found.bugs) != 1:
            self.context.messages.info(f"{headline(found)}.", details)
        elif not self._shows_evidence_of(found.bugs[0]):
            text, _ = _verdict_text(found, found.bugs[0])
            self.context.messages.info(f"Bug {found.bugs[0]}: {text}", details)

    def _shows_evidence_of(self, bug: int) -> bool:
        return bug == self._bug and self.detail.evidence.isVisible()

    @Slot(object)
    def _localize(self, wish: LocalizeOptions) -> None:
        if self._bug is not None:
            self.jobs.localize([self._bug], wish)

    @Slot()
    def _stop_localizing(self) -> None:
        self.jobs.stop("localize")

    @Slot(int)
    def _on_localized(self, bug: int) -> None:
        self.feed.take([bug])
        self._hide_empty_columns()
        if bug == self._bug:
            self._wants_bad_step = True
            self._show_bug(bug)
        self.feed.tell_others()

    @Slot(int)
    def on_minimized(self, bug: int) -> None:
        """Update all bugs of the root cause, which now have its pattern."""
        row = self.table.known(bug)
        cause = None if row is None else row.root_cause
        rows = [] if cause is None else self.table.kept_bugs_of_cause(cause)
        self.feed.take(sorted({bug, *rows}))
        self._hide_empty_columns()
        if self._bug in {bug, *rows}:
            self._show_bug(self._bug)
        self.feed.tell_others()

    def show_pattern(self, row: BugRow) -> None:
        """Show the pattern of a bug in a window of its own, or how to find it."""
        known = self.detail.known
        tried = None if known is None or known.bug.row.id != row.id else known.minimized
        if row.pattern is None and tried is not None:
            text = attempt_text(tried.attempt, tried.finding, tried.pattern)
            self.context.messages.info(f"Bug {row.id}: {text}")
            return
        if row.pattern is None:
            text = f"Bug {row.id} has no pattern yet; minimize it first."
            self.context.messages.info(text, actions=[("Minimize", self.actions_of.minimize)])
            return
        number, campaign = row.pattern, row.campaign
        self._pattern_query.ask(lambda store: read_pattern(store, number, campaign))

    def _show_pattern(self, found: ShownPattern | None) -> None:
        if found is not None:
            dialog = PatternDialog(self.context.theme, found, self)
            dialog.bugs_requested.connect(self.show_item)
            dialog.export_requested.connect(self.actions_of.export_witness)
            dialog.deletion_requested.connect(self.actions_of.delete_witness)
            dialog.open()

    @Slot(object)
    def _on_searched(self, event: Localizing) -> None:
        self.detail.localize.show_running(True, event.decided, event.steps)

    @Slot()
    def _find_plan(self) -> None:
        if self._bug is not None:
            self.jobs.find_plan(self._bug)

    @Slot(object)
    def _on_plan_found(self, found: FoundPlan) -> None:
        if found.operators is None:
            self.context.messages.warning(
                f"No better plan found for bug {found.bug} within the limits; the bound is still "
                "proven"
            )
            return
        if not found.kept:
            self._found_plans[found.bug] = found.operators
            self.context.messages.info(
                f"Found a plan of cost {found.cost} for bug {found.bug}; it is better than the "
                "policy's, but worse than the proven bound"
            )
        else:
            self.context.messages.info(f"Found a plan of cost {found.cost} for bug {found.bug}")
        self.bugs_changed([found.bug])
        self.feed.tell_others()

    @Slot()
    def _on_jobs_changed(self) -> None:
        self._show_localizing()
        if not self.jobs.running("verify"):
            self.detail.evidence.end_of_check()
        self.detail.evidence.verify_button.setEnabled(not self.jobs.running("verify"))
        self.detail.evidence.plan_button.setEnabled(not self.jobs.running("plan"))
        self.detail.header.plan_button.setEnabled(not self.jobs.running("plan"))

    def _show_localizing(self) -> None:
        self.detail.localize.show_running(self.jobs.running("localize"))

    @Slot(str)
    def _on_note_written(self, note: str) -> None:
        self.actions_of.keep_note(note)
        self.view.setFocus()

    def _drag_files(self, bugs: list[int]) -> list[Path]:
        """Write bug states as problem files for drag and drop."""
        if self._drag_folder is None:
            self._drag_folder = QTemporaryDir()
        folder = Path(self._drag_folder.path())
        store = self.context.document.store
        paths = []
        try:
            for number in bugs[:MAX_DRAGGED_FILES]:
                bug = store.bug(number)
                task = self.tasks.get(bug.problem_id) or store.task(bug.problem_id)
                require_fit(bug, task)
                paths.append(write_problem(store, bug, task, folder / f"bug-{number}.pddl"))
        except PlumblineError as error:
            self.context.messages.error(str(error))
        return paths

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802  Qt's name
        super().showEvent(event)
        self.feed.refresh()

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802  Qt's name
        """Stop reading; changes are read when the screen is shown again."""
        super().hideEvent(event)
        self.feed.stop()


def _verdict_text(found: Verification, bug: int) -> tuple[str, str]:
    text, standing = bug_text(found, bug)
    return text, _TOKENS[standing]
