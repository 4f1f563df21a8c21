"""The form of a campaign: presets, files, a sentence that says what is going to happen.

All other settings are folded away until the user wants to customize them. The value of the form is
a `CampaignConfig`; problems are shown beside their fields.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from PySide6.QtCore import QEvent, QObject, Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QCheckBox,
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QScrollArea,
    QToolButton,
    QWidget,
)

from app.models.campaign_settings import (
    BIASES,
    MODES,
    NOVELTY,
    OBJECTIVES,
    UNSOLVED,
    declined_text,
    default_config,
    domain_for,
    mixture_problem,
    parse_seeds,
    plan_text,
    preset_of,
    seeds_text,
    with_preset,
)
from app.services.context import Context
from app.views.campaign.executor_card import ExecutorCard
from app.views.campaign.oracle_list import OracleList
from app.views.campaign.pool_choice import PoolChoice
from app.widgets.builders import card, describe, form, paragraph
from app.widgets.fields import (
    MAX_NUMBER,
    LimitField,
    calm,
    changed_signal,
    choice,
    megabytes_box,
    number,
    seconds_box,
    show_value,
    value_of,
)
from app.widgets.layouts import hbox, pane, vbox
from app.widgets.link_card import LinkCard
from app.widgets.tick_list import TickList
from engine.campaign.config_reader import MIN_UNIT_MEGABYTES
from engine.campaign.inputs import short_names
from engine.campaign.presets import PRESETS
from engine.records.config import CampaignConfig, FuzzSettings, Mode, OracleSettings, UnitLimits
from engine.records.project import Project
from engine.report.policy_text import policy_name
from engine.report.words import count_text
from engine.workspace.rows import CampaignRow

SPACE, MARGIN = 12, 8  # pixels
UNFOLDED = "campaign/customize"


class CampaignForm(QScrollArea):
    changed = Signal()

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        describe(self, "campaign-form", "Settings of the campaign")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # what is in it can be reached
        self._context, self._theme = context, context.theme
        self.executor = ExecutorCard(context)
        self._project = Project()
        self._config = default_config(self._project)
        self._is_showing = False
        self._obstacles: dict[str, str] = {}
        self._without_dominance: Mapping[str, str] = {}
        self._past: Sequence[CampaignRow] = ()
        self._make_fields()
        cards = self._fuzzing_card(), self._objective_card(), self._limits_card()
        self._sides = left, right = (
            vbox(*cards, 1, spacing=SPACE),
            vbox(self._oracles_card(), 1, spacing=SPACE),
        )
        self.folded = QWidget()
        self._columns = hbox((left, 1), (right, 1), parent=self.folded, spacing=SPACE)
        content = pane(
            self._preset_row(),
            self.plan,
            self.notes,
            self._inputs_card(),
            (self.customize, 0, Qt.AlignmentFlag.AlignLeft),
            self.folded,
            1,
            spacing=SPACE,
            margins=(0, 0, MARGIN, 0),
        )
        self.setWidget(content)
        self._theme.changed.connect(self._arrange)
        self.customize.setChecked(context.settings.get(UNFOLDED, False))
        self._fold(self.customize.isChecked())
        self.show_config(self._config)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802  Qt's name
        super().resizeEvent(event)
        self._arrange()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802  Qt's name
        """Rearrange when options are shown or hidden."""
        if event.type() == QEvent.Type.LayoutRequest:
            self._arrange()
        return super().eventFilter(watched, event)

    @Slot()
    def _arrange(self) -> None:
        """Use one column if two do not fit."""
        needed = sum(side.minimumSize().width() for side in self._sides) + SPACE + MARGIN
        is_narrow = self.viewport().width() < needed
        way = QBoxLayout.Direction.TopToBottom if is_narrow else QBoxLayout.Direction.LeftToRight
        for layout in (self._columns, self._preset_cards, self._inputs):
            layout.setDirection(way)

    def set_project(self, project: Project) -> None:
        """Show other files; new ones are selected."""
        self._is_showing = True
        names = dict(zip(project.problems, short_names(project.problems), strict=True))
        self.problems.set_names(project.problems, names.__getitem__)
        self.policies.set_names(project.policies, policy_name)
        self._project = project
        self.oracles.set_portfolio(bool(project.portfolio))
        self._is_showing = False
        self._edit()

    def set_obstacles(self, obstacles: Mapping[str, str]) -> None:
        """Leave out the problems that cannot be tested; `obstacles` says why."""
        if obstacles != self._obstacles:
            self._obstacles = dict(obstacles)
            self.problems.bar(self._obstacles)
            self._edit()

    def set_without_dominance(self, notes: Mapping[str, str]) -> None:
        """Problems whose tasks have no dominance function; `notes` say what oracles do instead."""
        self._without_dominance = notes
        self._show_plan()

    def set_past(self, past: Sequence[CampaignRow]) -> None:
        """Set past campaigns, the newest first, to estimate the duration from."""
        self._past = past
        self._show_plan()

    def show_config(self, config: CampaignConfig) -> None:
        """Show all settings, and select the campaign's files that are in the project."""
        self._is_showing = True
        self._config = config
        for name, widget in self._fields.items():
            show_value(widget, self._value(config, name))
        self.seeds.setText(seeds_text(config.seeds))
        self.pool.show_pool(config.pool)
        for reason in self.oracles.set_oracles(config.testing.oracles):
            self._context.messages.warning(f"Left out an oracle of these settings: {reason}")
        if config.problems or config.policies:
            names = dict(
                zip(self._project.problems, short_names(self._project.problems), strict=True)
            )
            self.problems.set_ticked(
                self._project.problems, set(config.problems), names.__getitem__
            )
            self.policies.set_ticked(self._project.policies, set(config.policies), policy_name)
        self._is_showing = False
        self._edit()

    def config(self) -> CampaignConfig:
        """Return the settings; a wrong field keeps its previous value."""
        return self._config

    def problem(self) -> str:
        """Return the first problem with the settings, or an empty string."""
        if not self._project.problems:
            return "Add problems on the Project screen."
        if not self.problems.ticked():
            return self._common_obstacle() or "Select at least one problem."
        if not self._project.policies:
            return "Add a policy on the Project screen."
        if not self.policies.ticked():
            return "Select at least one policy."
        if problem := self.pool.problem() or mixture_problem(self.problems.ticked()):
            return problem
        return self.oracles.problem() or self._seeds_problem.text() or self.executor.problem()

    def left_out(self) -> str:
        """Say which problems the campaign leaves out, with the first reason."""
        if not self._obstacles or self._common_obstacle():
            return ""
        names = ", ".join(Path(path).name for path in self._obstacles)
        return f"Leaves out {names}: {next(iter(self._obstacles.values()))}."

    def _common_obstacle(self) -> str:
        if len(self._obstacles) < len(self._project.problems):
            return ""
        return f"No problem can be tested: {next(iter(self._obstacles.values()))}"

    @property
    def unit_count(self) -> int:
        config = self._config
        return len(config.problems) * len(config.policies) * len(config.seeds)

    def _make_fields(self) -> None:
        self.problems = TickList("campaign-problems", "Problems")
        self.policies = TickList("campaign-policies", "Policies")
        self.oracles = OracleList()
        self.seeds = QLineEdit()
        describe(
            self.seeds,
            "campaign-seeds",
            "Seeds",
            "Seeds of the random walks, such as 0, 1, 5-9. The same seed and settings give the "
            "same findings.",
        )
        self._seeds_problem = paragraph(role="bad")
        self._seeds_problem.hide()
        self._fields: dict[str, QWidget] = {
            "fuzzing.size": number(1, MAX_NUMBER),
            "fuzzing.walk_length": number(1, MAX_NUMBER),
            "fuzzing.bias": choice(BIASES),
            "fuzzing.horizon": number(0, MAX_NUMBER),
            "fuzzing.budget": number(0, MAX_NUMBER),
            "fuzzing.novelty": choice(NOVELTY),
            "fuzzing.unsolved": choice(UNSOLVED),
            "fuzzing.seconds": LimitField(seconds_box(), 600),
            "testing.mode": choice(MODES),
            "testing.objective": choice(OBJECTIVES),
            "testing.step_limit": number(1, MAX_NUMBER),
            "testing.skip_known_bugs": QCheckBox("Skip states already known as bugs"),
            "localization.enabled": QCheckBox("Localize every bug"),
            "minimization.enabled": QCheckBox("Minimize every root cause"),
            "limits.unit_seconds": LimitField(seconds_box(), 600),
            "limits.unit_megabytes": LimitField(megabytes_box(MIN_UNIT_MEGABYTES), 4000),
            "limits.oracle_seconds": LimitField(seconds_box(), 3600),
            "limits.state_seconds": LimitField(seconds_box(), 60),
        }
        for name, widget in self._fields.items():
            widget.setObjectName(f"campaign-{name.partition('.')[2].replace('_', '-')}")
            widget.setToolTip(_TIPS[name])
            calm(widget)
            changed_signal(widget).connect(self._edit)
        fuzzing = [self._fields[name] for name in self._fields if name.startswith("fuzzing.")]
        self.pool = PoolChoice(self._context, self.problems, fuzzing)
        self.pool.changed.connect(self._edit)
        for signal in (self.problems.changed, self.policies.changed, self.oracles.changed):
            signal.connect(self._edit)
        self.seeds.textChanged.connect(self._edit)
        self.executor.changed.connect(self.changed)

        self.plan = paragraph(role="title")
        describe(self.plan, "campaign-plan", "What the campaign will do")
        self.notes = paragraph()
        describe(self.notes, "campaign-notes", "What the campaign leaves out")
        self.notes.hide()
        self.customize = QToolButton()
        describe(
            self.customize, "campaign-customize", "Customize", "Show or hide all other settings"
        )
        self.customize.setText("Customize")
        self.customize.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.customize.setAutoRaise(True)
        self.customize.setCheckable(True)
        self.customize.toggled.connect(self._fold)
        self._theme.changed.connect(self._show_arrow)

    @Slot(bool)
    def _fold(self, unfolded: bool) -> None:
        self.folded.setVisible(unfolded)
        self._context.settings.set(UNFOLDED, unfolded)
        self._show_arrow()
        self._arrange()

    @Slot()
    def _show_arrow(self) -> None:
        name = "chevron-down" if self.customize.isChecked() else "chevron-right"
        self.customize.setIcon(self._theme.icon(name, "muted"))

    def field(self, name: str) -> QWidget:
        return self._fields[name]

    def _preset_row(self) -> QHBoxLayout:
        self.presets: dict[str, LinkCard] = {}
        for name, preset in PRESETS.items():
            button = LinkCard(self._theme, "settings", preset.title, preset.purpose)
            button.setObjectName(f"preset-{name}")
            button.setCheckable(True)
            button.setProperty("preset", name)
            button.clicked.connect(self._use_preset)
            self.presets[name] = button
        self._preset_cards = hbox(*((made, 1) for made in self.presets.values()), spacing=SPACE)
        return self._preset_cards

    def _inputs_card(self) -> QFrame:
        frame, layout = card("Problems and policies")
        top = Qt.AlignmentFlag.AlignTop
        self._inputs = hbox((self.problems, 1, top), (self.policies, 1, top), spacing=SPACE)
        layout.addLayout(self._inputs)
        return frame

    def _fuzzing_card(self) -> QFrame:
        frame, layout = card("Fuzzing")
        fields = form(layout)
        fields.addRow(self.pool.label, self.pool.box)
        fields.addRow(self.pool)
        for label, name in (
            ("Pool size", "fuzzing.size"),
            ("Maximum walk length", "fuzzing.walk_length"),
            ("Bias", "fuzzing.bias"),
            ("Horizon", "fuzzing.horizon"),
            ("Budget", "fuzzing.budget"),
            ("Novelty", "fuzzing.novelty"),
            ("When the policy fails", "fuzzing.unsolved"),
            ("Time for walks", "fuzzing.seconds"),
        ):
            self._row(fields, label, name)
        return frame

    def _objective_card(self) -> QFrame:
        frame, layout = card("Objective")
        fields = form(layout)
        self._row(fields, "What counts as a bug", "testing.objective")
        self._row(fields, "", "localization.enabled")
        self._row(fields, "", "minimization.enabled")
        return frame

    def _limits_card(self) -> QFrame:
        frame, layout = card("Seeds and limits")
        fields = form(layout)
        fields.addRow("Seeds", self.seeds)
        fields.addRow(self._seeds_problem)
        self._row(fields, "Maximum run length", "testing.step_limit")
        self._row(fields, "Time per unit", "limits.unit_seconds")
        self._row(fields, "Memory per unit", "limits.unit_megabytes")
        self._row(fields, "Time per oracle", "limits.oracle_seconds")
        self._row(fields, "Time per oracle and state", "limits.state_seconds")
        self.total = paragraph()
        layout.addWidget(self.total)
        layout.addWidget(self.executor)
        return frame

    def _oracles_card(self) -> QFrame:
        frame, layout = card("Oracles")
        fields = form(layout)
        self._row(fields, "Mode", "testing.mode")
        self._row(fields, "", "testing.skip_known_bugs")
        layout.addWidget(self.oracles)
        return frame

    def _row(self, fields: QFormLayout, label: str, name: str) -> None:
        widget = self._fields[name]
        text = widget.text() if isinstance(widget, QCheckBox) else label
        widget.setAccessibleName(text)
        if label:
            fields.addRow(label, widget)
            fields.labelForField(widget).setToolTip(_TIPS[name])
        else:
            fields.addRow(widget)

    @Slot()
    def _use_preset(self) -> None:
        self.show_config(with_preset(self._config, str(self.sender().property("preset"))))

    @Slot()
    def _edit(self) -> None:
        if self._is_showing:
            return
        self._config = self._read()
        compares = self._config.testing.mode is Mode.COMPARE
        self._fields["testing.skip_known_bugs"].setEnabled(not compares)
        preset = preset_of(self._config)
        for name, button in self.presets.items():
            button.setChecked(name == preset)
        states = self.unit_count * self._states
        units = count_text(self.unit_count, "unit")
        self.total.setText(
            f"{units} (one per problem, policy and seed), {count_text(states, 'state')}"
        )
        self._show_plan()
        if self._seeds_problem.text() or self.oracles.problem():
            self.customize.setChecked(True)  # errors have to be visible
        self.changed.emit()

    @property
    def _states(self) -> int:
        """The number of states of one unit."""
        return self.pool.states or self._config.fuzzing.size

    def _show_plan(self) -> None:
        config = self._config
        notes = self.left_out(), declined_text(config, self._without_dominance)
        self.notes.setText("\n".join(filter(None, notes)))
        self.notes.setVisible(any(notes))
        if not self.unit_count or not config.testing.oracles:
            self.plan.setText("Choose what to test.")
        else:
            self.plan.setText(plan_text(config, self._states, self._past))

    def _read(self) -> CampaignConfig:
        tables: dict[str, dict[str, Any]] = {"fuzzing": {}, "testing": {}, "limits": {}}
        for name, widget in self._fields.items():
            table, _, key = name.partition(".")
            if table in tables:
                tables[table][key] = value_of(widget)
        tables["testing"]["mode"] = Mode(tables["testing"]["mode"])  # Qt knows only its text
        if tables["testing"]["mode"] is Mode.COMPARE:
            tables["testing"]["skip_known_bugs"] = False
        minimizes = bool(value_of(self._fields["minimization.enabled"]))
        enabled = minimizes or bool(value_of(self._fields["localization.enabled"]))
        project = self._project
        return replace(
            self._config,
            domain=domain_for(project, self.problems.ticked()),
            problems=self.problems.ticked(),
            policies=self.policies.ticked(),
            portfolio=project.portfolio,
            pool=self.pool.path,
            unit_costs=project.unit_costs,
            seeds=self._read_seeds(),
            fuzzing=FuzzSettings(**tables["fuzzing"]),
            testing=OracleSettings(oracles=self.oracles.oracles(), **tables["testing"]),
            limits=UnitLimits(**tables["limits"]),
            localization=replace(self._config.localization, enabled=enabled),
            minimization=replace(self._config.minimization, enabled=minimizes),
        )

    def _read_seeds(self) -> tuple[int, ...]:
        try:
            seeds, problem = parse_seeds(self.seeds.text()), ""
        except ValueError as error:
            seeds, problem = self._config.seeds, str(error)
        self._seeds_problem.setText(problem)
        self._seeds_problem.setVisible(bool(problem))
        return seeds

    def _value(self, config: CampaignConfig, name: str) -> object:
        table, _, key = name.partition(".")
        value: object = getattr(getattr(config, table), key)
        return value


