"""The form for a new experiment: which paper, on what, at which scale."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QFileDialog,
    QFrame,
    QLabel,
    QLineEdit,
    QRadioButton,
    QScrollArea,
    QWidget,
)

from app.models.experiments import (
    DEFAULT_SCALE,
    ExperimentChoice,
    PortfolioChoice,
    Source,
    describe_experiment,
)
from app.models.project_files import project_files
from app.services.context import Context
from app.services.folders import short_path
from app.views.campaign.executor_card import ExecutorCard
from app.widgets.builders import button, card, describe, label, paragraph
from app.widgets.fields import calm, choice, number
from app.widgets.labels import ElidedLabel
from app.widgets.layouts import hbox, pane
from engine.errors import PlumblineError
from engine.experiments.config_reader import MAX_SCALE
from engine.experiments.presets import EXPERIMENT_PRESETS
from engine.records.experiment import ExperimentConfig, PortfolioRanking, PortfolioSettings
from engine.report.words import sentence

INDENT = 24
SIZES_WIDTH, MAX_SIZES_LENGTH = 140, 100
RANKINGS = {
    PortfolioRanking.RECORDED: "best first: by what their training recorded, else as listed",
    PortfolioRanking.LISTED: "as listed: in the order of the project or the folder",
}


class ExperimentForm(QScrollArea):
    changed = Signal()

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.files = project_files(context)
        self._place = {True: "", False: ""}  # by whether domains are compared
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.executor = ExecutorCard(context)
        body = pane(
            self._paper_card(),
            self._suite_card(),
            self.executor,
            1,
            spacing=12,
            margins=(0, 0, 8, 0),
        )
        self.setWidget(body)
        self._connect()
        self._on_edited()

    def choice(self) -> ExperimentChoice:
        preset = next(name for name, radio in self.papers.items() if radio.isChecked())
        made = ExperimentChoice(
            preset,
            Source(self.source.currentData()),
            "",
            self.scale.value(),
            PortfolioChoice(self.sizes.text(), PortfolioRanking(self.ranking.currentData())),
        )
        return replace(made, place=self._place[made.compares_domains])

    def choose(self, preset: str) -> None:
        self.papers[preset].setChecked(True)

    def problem(self) -> str:
        """Why it cannot run; empty if it can."""
        chosen, project = self.choice(), self.files.project
        if reason := chosen.problem(project):
            return reason
        if chosen.source is Source.PROJECT:
            for spec in (*project.policies, *project.portfolio):
                if not self.files.is_trusted(spec):
                    return "a policy needs your consent on the Project screen"
        try:
            chosen.config(project)
        except PlumblineError as error:
            return str(error)
        return self.executor.choice().problem()

    def config(self) -> ExperimentConfig:
        return self.choice().config(self.files.project)

    def set_place(self, place: str) -> None:
        """The folder or the CSV file to run on."""
        self._place[self.choice().compares_domains] = place
        self.source.setCurrentIndex(self.source.findData(Source.FOLDER.value))
        self._on_edited()

    def _paper_card(self) -> QWidget:
        frame, layout = card("Paper")
        self.papers: dict[str, QRadioButton] = {}
        group = QButtonGroup(self)
        for preset in EXPERIMENT_PRESETS.values():
            radio = QRadioButton(preset.title)
            describe(radio, f"experiment-{preset.name}", preset.title, preset.paper)
            group.addButton(radio)
            layout.addWidget(radio)
            words = paragraph(preset.answers)
            words.setContentsMargins(INDENT, 0, 0, 4)
            layout.addWidget(words)
            self.papers[preset.name] = radio
        next(iter(self.papers.values())).setChecked(True)
        return frame

    def _suite_card(self) -> QWidget:
        frame, layout = card("Run on")
        self.source = QComboBox()
        describe(
            self.source,
            "experiment-source",
            "Run on",
            "Choose the files of this project, a folder of domains, or the bundled examples",
        )
        for source in Source:
            self.source.addItem("", source.value)
        calm(self.source)
        self.browse = button(
            "Choose…",
            "experiment-browse",
            "Choose a folder in which every domain has a folder of its own",
            clicked=self._choose_place,
        )
        self.place = ElidedLabel("", Qt.TextElideMode.ElideMiddle, role="muted")
        row = hbox(self.source, self.browse, (self.place, 1), spacing=8)
        layout.addLayout(row)
        self.scale = number(1, MAX_SCALE)
        self.scale.setValue(DEFAULT_SCALE)
        describe(
            self.scale,
            "experiment-scale",
            "Scale",
            "Divide pool sizes and limits in seconds by this; 1 repeats the paper's settings",
        )
        calm(self.scale)
        self.scale_words = label(role="muted")
        scale = hbox(QLabel("Scale 1 :"), self.scale, (self.scale_words, 1), spacing=8)
        layout.addLayout(scale)
        layout.addWidget(self._portfolio_row())
        self.summary = paragraph(role="")
        self.summary.setObjectName("experiment-summary")
        layout.addWidget(self.summary)
        return frame

    def _portfolio_row(self) -> QWidget:
        """Only where portfolios are compared."""
        self.sizes = QLineEdit(", ".join(map(str, PortfolioSettings().sizes)))
        describe(
            self.sizes,
            "experiment-sizes",
            "Portfolio sizes",
            "How many policies the compared portfolios have, such as 1, 2, 5, 10",
        )
        self.sizes.setMaximumWidth(SIZES_WIDTH)
        self.sizes.setMaxLength(MAX_SIZES_LENGTH)
        self.ranking = choice(RANKINGS)
        describe(
            self.ranking,
            "experiment-ranking",
            "Ranking",
            "Which policies are the first ones of a portfolio",
        )
        calm(self.ranking)
        self.portfolio_row = QWidget()
        hbox(
            QLabel("Portfolios of"),
            self.sizes,
            QLabel("policies,"),
            self.ranking,
            1,
            parent=self.portfolio_row,
            spacing=8,
        )
        return self.portfolio_row

    def _connect(self) -> None:
        for radio in self.papers.values():
            radio.toggled.connect(self._on_edited)
        self.source.currentIndexChanged.connect(self._on_edited)
        self.scale.valueChanged.connect(self._on_edited)
        self.sizes.textChanged.connect(self._on_edited)
        self.ranking.currentIndexChanged.connect(self._on_edited)
        self.executor.changed.connect(self.changed)
        self.files.changed.connect(self._on_edited)
        self.files.checked.connect(self.changed)

    @Slot()
    def _on_edited(self) -> None:
        chosen = self.choice()
        pairs = chosen.compares_domains
        names = {
            Source.PROJECT: "This project",
            Source.FOLDER: "A CSV file of domain pairs" if pairs else "A folder of domains",
            Source.EXAMPLES: "The bundled pairs" if pairs else "The bundled examples",
        }
        for index in range(self.source.count()):
            self.source.setItemText(index, names[Source(self.source.itemData(index))])
        self.portfolio_row.setVisible(chosen.compares_portfolios)
        is_folder = chosen.source is Source.FOLDER
        self.browse.setVisible(is_folder)
        self.place.setVisible(is_folder)
        self.place.setText(short_path(Path(chosen.place)) if chosen.place else "")
        is_whole = chosen.scale == 1
        self.scale_words.setText("the paper's settings" if is_whole else "for a first look")
        self._describe(chosen)
        self.changed.emit()

    def _describe(self, chosen: ExperimentChoice) -> None:
        try:
            reason = chosen.problem(self.files.project)
            text = sentence(reason) if reason else describe_experiment(self.config())
        except PlumblineError as error:
            text = str(error)
        self.summary.setText(text)

    @Slot()
    def _choose_place(self) -> None:
        if self.choice().compares_domains:
            place, _ = QFileDialog.getOpenFileName(self, "Domain pairs", "", "Pairs (*.csv)")
        else:
            place = QFileDialog.getExistingDirectory(self, "Folder of domains")
        if place:
            self.set_place(place)
