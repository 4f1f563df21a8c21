"""The form of a training: problems, teacher, network size, epochs and folder."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QComboBox,
    QDoubleSpinBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QWidget,
)

from app.models.table_model import TableModel
from app.models.training import (
    PROBLEM_COLUMNS,
    TRAIN,
    UNUSED,
    VALIDATE,
    ProblemUse,
    generate_problems,
    generator_for,
    shared_out,
)
from app.services.context import Context
from app.widgets.builders import action, button, describe, heading
from app.widgets.fields import show_value
from app.widgets.labels import ElidedLabel
from app.widgets.layouts import hbox, vbox
from app.widgets.table_view import TableView
from engine.records.training import TrainingPlan

TEACHERS = {
    "optimal": "Optimal plans",
    "lama": "First plans of LAMA",
}
TEACHER_TIP = (
    "Choose whose plans the policy imitates. Optimal plans need small problems. LAMA solves larger "
    "problems, but its first plans may cost too much."
)
PROBLEMS_TIP = (
    "The policy learns from some problems and is validated on others; the epoch that solves most "
    "validation problems is the best."
)
RATE_TIP = "Step size of gradient descent; too large a value prevents convergence"
GENERATED = {TRAIN: ((1, 2, 3), (101, 102, 103)), VALIDATE: ((3, 4, 5), (201, 202))}
"""Sizes and seeds of the problems to learn from and to validate on."""
_NUMBERS = (
    ("hidden", "Hidden units", 1, 256, "Channels per layer; more can learn more but are slower"),
    ("layers", "Layers", 1, 8, "More layers relate objects that are further apart"),
    ("epochs", "Epochs", 1, 9999, "Rounds of exploration, learning and validation"),
    ("steps", "Steps per epoch", 1, 1_000_000, "Steps of gradient descent per epoch"),
    ("patience", "Patience", 1, 9999, "Stop after this many epochs without a better policy"),
    ("seed", "Seed", 0, 2**31 - 1, "The same seed and files give the same policy"),
)


class TrainingForm(QWidget):
    changed = Signal()

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self._domain: str | None = None
        self._example: str | None = None
        self.domain = ElidedLabel()
        self.problems = TableModel(PROBLEM_COLUMNS, context.theme, self)
        self.table = TableView("training-problems", "Training problems")
        self.table.setModel(self.problems)
        self.table.setColumnWidth(0, 170)
        self.table.remember(context.settings)
        self.add_button = self._button("add", "Add…", "Add problems of this domain")
        self.generate_button = self._button("problem", "Generate", "")
        self.teacher = QComboBox()
        self.numbers = {name: QSpinBox() for name, *_ in _NUMBERS}
        self.learning_rate = QDoubleSpinBox()
        self.folder = QLineEdit()
        self.uses = self._use_actions()
        self._build()
        context.theme.changed.connect(self.problems.restyle)

    def show_domain(self, domain: str | None, problems: Iterable[str]) -> None:
        """Show the project's domain, and distribute its problems if it is another domain."""
        names = list(problems)
        known = {row.path for row in self.problems.rows}
        if domain != self._domain:
            self.problems.set_rows(shared_out(names))
        elif new := [name for name in names if name not in known]:
            self.problems.add_rows(ProblemUse(name, UNUSED) for name in new)
        self._domain = domain
        self._example = generator_for(domain)
        self._name_domain()
        self.generate_button.setVisible(self._example is not None)
        self.generate_button.setToolTip(
            "Generate small problems to learn from and larger ones to validate on"
        )
        self.changed.emit()

    def show_plan(self, plan: TrainingPlan) -> None:
        uses = [ProblemUse(name, TRAIN) for name in plan.training]
        self.problems.set_rows([*uses, *(ProblemUse(name, VALIDATE) for name in plan.validation)])
        self._domain = plan.domain
        self._example = generator_for(plan.domain)
        self._name_domain()
        self.teacher.setCurrentIndex(list(TEACHERS).index(plan.teacher))
        for name, box in self.numbers.items():
            show_value(box, getattr(plan, name))
        self.learning_rate.setValue(plan.learning_rate)
        self.folder.setText(plan.folder)
        self.changed.emit()

    def _name_domain(self) -> None:
        """Show the folder as well, because most domains are called domain.pddl."""
        path = Path(self._domain) if self._domain else None
        name = str(Path(path.parent.name) / path.name) if path else "No domain in the project"
        self.domain.setText(name)
        self.domain.setToolTip(self._domain or "Add a domain on the Project screen")

    def plan(self) -> TrainingPlan:
        return TrainingPlan(
            domain=self._domain or "",
            training=self._with(TRAIN),
            validation=self._with(VALIDATE),
            folder=self.folder.text().strip(),
            teacher=self.teacher.currentData(),
            learning_rate=self.learning_rate.value(),
            **{name: box.value() for name, box in self.numbers.items()},
        )

    def problem(self) -> str:
        """Return why training cannot start, or an empty string."""
        if self._domain is None:
            return "add a domain on the Project screen"
        if not self._with(TRAIN):
            return "select problems to learn from"
        if not self.folder.text().strip():
            return "choose a folder for the policy"
        return ""

    def _with(self, use: str) -> tuple[str, ...]:
        return tuple(row.path for row in self.problems.rows if row.use == use)

    def set_use(self, use: str) -> None:
        """Set the use of the selected problems."""
        chosen = {self.problems.row(number).path for number in self.table.selected_rows()}
        selected = self.table.selected_rows()
        self.problems.set_rows(
            ProblemUse(row.path, use) if row.path in chosen else row for row in self.problems.rows
        )
        for number in selected:
            self.table.selectRow(number)
        self.changed.emit()

    def add_problems(self, paths: Iterable[str], use: str = TRAIN) -> None:
        known = {row.path for row in self.problems.rows}
        self.problems.add_rows(ProblemUse(path, use) for path in paths if path not in known)
        self.changed.emit()

    @Slot()
    def _choose_problems(self) -> None:
        start = str(Path(self._domain or "").parent)
        names, _ = QFileDialog.getOpenFileNames(
            self, "Add problems", start, "PDDL files (*.pddl);;All files (*)"
        )
        self.add_problems(names)

    @Slot()
    def generate(self) -> None:
        """Small problems to learn from, larger ones to validate on."""
        assert self._example is not None
        folder = Path(self.folder.text().strip()) / "problems"
        try:
            training, validation = (
                generate_problems(self._example, folder / use, sizes, seeds)
                for use, (sizes, seeds) in GENERATED.items()
            )
        except OSError as error:
            self._context.messages.error(f"Cannot write to {folder}: {error.strerror}")
            return
        others = [row.path for row in self.problems.rows]
        self.problems.set_rows([])  # what is used comes first
        self.add_problems(training, TRAIN)
        self.add_problems(validation, VALIDATE)
        self.add_problems(others, UNUSED)

    @Slot()
    def _choose_folder(self) -> None:
        name = QFileDialog.getExistingDirectory(self, "Folder for the policy", self.folder.text())
        if name:
            self.folder.setText(name)

    def _use_actions(self) -> list[QAction]:
        actions = []
        for text, short, key, use in (
            ("Learn from selected problems", "Learn", "T", TRAIN),
            ("Validate on selected problems", "Validate", "V", VALIDATE),
            ("Exclude selected problems", "Exclude", "X", UNUSED),
        ):
            made = action(self, text, self._use, key)
            made.setIconText(short)
            made.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
            made.setData(use)
            self.table.addAction(made)
            actions.append(made)
        return actions

    @Slot()
    def _use(self) -> None:
        sender = self.sender()
        assert isinstance(sender, QAction)
        self.set_use(str(sender.data()))

    def _build(self) -> None:
        for key, text in TEACHERS.items():
            self.teacher.addItem(text, key)
        describe(self.teacher, "training-teacher", "Teacher", TEACHER_TIP)
        defaults = TrainingPlan("", (), (), "")
        form = QFormLayout()
        form.setHorizontalSpacing(12)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        _add_row(form, "Teacher", self.teacher)
        for name, title, low, high, tip in _NUMBERS:
            box = self.numbers[name]
            box.setRange(low, high)
            box.setValue(getattr(defaults, name))
            describe(box, f"training-{name}", title, tip)
            _add_row(form, title, box)
        self.learning_rate.setDecimals(5)
        self.learning_rate.setRange(0.00001, 1.0)
        self.learning_rate.setSingleStep(0.0005)
        self.learning_rate.setValue(defaults.learning_rate)
        describe(self.learning_rate, "training-rate", "Learning rate", RATE_TIP)
        _add_row(form, "Learning rate", self.learning_rate)
        describe(
            self.folder, "training-folder", "Folder", "Save the policy and its checkpoints here"
        )
        self.folder.textChanged.connect(self.changed)
        browse = self._button("open", "", "Choose a folder…")
        browse.clicked.connect(self._choose_folder)
        where = hbox((self.folder, 1), browse)
        form.addRow("Folder", where)
        self.add_button.clicked.connect(self._choose_problems)
        self.generate_button.clicked.connect(self.generate)
        row = hbox((heading("Problems", PROBLEMS_TIP), 1), self.generate_button, self.add_button)
        uses = QHBoxLayout()
        for use in self.uses:
            name = f"training-use-{use.data() or 'none'}"
            tip = f"{use.text()} ({use.shortcut().toString()})"
            text, title = use.iconText(), use.text()
            uses.addWidget(button(text, name, tip, clicked=use.trigger, accessible=title))
        vbox(
            heading("Domain", "The domain of the project"),
            self.domain,
            row,
            (self.table, 1),
            uses,
            form,
            parent=self,
            spacing=8,
        )

    def _button(self, icon: str, text: str, tip: str) -> QPushButton:
        title = text.rstrip("…") or tip.rstrip("…")
        theme = self._context.theme
        return button(text, f"training-{icon}", tip, icon=(theme, icon), accessible=title)


def _add_row(form: QFormLayout, title: str, field: QWidget) -> None:
    """Give the label the tooltip of its field."""
    form.addRow(title, field)
    form.labelForField(field).setToolTip(field.toolTip())
