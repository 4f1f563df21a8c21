"""The form of a campaign: a preset to start from, and every setting with what it means.

Its value is a `CampaignConfig`; what is wrong is said beside the field and kept as a list.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QCheckBox,
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
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
from app.widgets.builders import card, form
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
from engine.campaign.config_reader import (
    LEAST_MEGABYTES,
    CampaignConfig,
    FuzzSettings,
    OracleSettings,
    UnitLimits,
)
from engine.campaign.inputs import short_names
from engine.campaign.presets import PRESETS
from engine.records.project import Project
from engine.report.policy_text import policy_name

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
        """Of the content: options that are shown need room."""
        if event.type() == QEvent.Type.LayoutRequest:
            self._arrange()
        return super().eventFilter(watched, event)

    @Slot()
    def _arrange(self) -> None:
        """One column where two do not fit."""
        needed = sum(side.minimumSize().width() for side in self._sides) + SPACE + MARGIN
        is_narrow = self.viewport().width() < needed
        way = QBoxLayout.Direction.TopToBottom if is_narrow else QBoxLayout.Direction.LeftToRight
        for layout in (self._columns, self._preset_cards):
            layout.setDirection(way)

    def set_project(self, project: Project) -> None:
        """Other files: new ones are ticked."""
        self._is_showing = True
        names = dict(zip(project.problems, short_names(project.problems), strict=True))
        self.problems.set_names(project.problems, names.__getitem__)
        self.policies.set_names(project.policies, policy_name)
        self._project = project
        self.oracles.set_portfolio(bool(project.portfolio))
        self._is_showing = False
        self._edit()

    def show_config(self, config: CampaignConfig) -> None:
        """All settings; of the files those that are in the project."""
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
        """What the fields say; where they are wrong, what was there before."""
        return self._config

    def problem(self) -> str:
        """The first thing that is wrong, or nothing."""
        if not self._project.problems:
            return "There are no problems yet: add some on the project screen."
        if not self.problems.ticked():
            return "Tick at least one problem."
        if not self._project.policies:
            return "There is no policy yet: add one on the project screen."
        if not self.policies.ticked():
            return "Tick at least one policy."
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
            "Every seed makes walks of its own. The same seed with the same settings gives the "
            "same findings. Several: 0, 1, 5-9"
        )
        self._seeds_problem = QLabel()
        self._seeds_problem.setProperty("role", "bad")
        self._seeds_problem.setWordWrap(True)
        self._seeds_problem.hide()
        self._fields: dict[str, QWidget] = {
            "fuzzing.size": number(1, MAX_NUMBER),
            "fuzzing.walk_length": number(1, MAX_NUMBER),
            "fuzzing.bias": choice(BIASES),
            "fuzzing.horizon": number(1, MAX_NUMBER),
            "fuzzing.budget": number(1, MAX_NUMBER),
            "fuzzing.novelty": choice(NOVELTY),
            "fuzzing.prune_dead_ends": QCheckBox("Leave out states known to be dead ends"),
            "fuzzing.unsolved": choice(UNSOLVED),
            "testing.objective": choice(OBJECTIVES),
            "testing.step_limit": number(1, MAX_NUMBER),
            "testing.skip_known_bugs": QCheckBox("Leave a state alone once it is known as a bug"),
            "localization.enabled": QCheckBox("Find the bad action of every bug"),
            "limits.unit_seconds": LimitField(seconds_box(), 600),
            "limits.unit_megabytes": LimitField(megabytes_box(LEAST_MEGABYTES), 4000),
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
        frame, layout = card("What is tested")
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
            ("Longest walk", "fuzzing.walk_length"),
            ("Bias", "fuzzing.bias"),
            ("Horizon", "fuzzing.horizon"),
            ("Budget", "fuzzing.budget"),
            ("Novelty", "fuzzing.novelty"),
            ("Where the policy fails", "fuzzing.unsolved"),
            ("", "fuzzing.prune_dead_ends"),
        ):
            self._row(fields, label, name)
        return frame

    def _limits_card(self) -> QFrame:
        frame, layout = card("Repetitions and limits")
        fields = form(layout)
        fields.addRow("Seeds", self.seeds)
        fields.addRow(self._seeds_problem)
        self._row(fields, "Time per unit", "limits.unit_seconds")
        self._row(fields, "Memory per unit", "limits.unit_megabytes")
        self.total = QLabel()
        self.total.setProperty("role", "muted")
        self.total.setWordWrap(True)
        layout.addWidget(self.total)
        return frame

    def _oracles_card(self) -> QFrame:
        frame, layout = card("Oracles")
        fields = form(layout)
        self._row(fields, "Objective", "testing.objective")
        self._row(fields, "Longest run", "testing.step_limit")
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
        units = "1 unit" if self.unit_count == 1 else f"{self.unit_count} units"
        self.total.setText(f"{units} (problem x policy x seed), {states:,} states in all")
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
    "fuzzing.size": "How many states each unit tests. They are reached by random walks.",
    "fuzzing.walk_length": "Steps of the longest walk from one state of the pool to the next.",
    "fuzzing.bias": "Where walks like to go: toward trouble, or anywhere.",
    "fuzzing.horizon": "How many steps of the policy a bias looks ahead.",
    "fuzzing.budget": "How many states a bias may put to the policy per step of a walk.",
    "fuzzing.novelty": "Which states are worth keeping: those that show something new.",
    "fuzzing.prune_dead_ends": "Nobody can do anything about a state without a plan.",
    "fuzzing.unsolved": "What a walk does where it sees the policy fail.",
    "testing.objective": "What counts as a bug.",
    "testing.step_limit": "After so many decisions a run of the policy is given up.",
    "testing.skip_known_bugs": "Faster; but then the oracles cannot be compared with each other.",
    "localization.enabled": "After the test, look for the action where each run goes wrong.",
    "limits.unit_seconds": "A unit that takes longer is stopped, and what it found is kept. "
    "What a limit in seconds cuts off cannot be repeated exactly.",
    "limits.unit_megabytes": "A unit that uses more is stopped, and what it found is kept. Its "
    "policy and the planners it starts count as well.",
}
