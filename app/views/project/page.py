"""The project screen: files are added, recognized, checked, run and shown."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QCheckBox,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QMenu,
    QPushButton,
    QScrollArea,
    QStackedLayout,
    QWidget,
)

from app.models.project_files import project_files
from app.models.project_problems import ProblemTable
from app.services.context import Context
from app.services.settings import recent_workspaces
from app.views.project.file_card import PoolCards
from app.views.project.policy_cards import PolicyCards
from app.views.project.policy_servers import PolicyServers, task_path
from app.views.project.source_view import SourceView
from app.widgets.builders import action, button, describe, heading, label, paragraph
from app.widgets.labels import ElidedLabel
from app.widgets.layouts import hbox, pane, remember_division, vbox, vsplit
from app.widgets.page import Page
from app.widgets.table_view import TableView
from engine.campaign.recognize import Found
from engine.pddl import Severity
from engine.records.finding import RunOutcome
from engine.records.policy_spec import PolicySpec, SpecKind
from engine.report.policy_text import BUILTIN
from engine.report.words import count_text

if TYPE_CHECKING:
    from app.views.project.start import StartView

_LEFT_WIDTH = 320
_RUN_TIP = "Test the policies with the settings on the Campaign screen (F5)"
_COLUMN_WIDTHS = (18, 16, 8, 7, 10, 11)


class ProjectPage(Page):
    name, title, icon = "project", "Project", "project"

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self.files = project_files(context)
        self._shown_error = False
        self._make_table()
        self.cards = PolicyCards(context.theme)
        self.cards.chosen.connect(self._show_policy)
        self.cards.remove_requested.connect(self._remove_file)
        self.cards.trust_requested.connect(self.files.trust)
        self.cards.factory_requested.connect(self.files.use_factory)
        self.cards.again_requested.connect(self.files.check_again)
        self.servers = PolicyServers(context, self.cards, self)
        self.servers.task_fetched.connect(self._add_task)
        self.pools = PoolCards(context.theme)
        self.pools.remove_requested.connect(self._remove_file)
        self.pools.task_requested.connect(self._take_task)
        self._make_actions()
        self.source = SourceView(context.theme)
        self._stack = QStackedLayout(self)
        self._full = self._full_view()
        self._stack.addWidget(self._full)
        self.files.changed.connect(self._show_files)
        self.files.checked.connect(self._show_checks)
        context.theme.changed.connect(self._show_checks)
        self._show_files()
        self._show_checks()

    def show_item(self, item: object) -> None:
        """Add files, given as a list of paths, to the project."""
        if isinstance(item, list):
            self.add_files(item)

    def page_actions(self) -> list[QAction]:
        return [
            self.run_action,
            self._add_action,
            self._folder_action,
            self._server_action,
            self._serve_action,
            self._remove_action,
            self._check_action,
            self._next_action,
            self._previous_action,
        ]

    def add_files(self, paths: Iterable[str | Path]) -> None:
        found = self.files.add(paths)
        for workspace in found.workspaces:
            self.workspace_requested.emit(Path(workspace))
        self._tell(found)

    def _tell(self, found: Found) -> None:
        """Report which files were not used, and why."""
        if len(found.domains) > 1:
            names = ", ".join(Path(name).name for name in found.domains[1:])
            self.context.messages.warning(
                f"A project has one domain; using {Path(found.domains[0]).name}, ignoring {names}"
            )
        if found.profiles:
            name = Path(found.profiles[-1]).name
            self.context.messages.info(f"Drawing states with the animation profile {name}")
        for item in found.unknown[:3]:
            self.context.messages.warning(f"Skipped {Path(item.name).name}: {item.reason}")
        if len(found.unknown) > 3:
            rest = "\n".join(f"{item.name}: {item.reason}" for item in found.unknown)
            more = count_text(len(found.unknown) - 3, "more file")
            self.context.messages.warning(f"Skipped {more}", details=rest)

    def _make_actions(self) -> None:
        self.run_action = action(self, "Run campaign", self._run_campaign, "F5")
        self._add_action = action(self, "Add files…", self._choose_files, "Ctrl+Shift+O")
        self._folder_action = action(self, "Add folder…", self._choose_folder)
        self._remove_action = action(self, "Remove from project", self._remove_problems, "Del")
        self._remove_action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        self.table.addAction(self._remove_action)
        self._server_action = action(self, "Add policy server…", self.servers.choose_server)
        self._serve_action = action(self, "Serve selected policy…", self.servers.serve_chosen)
        self._check_action = action(self, "Check again", self.files.check_again, "F6")
        self._next_action = action(self, "Next error", lambda: self.source.next_mark(1), "F8")
        self._previous_action = action(
            self, "Previous error", lambda: self.source.next_mark(-1), "Shift+F8"
        )

    @cached_property
    def start(self) -> StartView:
        """What an empty project shows; most are not empty when they are opened."""
        from app.views.project.start import StartView

        start = StartView(self.context.theme)
        start.files_requested.connect(self._choose_files)
        start.folder_requested.connect(self._choose_folder)
        start.example_requested.connect(self.example_requested)
        start.workspace_requested.connect(self.workspace_requested)
        self._stack.addWidget(start)
        return start

    def _make_table(self) -> None:
        self.problems = ProblemTable(self.context.theme, self)
        self.table = TableView("project-problems", "Problems")
        self.table.setModel(self.problems)
        self.table.set_widths(*_COLUMN_WIDTHS)
        self.table.setTextElideMode(Qt.TextElideMode.ElideRight)  # outcomes are sentences
        self.table.remember(self.context.settings)
        self.table.selectionModel().selectionChanged.connect(self._show_selected)

    def _full_view(self) -> QWidget:
        right = vsplit(self._problems_pane(), self.source, sizes=(300, 400), handle=9)
        remember_division(right, "project-split", self.context.settings)
        body = hbox(self._left_pane(), (right, 1), spacing=16)
        return pane(self._header(), (body, 1), spacing=12, margins=(16, 12, 16, 12))

    def _header(self) -> QHBoxLayout:
        self.heading = label(role="title")
        self.state = ElidedLabel("", role="muted")
        self.add_button = button("Add files", "project-add", "Add files or a folder")
        menu = QMenu(self.add_button)
        menu.addActions([self._add_action, self._folder_action])
        self.add_button.setMenu(menu)
        self.run_button = button(
            "Run campaign",
            "project-run",
            _RUN_TIP,
            clicked=self._run_campaign,
            icon=(self.context.theme, "run"),
            primary=True,
        )
        return hbox(self.heading, (self.state, 1), self.add_button, self.run_button, spacing=8)

    def _left_pane(self) -> QWidget:
        self.domain_button = QPushButton()
        self.domain_button.setObjectName("project-domain")
        self.domain_button.setStyleSheet("text-align: left; padding: 8px 12px;")
        self.domain_button.clicked.connect(self._show_domain)
        self.domain_text = paragraph()
        self.builtin = button(
            "Add built-in policy", "project-builtin", "Add a simple policy to compare with"
        )
        menu = QMenu(self.builtin)
        menu.setToolTipsVisible(True)
        for name, sentence in BUILTIN.items():
            entry = menu.addAction(str(PolicySpec(SpecKind.BUILTIN, name)))
            entry.setToolTip(sentence)
            entry.triggered.connect(self._add_builtin)
        self.builtin.setMenu(menu)
        self.server_button = button(
            "Add policy server…",
            "project-server",
            "Add a policy that runs elsewhere and is queried over the network",
            clicked=self.servers.choose_server,
        )
        self.portfolio = paragraph()
        self.portfolio.setToolTip(
            "Some oracles compare the policy with the checkpoints of its training: where a "
            "checkpoint does better, the policy has a bug."
        )
        content = QWidget()
        layout = vbox(
            heading("Domain"),
            self.domain_button,
            self.domain_text,
            parent=content,
            spacing=8,
            margins=(0, 0, 4, 0),
        )
        layout.addSpacing(8)
        layout.addWidget(heading("Policies"))
        layout.addWidget(self.cards)
        layout.addWidget(self.builtin)
        layout.addWidget(self.server_button)
        layout.addWidget(self.portfolio)
        layout.addWidget(self.pools)
        layout.addStretch(1)
        scroll = QScrollArea()
        describe(scroll, "project-left", "Domain, policies and pools")
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(content)
        scroll.setFixedWidth(_LEFT_WIDTH)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # what is in it can be reached
        return scroll

    def _problems_pane(self) -> QWidget:
        self.count = ElidedLabel("", Qt.TextElideMode.ElideRight, role="muted")
        self.unit_costs = QCheckBox("Use unit costs")
        describe(
            self.unit_costs,
            "project-unit-costs",
            "Use unit costs",
            "Let every action cost 1. Use this for problems that lack values for their action "
            "costs, and for policies trained to find short plans.",
        )
        self.unit_costs.toggled.connect(self.files.set_unit_costs)
        top = hbox(heading("Problems"), (self.count, 1), self.unit_costs)
        return pane(top, self.table, spacing=6)

    @Slot()
    def _show_files(self) -> None:
        project = self.files.project
        self._stack.setCurrentWidget(self.start if project.is_empty else self._full)
        if project.is_empty:
            self.start.show_recent(
                path
                for path in recent_workspaces(self.context.settings)
                if path != self.context.document.path
            )
        rows = list(self.files.rows.values())
        if rows != self.problems.rows:
            path = self._selected_path()
            self.problems.set_rows(rows)
            self._select(path)
        self.cards.show_policies(project.policies)
        self.pools.show_pools(project.pools)
        self._order_tabs()
        self.problems.show_policy(self.cards.choice)
        self.unit_costs.blockSignals(True)
        self.unit_costs.setChecked(project.unit_costs)
        self.unit_costs.blockSignals(False)
        count = len(project.portfolio)
        self.portfolio.setText(f"Portfolio: {count_text(count, 'checkpoint')}")
        self.portfolio.setVisible(count > 0)
        self._shown_error = False
        self._show_source()
        self._show_checks()

    def _show_source(self) -> None:
        """Show the current version of the same file as before, or the domain, or nothing."""
        project, path = self.files.project, self.source.path
        if path != project.domain and path not in project.problems:
            path = project.domain or next(iter(project.problems), "")
        self.source.show_file(path, self.files.diagnostics(path))

    @Slot()
    def _show_checks(self) -> None:
        files, project = self.files, self.files.project
        self._show_domain_words()
        for spec in project.policies:
            checked, trusted = files.policies.get(spec), files.is_trusted(spec)
            self.cards.show_check(spec, checked, trusted, files.task_fit(spec))
        for path in project.pools:
            self.pools.show_check(path, files.pools.get(path), files.task_fit(path))
        self.problems.show_policy(self.cards.choice)
        self.count.setText(self._problem_count())
        doing = "Checking files…" if files.is_checking else "Running the policies…"
        obstacle = self._common_obstacle()
        self.state.setText(doing if files.is_busy else obstacle)
        self.run_button.setEnabled(not obstacle)
        self.run_button.setToolTip(f"Unavailable: {obstacle}" if obstacle else _RUN_TIP)
        if self.source.diagnostics != files.diagnostics(self.source.path):
            self.source.show_file(self.source.path, files.diagnostics(self.source.path))
        self._jump_to_first_error()
        self._offer_unit_costs()

    def _show_domain_words(self) -> None:
        project, domain = self.files.project, self.files.domain
        self.domain_button.setEnabled(project.domain is not None)
        if project.domain is None:
            self.heading.setText("Project")
            grounded = all(row.path.endswith(".sas") for row in self.files.rows.values())
            missing = "Not needed" if grounded and self.files.rows else "Drop a domain file here"
            self.domain_button.setText(missing)
            self.domain_button.setAccessibleName(missing)
            self.domain_text.hide()
            return
        self.domain_text.show()
        name = Path(project.domain).name
        self.domain_button.setText(name)
        self.domain_button.setAccessibleName(f"Show domain {name}")
        self.domain_button.setToolTip(project.domain)
        self.heading.setText(domain.name if domain is not None else Path(project.domain).stem)
        if domain is None:
            self.domain_text.setText("Checking…")
            return
        errors = sum(item.severity is Severity.ERROR for item in domain.diagnostics)
        counts = (
            (domain.actions, "action"),
            (domain.predicates, "predicate"),
            (domain.types, "type"),
        )
        words = ", ".join(count_text(number, noun) for number, noun in counts)
        self.domain_text.setText(count_text(errors, "error") if errors else words)
        sign, token = ("error", "bad") if errors else ("domain", "text")
        self.domain_button.setIcon(self.context.theme.icon(sign, token))

    def _problem_count(self) -> str:
        rows = self.files.rows.values()
        runs = [row.run for row in rows if row.run is not None]
        solved = sum(run.outcome is RunOutcome.SOLVED for run in runs)
        tried = len(runs)
        if not rows:
            return "none yet; drop problem files here"
        words = f"{len(rows)}"
        if barred := len(self.files.obstacles()):
            words += f" · {barred} cannot be tested"
        return f"{words} · the selected policy solves {solved} of {tried}" if tried else words

    def _common_obstacle(self) -> str:
        """Return why there is nothing to run, or an empty string."""
        obstacles = self.files.obstacles()
        if not obstacles or len(obstacles) < len(self.files.rows):
            return ""
        return f"No problem can be tested: {next(iter(obstacles.values()))}"

    def _jump_to_first_error(self) -> None:
        """Only once after the files change, so as not to disturb a user who reads the text."""
        if self._shown_error:
            return
        for path in (self.files.project.domain or "", *self.files.project.problems):
            found = self.files.diagnostics(path)
            if any(item.severity is Severity.ERROR for item in found):
                self._shown_error = True
                if path in self.files.rows:
                    self._select(path)
                self.source.show_file(path, found)
                self.source.show_first_error()
                return

    def _offer_unit_costs(self) -> None:
        """Warn about costs without values, because their actions vanish silently."""
        rows = self.files.rows.values()
        affected = [
            row
            for row in rows
            if row.checked is not None
            and any("--unit-costs" in item.hint for item in row.checked.diagnostics)
        ]
        if affected and not self.files.project.unit_costs and not self._offered:
            self._offered = True
            lacks = "lacks" if len(affected) == 1 else "lack"
            self.context.messages.warning(
                f"{count_text(len(affected), 'problem')} {lacks} values for some action costs, so "
                "these actions are never applicable",
                "\n".join(str(item) for row in affected for item in _found(row.checked)),
                [("Use unit costs", self._use_unit_costs)],
            )

    _offered = False

    def _use_unit_costs(self) -> None:
        self.files.set_unit_costs(True)

    def _selected_path(self) -> str:
        rows = self.table.selected_rows()
        return self.problems.row(rows[0]).path if rows else ""

    def _select(self, path: str) -> None:
        for number in range(self.problems.rowCount()):
            if self.problems.row(number).path == path:
                self.table.select_row(number)

    @Slot()
    def _show_selected(self) -> None:
        if path := self._selected_path():
            self.source.show_file(path, self.files.diagnostics(path))

    @Slot()
    def _show_domain(self) -> None:
        if (path := self.files.project.domain) is not None:
            self.table.clearSelection()
            self.source.show_file(path, self.files.diagnostics(path))

    @Slot(str)
    def _show_policy(self, spec: str) -> None:
        self.problems.show_policy(spec)
        self.count.setText(self._problem_count())

    @Slot(str)
    def _remove_file(self, name: str) -> None:
        self.files.remove([name])

    @Slot(str)
    def _take_task(self, bugs: str) -> None:
        from engine.usecases.connect import task_of_bugs  # all of fuzzing

        path = task_path(self.context.document.path, Path(bugs).stem)
        job = self.context.jobs.start("Extract task", task_of_bugs, bugs, path)
        job.finished.connect(self._add_task)

    @Slot(object)
    def _add_task(self, path: Path) -> None:
        self.add_files([path])

    @Slot()
    def _remove_problems(self) -> None:
        if rows := self.table.selected_rows():
            self.files.remove([self.problems.row(number).path for number in rows])

    @Slot()
    def _add_builtin(self) -> None:
        entry = self.sender()
        assert isinstance(entry, QAction)
        self.files.add_policy(entry.text())

    @Slot()
    def _choose_files(self) -> None:
        names, _ = QFileDialog.getOpenFileNames(self, "Add files")
        if names:
            self.add_files(names)

    def _order_tabs(self) -> None:
        """Let Tab follow the cards in the order in which they are shown."""
        stops = [self.domain_button, *_tab_stops(self.cards), self.builtin, self.server_button]
        stops += [*_tab_stops(self.pools), self.unit_costs]
        for before, after in pairwise(stops):
            QWidget.setTabOrder(before, after)

    @Slot()
    def _choose_folder(self) -> None:
        if name := QFileDialog.getExistingDirectory(self, "Add folder"):
            self.add_files([name])

    @Slot()
    def _run_campaign(self) -> None:
        self.page_requested.emit("campaign", "run")


def _tab_stops(cards: QWidget) -> list[QWidget]:
    """Return the tab stops of the window, without popups of combo boxes."""
    inner = [item for item in cards.findChildren(QWidget) if item.window() is cards.window()]
    return [item for item in inner if item.focusPolicy() & Qt.FocusPolicy.TabFocus]


def _found(checked: object) -> tuple[object, ...]:
    return tuple(getattr(checked, "diagnostics", ()))
