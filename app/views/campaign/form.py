"""The form of a campaign: presets, and every setting with a tooltip.

Its value is a `CampaignConfig`; problems are shown beside their fields.
"""

from __future__ import annotations

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
    QVBoxLayout,
    QWidget,
)

from app.models.campaign_settings import (
    BIASES,
    NOVELTY,
    OBJECTIVES,
    UNSOLVED,
    default_config,
    domain_for,
    mixture_problem,
    parse_seeds,
    preset_of,
    seeds_text,
    with_preset,
)
from app.services.context import Context
from app.views.campaign.executor_card import ExecutorCard
from app.views.campaign.oracle_list import OracleList
from app.views.campaign.pool_choice import PoolChoice
from app.widgets.builders import card, form, paragraph
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
from app.widgets.link_card import LinkCard
from app.widgets.tick_list import TickList
from engine.campaign.config_reader import MIN_UNIT_MEGABYTES
from engine.campaign.inputs import short_names
from engine.campaign.presets import PRESETS
from engine.records.config import CampaignConfig, FuzzSettings, OracleSettings, UnitLimits
from engine.records.project import Project
from engine.report.policy_text import policy_name
from engine.report.words import count_text

SPACE, MARGIN = 12, 8  # pixels


class CampaignForm(QScrollArea):
    changed = Signal()

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("campaign-form")
        self.setAccessibleName("Settings of the campaign")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # what is in it can be reached
        self._context, self._theme = context, context.theme
        self.executor = ExecutorCard(context)
        self._project = Project()
        self._config = default_config(self._project)
        self._is_showing = False
        self._make_fields()
        self._sides = left, right = QVBoxLayout(), QVBoxLayout()
        for column, cards in (
            (left, (self._inputs_card(), self._fuzzing_card(), self._limits_card(), self.executor)),
            (right, (self._oracles_card(),)),
        ):
            column.setSpacing(SPACE)
            for item in cards:
                column.addWidget(item)
            column.addStretch(1)
        self._columns = QHBoxLayout()
        self._columns.setSpacing(SPACE)
        self._columns.addLayout(left, 1)
        self._columns.addLayout(right, 1)
        content = QWidget()
        layout = QVBoxLayout(content)
        layout.setContentsMargins(0, 0, MARGIN, 0)
        layout.setSpacing(SPACE)
        layout.addLayout(self._preset_row())
        layout.addLayout(self._columns)
        layout.addStretch(1)
        self.setWidget(content)
        self._theme.changed.connect(self._arrange)
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
        for layout in (self._columns, self._preset_cards):
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

    def show_config(self, config: CampaignConfig) -> None:
        """Show all settings, and select the campaign's files that are in the project."""
        self._is_showing = True
        self._config = config
        for name, widget in self._fields.items():
            show_value(widget, self._value(config, name))
        self.seeds.setText(seeds_text(config.seeds))
        self.pool.show_pool(config.pool)
        self.oracles.set_oracles(config.testing.oracles)
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
            return "Select at least one problem."
        if not self._project.policies:
            return "Add a policy on the Project screen."
        if not self.policies.ticked():
            return "Select at least one policy."
        if problem := self.pool.problem() or mixture_problem(self.problems.ticked()):
            return problem
        return self.oracles.problem() or self._seeds_problem.text() or self.executor.problem()

    @property
    def unit_count(self) -> int:
        config = self._config
        return len(config.problems) * len(config.policies) * len(config.seeds)

    def _make_fields(self) -> None:
        self.problems = TickList("campaign-problems", "Problems")
        self.policies = TickList("campaign-policies", "Policies")
        self.oracles = OracleList(self._theme)
        self.seeds = QLineEdit()
        self.seeds.setObjectName("campaign-seeds")
        self.seeds.setAccessibleName("Seeds")
        self.seeds.setToolTip(
            "Seeds of the random walks, such as 0, 1, 5-9. The same seed and settings give the "
            "same findings."
        )
        self._seeds_problem = paragraph(role="bad")
        self._seeds_problem.hide()
        self._fields: dict[str, QWidget] = {
            "fuzzing.size": number(1, MAX_NUMBER),
            "fuzzing.walk_length": number(1, MAX_NUMBER),
            "fuzzing.bias": choice(BIASES),
            "fuzzing.horizon": number(1, MAX_NUMBER),
            "fuzzing.budget": number(1, MAX_NUMBER),
            "fuzzing.novelty": choice(NOVELTY),
            "fuzzing.prune_dead_ends": QCheckBox("Skip dead ends"),
            "fuzzing.unsolved": choice(UNSOLVED),
            "testing.objective": choice(OBJECTIVES),
            "testing.step_limit": number(1, MAX_NUMBER),
            "testing.skip_known_bugs": QCheckBox("Skip states already known as bugs"),
            "localization.enabled": QCheckBox("Localize every bug"),
            "limits.unit_seconds": LimitField(seconds_box(), 600),
            "limits.unit_megabytes": LimitField(megabytes_box(MIN_UNIT_MEGABYTES), 4000),
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

    def field(self, name: str) -> QWidget:
        return self._fields[name]

    def _preset_row(self) -> QHBoxLayout:
        self.presets: dict[str, LinkCard] = {}
        self._preset_cards = row = QHBoxLayout()
        row.setSpacing(SPACE)
        for name, preset in PRESETS.items():
            button = LinkCard(self._theme, "settings", preset.title, preset.purpose)
            button.setObjectName(f"preset-{name}")
            button.setCheckable(True)
            button.setProperty("preset", name)
            button.clicked.connect(self._use_preset)
            self.presets[name] = button
            row.addWidget(button, 1)
        return row

    def _inputs_card(self) -> QFrame:
        frame, layout = card("Problems and policies")
        layout.addWidget(self.problems)
        layout.addWidget(self.policies)
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
            ("", "fuzzing.prune_dead_ends"),
        ):
            self._row(fields, label, name)
        return frame

    def _limits_card(self) -> QFrame:
        frame, layout = card("Seeds and limits")
        fields = form(layout)
        fields.addRow("Seeds", self.seeds)
        fields.addRow(self._seeds_problem)
        self._row(fields, "Time per unit", "limits.unit_seconds")
        self._row(fields, "Memory per unit", "limits.unit_megabytes")
        self.total = paragraph()
        layout.addWidget(self.total)
        return frame

    def _oracles_card(self) -> QFrame:
        frame, layout = card("Oracles")
        fields = form(layout)
        self._row(fields, "Objective", "testing.objective")
        self._row(fields, "Maximum run length", "testing.step_limit")
        self._row(fields, "", "testing.skip_known_bugs")
        self._row(fields, "", "localization.enabled")
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
        preset = preset_of(self._config)
        for name, button in self.presets.items():
            button.setChecked(name == preset)
        states = self.unit_count * (self.pool.states or self._config.fuzzing.size)
        units = count_text(self.unit_count, "unit")
        self.total.setText(f"{units} (problems x policies x seeds), {count_text(states, 'state')}")
        self.changed.emit()

    def _read(self) -> CampaignConfig:
        tables: dict[str, dict[str, Any]] = {"fuzzing": {}, "testing": {}, "limits": {}}
        for name, widget in self._fields.items():
            table, _, key = name.partition(".")
            if table in tables:
                tables[table][key] = value_of(widget)
        enabled = bool(value_of(self._fields["localization.enabled"]))
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
    "fuzzing.horizon": "Number of policy steps that a bias looks ahead.",
    "fuzzing.budget": "Policy evaluations allowed per walk step.",
    "fuzzing.novelty": "Add a state to the pool only if it is this new.",
    "fuzzing.prune_dead_ends": "Skip states from which no plan exists.",
    "fuzzing.unsolved": "What a random walk does in a state where the policy fails.",
    "testing.objective": "What counts as a bug.",
    "testing.step_limit": "Stop a policy run after this many steps.",
    "testing.skip_known_bugs": "Test faster; the results of oracles are then not comparable.",
    "localization.enabled": "After testing, find the bad steps of every bug.",
    "limits.unit_seconds": "Stop a unit after this time and keep what it found. Results that "
    "depend on a time limit are not exactly repeatable.",
    "limits.unit_megabytes": "Stop a unit that uses more memory and keep what it found. Its "
    "policy and planners count as well.",
}