_TIPS = {
    "fuzzing.size": "Number of states that each unit tests. Random walks find them.",
    "fuzzing.walk_length": "Stop a random walk after this many steps.",
    "fuzzing.bias": "Which states random walks prefer.",
    "fuzzing.horizon": "Number of policy steps that a bias looks ahead; 0 for whole runs.",
    "fuzzing.budget": "Policy evaluations allowed per walk step; 0 for no limit.",
    "fuzzing.novelty": "Add a state to the pool only if it is this new.",
    "fuzzing.unsolved": "What a random walk does in a state where the policy fails.",
    "fuzzing.seconds": "Stop looking for states after this time. Without it, random walks stop "
    "after 200 walks and 20 more per state.",
    "testing.mode": "Let oracles work as a team to find as many bugs as possible, or each by "
    "itself to compare what each proves in which time.",
    "testing.objective": "What counts as a bug.",
    "testing.step_limit": "Stop a policy run after this many steps.",
    "testing.skip_known_bugs": "Test faster: once a state is a bug, the remaining oracles skip it. "
    "The results of oracles are then not comparable.",
    "localization.enabled": "After testing, find the bad steps of every bug.",
    "minimization.enabled": "Find the smallest problem that shows each mistake. Localizes bugs.",
    "limits.unit_seconds": "Stop a unit after this time and keep what it found. Results that "
    "depend on a time limit are not exactly repeatable.",
    "limits.unit_megabytes": "Stop a unit that uses more memory and keep what it found. Its "
    "policy and planners count as well.",
    "limits.oracle_seconds": "Stop an oracle that has used this much CPU time on a problem; the "
    "other oracles continue.",
    "limits.state_seconds": "Stop an oracle that has used this much CPU time on one state and "
    "continue with the next state.",
}
