"""The campaign screen: a form for the next campaign, and all campaigns of the workspace."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtGui import QAction, QFontMetrics, QHideEvent, QShowEvent
from PySide6.QtWidgets import QFileDialog, QStackedWidget, QWidget

from app.models.campaign_controller import CampaignController, campaign_controller
from app.models.campaign_monitor import CampaignMonitor
from app.models.campaign_settings import default_config
from app.models.campaign_tables import CampaignLine
from app.models.project_files import project_files
from app.models.project_problems import in_short
from app.services.context import Context
from app.services.jobs import Failure
from app.services.messages import Message
from app.views.campaign.campaign_list import CampaignList
from app.views.campaign.form import CampaignForm
from app.widgets.builders import action, button, icon_button, label
from app.widgets.code_view import CodeView
from app.widgets.header import Header
from app.widgets.labels import ElidedLabel
from app.widgets.layouts import hbox, hsplit, pane, remember_division
from app.widgets.page import Page
from engine.campaign.config_reader import read_config
from engine.campaign.config_writer import config_text
from engine.errors import PlumblineError
from engine.files import write_text
from engine.records.policy_spec import PolicySpec, SpecKind
from engine.report.policy_text import policy_name

if TYPE_CHECKING:
    from app.views.campaign.campaign_view import CampaignView

LIST_WIDTH, LIST_CHARACTERS = 316, 44
"""Of the list, whichever is more."""
FOLDED = "campaign/list-folded"
KEEP_MILLISECONDS = 600
"""A while after the last change the form is saved."""


class CampaignPage(Page):
    name, title, icon = "campaign", "Campaign", "campaign"

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self.files = project_files(context)
        self.controller: CampaignController = campaign_controller(context)
        self.monitor = CampaignMonitor(context, self.controller, self)
        self._wants_run = False
        self._trouble: Message | None = None  # why the last one failed
        self._make_actions()
        new = button(
            "New campaign",
            "campaign-new",
            "Configure another campaign (Ctrl+Shift+N)",
            clicked=self._show_form,
            icon=(context.theme, "add"),
        )
        self.list = CampaignList(context, self.controller, new)
        self.form = CampaignForm(context)
        self._view: CampaignView | None = None  # made when first needed: it imports the plots
        self.stack = QStackedWidget()
        self.stack.addWidget(self._form_pane())
        self._letter = self._letter_width()
        self._list_letters: float | None = None  # its width in letters; None: as it is
        sizes = max(LIST_WIDTH, LIST_CHARACTERS * self._letter), 900
        self.split = split = hsplit(self.list, self.stack, stretch=(0, 1), sizes=sizes, handle=17)
        remember_division(split, "campaign-list", context.settings)
        self.unfold = icon_button(
            context.theme,
            "right",
            "campaigns-unfold",
            "Show the list of campaigns",
            clicked=self._unfold_list,
        )
        hbox(
            (self.unfold, 0, Qt.AlignmentFlag.AlignTop),
            (split, 1),
            parent=self,
            margins=(16, 12, 16, 12),
        )
        self._fold(context.settings.get(FOLDED, False))
        self._keep = QTimer(self)
        self._keep.setSingleShot(True)
        self._keep.setInterval(KEEP_MILLISECONDS)
        self._keep.timeout.connect(self._keep_draft)
        self._connect()
        self._fill_form()
        if self.list.lines.rows:
            self.list.table.select_row(0)

    def show_item(self, item: object) -> None:
        """Show the campaign with a number; "run" starts the campaign of the form."""
        if item == "run":
            self.run()
        elif isinstance(item, int):
            self.list.choose(item)

    def prepare(self) -> None:
        """Create the plots now; a campaign that starts should not wait for them."""
        self._campaign_view()

    def page_actions(self) -> list[QAction]:
        return [
            self.run_action,
            self.pause_action,
            self.stop_action,
            self.new_action,
            self.toml_action,
            self.import_action,
            self.export_action,
            self.unit_action,
            self.report_action,
        ]

    @Slot()
    def run(self) -> None:
        """Start the campaign of the form, as soon as the files are checked."""
        self._wants_run = False
        if self.files.is_checking and not self._blocker():
            self._wants_run = True
            self._show_readiness()
            return
        if reason := self._blocker():
            self._show_form()
            self.context.messages.warning(f"Cannot run the campaign: {reason}")
            return
        self._keep_draft()
        if left_out := self.form.left_out():
            self.context.messages.warning(left_out)
        self.controller.start(self.form.config(), self.form.executor.choice().executor)

    def _blocker(self) -> str:
        """Return why the campaign cannot run now, or an empty string."""
        if self.controller.is_busy:
            return "a campaign is running; stop it or wait until it is finished"
        if self.context.document.read_only:
            return "the workspace is read-only; save a copy first"
        if self.context.document.writer() is not None:
            return "another process is running a campaign in this workspace"
        return self.form.problem() or self._input_problem()

    def _input_problem(self) -> str:
        """Return what is wrong with the selected files, or an empty string."""
        config, files = self.form.config(), self.files
        for path in (config.domain or "", *config.problems):
            if path and not os.path.isfile(path):
                return f"{path} no longer exists"
        chosen = {config.domain, *config.problems}
        for error in files.errors():
            if error.location.file in chosen or error.location.file is None:
                return in_short(error)
        for spec in config.policies:
            checked = files.policies.get(spec)
            if checked is not None and checked.error:
                again = " (press F6 on the Project screen to try again)"
                is_server = PolicySpec.parse(spec).kind is SpecKind.SERVER
                return checked.error + (again if is_server else "")
            if checked is not None and checked.misfits:
                return f"{policy_name(spec)} does not fit the domain: {checked.misfits[0]}"
        for spec in (*config.policies, *config.portfolio):
            if not files.is_trusted(spec):
                return f"{policy_name(spec)} needs your consent on the Project screen"
        return ""

    def _connect(self) -> None:
        self.files.changed.connect(self._fill_form)
        self.files.checked.connect(self._on_files_checked)
        self.form.changed.connect(self._on_form_changed)
        self.context.document.closing.connect(self._keep_last_draft)
        self.controller.changed.connect(self._on_controller_changed)
        self.controller.already_done.connect(self._show_done)
        self.controller.failed.connect(self._tell_failure)
        self.context.theme.changed.connect(self._scale_list)
        self.split.splitterMoved.connect(self._forget_list_letters)
        self.list.chosen.connect(self._show_campaign)
        self.list.fold_requested.connect(self._fold_list)

    def _letter_width(self) -> int:
        return QFontMetrics(self.context.theme.ui_font).averageCharWidth()

    @Slot()
    def _scale_list(self) -> None:
        """Scale the chosen width of the list with the text, not one that may be squeezed."""
        before, self._letter = self._letter, self._letter_width()
        width, rest = self.split.sizes()
        if width and self._letter != before:
            self._list_letters = self._list_letters or width / before
            scaled = round(self._list_letters * self._letter)
            self.split.setSizes([scaled, width + rest - scaled])

    @Slot()
    def _forget_list_letters(self) -> None:
        self._list_letters = None

    @Slot()
    def _fold_list(self) -> None:
        self._fold(True)
        self.unfold.setFocus()

    @Slot()
    def _unfold_list(self) -> None:
        self._fold(False)
        self.list.table.setFocus()

    def _fold(self, folded: bool) -> None:
        self.list.setVisible(not folded)
        self.unfold.setVisible(folded)
        self.context.settings.set(FOLDED, folded)

    def _make_actions(self) -> None:
        self.run_action = action(self, "Run", self.run, "F5")
        self.pause_action = action(self, "Pause", self.controller.toggle_pause, "F7")
        self.stop_action = action(self, "Stop", self.controller.stop, "Shift+F5")
        self.new_action = action(self, "New campaign", self._show_form, "Ctrl+Shift+N")
        self.toml_action = action(self, "Show as TOML", self._toggle_toml, "Ctrl+T")
        self.toml_action.setCheckable(True)
        self.import_action = action(self, "Import TOML…", self._choose_import)
        self.export_action = action(self, "Export TOML…", self._choose_export)
        self.unit_action = action(self, "Export for other tools…", self._export_unit)
        self.report_action = action(self, "Write report…", self._report, "Ctrl+R")

    def _form_pane(self) -> QWidget:
        title = label("New campaign", "title")
        self.reason = ElidedLabel("", Qt.TextElideMode.ElideRight, role="muted")
        self.toml_button = button(
            "Show as TOML", "campaign-toml", "Show the settings as a campaign file (Ctrl+T)"
        )
        self.toml_button.setCheckable(True)
        self.toml_button.toggled.connect(self._show_toml)
        self.import_button = button(
            "Import…",
            "campaign-import",
            "Read the settings from a campaign file",
            clicked=self._choose_import,
        )
        self.export_button = button(
            "Export…",
            "campaign-export",
            "Save the settings as a campaign file",
            clicked=self._choose_export,
        )
        self.run_button = button(
            "Run", "campaign-run", clicked=self.run, icon=(self.context.theme, "run"), primary=True
        )
        buttons = (self.toml_button, self.import_button, self.export_button, self.run_button)
        header = Header((title, self.reason), buttons)
        self.toml = CodeView(self.context.theme, "campaign-toml-text", "The settings as TOML")
        self.body = QStackedWidget()
        self.body.addWidget(self.form)
        self.body.addWidget(self.toml)
        return pane(header, (self.body, 1), spacing=12)

    @Slot()
    def _fill_form(self) -> None:
        """Show the files of the project with its last settings."""
        project = self.files.project
        was_empty = self.form.unit_count == 0
        self.form.set_project(project)
        if was_empty:
            self.form.show_config(project.draft or default_config(project))
        self.form.set_past([line.row for line in self.list.lines.rows])
        self.form.set_obstacles(self.files.obstacles())
        self.form.set_without_dominance(self.files.without_dominance())

    @Slot()
    def _on_files_checked(self) -> None:
        self.form.set_obstacles(self.files.obstacles())
        self.form.set_without_dominance(self.files.without_dominance())
        self._show_readiness()
        if self._wants_run and not self.files.is_checking:
            self.run()

    @Slot()
    def _on_form_changed(self) -> None:
        self._keep.start()
        self._show_readiness()
        self._show_toml()

    @Slot()
    def _keep_draft(self) -> None:
        self._keep.stop()
        if not self.files.project.is_empty and not self.form.problem():
            self.files.set_draft(self.form.config())

    @Slot()
    def _keep_last_draft(self) -> None:
        if self._keep.isActive():
            self._keep_draft()

    def _show_readiness(self) -> None:
        reason = self._blocker()
        self.run_button.setEnabled(not reason)
        self.run_button.setToolTip(
            f"Unavailable: {reason}" if reason else "Start the campaign (F5)"
        )
        self.run_action.setEnabled(not reason)
        waiting = "Checking files; the campaign starts when they are checked…"
        self.reason.setText(waiting if self._wants_run else reason)

    @Slot()
    def _show_toml(self) -> None:
        shown = self.toml_button.isChecked()
        self.body.setCurrentIndex(int(shown))
        self.toml_action.setChecked(shown)
        if shown:
            self.toml.setPlainText(config_text(self.form.config(), self._toml_path()))

    def _toml_path(self) -> Path:
        folder = Path(self.files.project.domain or self.context.document.path).parent
        return folder / "campaign.toml"

    @Slot()
    def _toggle_toml(self) -> None:
        self._show_form()
        self.toml_button.toggle()

    @Slot()
    def _choose_import(self) -> None:
        name, _ = QFileDialog.getOpenFileName(
            self, "Import campaign", str(self._toml_path().parent), "Campaign files (*.toml)"
        )
        if name:
            self.import_toml(Path(name))

    def import_toml(self, path: Path) -> None:
        """Use the settings of a campaign file, and add the files it names to the project."""
        try:
            config = read_config(path)
        except PlumblineError as error:
            self.context.messages.error(f"Cannot import the campaign: {error}")
            return
        self.files.add_config(config)
        self.form.show_config(config)
        self._show_form()

    @Slot()
    def _choose_export(self) -> None:
        name, _ = QFileDialog.getSaveFileName(
            self, "Export campaign", str(self._toml_path()), "Campaign files (*.toml)"
        )
        if name:
            self.export_toml(Path(name))

    @Slot()
    def _export_unit(self) -> None:
        self._campaign_in_view().export_unit()

    @Slot()
    def _report(self) -> None:
        self._campaign_in_view().write_report()

    def _campaign_in_view(self) -> CampaignView:
        if self.stack.currentIndex() == 0 and self.list.lines.rows:
            self.list.table.select_row(0)  # the newest, from the form
        return self._campaign_view()

    def export_toml(self, path: Path) -> None:
        try:
            write_text(path, config_text(self.form.config(), path))
        except PlumblineError as error:
            self.context.messages.error(str(error))
            return
        self.context.messages.info(
            f"Saved the settings to {path}",
            f"plumbline campaign {path} --out {path.with_suffix('.plumb')}",
        )

    @Slot()
    def _on_controller_changed(self) -> None:
        busy = self.controller.is_busy
        if busy and self._trouble is not None:
            self.context.messages.withdraw(self._trouble)
            self._trouble = None
        self.pause_action.setEnabled(busy)
        self.pause_action.setText("Resume" if self.controller.is_paused else "Pause")
        self.stop_action.setEnabled(busy)
        self._show_readiness()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802  Qt's name
        super().showEvent(event)
        self.monitor.set_seen(True)

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802  Qt's name
        super().hideEvent(event)
        self.monitor.set_seen(False)

    @Slot(object)
    def _show_campaign(self, line: CampaignLine) -> None:
        if self.monitor.campaign != line.row.id:
            self.monitor.watch(line.row.id)
        view = self._campaign_view()
        view.show_line(line, self.list.lines.rows)
        if self.body.isVisible() and self.body.isAncestorOf(self.window().focusWidget()):
            self.list.table.setFocus()  # not whatever comes next: that may be a button to stop it
        self.stack.setCurrentWidget(view)

    def _campaign_view(self) -> CampaignView:
        if self._view is None:
            from app.views.campaign.campaign_view import CampaignView

            view = CampaignView(self.context, self.controller, self.monitor)
            view.bug_requested.connect(self._show_bug)
            view.bugs_requested.connect(self._show_bugs)
            view.pattern_requested.connect(self._show_pattern)
            view.resume_requested.connect(self._resume)
            view.again_requested.connect(self._use_settings)
            self.stack.addWidget(view)
            self._view = view
        return self._view

    @Slot()
    def _show_form(self) -> None:
        self.list.choose_none()
        self.form.set_past([line.row for line in self.list.lines.rows])
        self.stack.setCurrentIndex(0)
        self._show_readiness()

    @Slot(int)
    def _resume(self, campaign: int) -> None:
        choice = self.form.executor.choice()
        if problem := choice.problem():
            self.context.messages.warning(
                f"Choose where to run the units before resuming the campaign: {problem}",
                actions=[("Show settings", self._show_form)],
            )
            return
        self.controller.resume(campaign, choice.executor)

    @Slot(int)
    def _use_settings(self, campaign: int) -> None:
        for line in self.list.lines.rows:
            if line.row.id == campaign:
                self.files.add_config(line.row.config)
                self.form.show_config(line.row.config)
                self._show_form()

    @Slot(int)
    def _show_bug(self, bug: int) -> None:
        self.page_requested.emit("bugs", bug)

    @Slot(int)
    def _show_bugs(self, campaign: int) -> None:
        several = len(self.list.lines.rows) > 1
        self.page_requested.emit("bugs", f"campaign:{campaign}" if several else "")

    @Slot(int)
    def _show_pattern(self, pattern: int) -> None:
        self.page_requested.emit("bugs", f"pattern:{pattern}")

    @Slot(int)
    def _show_done(self, campaign: int) -> None:
        self.list.choose(campaign)
        self.context.messages.info(
            f"Campaign {campaign} already tested these files with these settings. "
            "Use another seed to test other states.",
            actions=[("Run with the next seed", self._run_next_seed)],
        )

    def _run_next_seed(self) -> None:
        config = self.form.config()
        self.form.show_config(
            config.with_seeds(*(seed + len(config.seeds) for seed in config.seeds))
        )
        self.run()

    @Slot(object)
    def _tell_failure(self, failure: Failure) -> None:
        campaign, what = self.controller.campaign, "start"
        if campaign is not None:
            offer, what = ("Resume", lambda: self._resume_later(campaign)), "continue"
        elif self.form.executor.choice().on_cluster:
            offer = "Run on this machine", self._run_here
        else:
            offer = "Show project", self._show_project
        self._trouble = self.context.messages.error(
            f"The campaign could not {what}: {failure.text}", failure.details, [offer]
        )

    def _run_here(self) -> None:
        self.form.executor.here.setChecked(True)
        if not self.controller.is_busy:
            self.run()

    def _resume_later(self, campaign: int) -> None:
        """Resume unless it has been resumed in the meantime."""
        self.list.choose(campaign)
        if not self.controller.is_busy:
            self._resume(campaign)

    def _show_project(self) -> None:
        self.page_requested.emit("project", None)
