"""The running jobs in the status bar: title, progress, time left and a button to stop each."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Slot
from PySide6.QtWidgets import QLabel, QMenu, QProgressBar, QPushButton, QSizePolicy, QWidget

from app.services.jobs import Job, Jobs, in_words
from app.services.theme import Theme
from app.widgets.builders import describe, label
from app.widgets.layouts import hbox
from app.widgets.progress import show_running

MAX_SHOWN_JOBS = 2
"""Further jobs are in the menu only."""
BAR = QSize(140, 12)
STATE_WIDTH = 260


class JobStrip(QWidget):
    def __init__(self, jobs: Jobs, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("jobs")
        # The status bar may not squeeze it: at large text the buttons would lose their lower edge.
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._jobs, self._theme = jobs, theme
        self._items: dict[Job, JobItem] = {}
        self._idle = label("No jobs running", "muted")
        self._more = QPushButton(self)
        describe(self._more, "jobs-more", "All running jobs")
        self._more.setProperty("flat", True)
        self._more.setMenu(QMenu(self))
        self._more.menu().aboutToShow.connect(self._fill_menu)
        self._layout = hbox(self._idle, self._more, parent=self, spacing=16, margins=(0, 0, 4, 0))
        jobs.changed.connect(self._follow)
        self._follow()

    def sizeHint(self) -> QSize:  # noqa: N802  Qt's name
        """Reserve the height of a job, so that nothing moves when one starts or ends."""
        return super().sizeHint().expandedTo(QSize(0, self._more.sizeHint().height()))

    @Slot()
    def _follow(self) -> None:
        running = self._jobs.running
        for job in [job for job in self._items if job not in running]:
            self._items.pop(job).deleteLater()
        for place, job in enumerate(running):
            if job not in self._items:
                self._items[job] = JobItem(job, self._theme, self)
                self._layout.insertWidget(place, self._items[job])
            self._items[job].setVisible(place < MAX_SHOWN_JOBS)
        self._idle.setVisible(not running)
        self._more.setVisible(len(running) > MAX_SHOWN_JOBS)
        self._more.setText(f"{len(running) - MAX_SHOWN_JOBS} more")

    @Slot()
    def _fill_menu(self) -> None:
        menu = self._more.menu()
        menu.clear()
        for job in self._jobs.running:
            menu.addAction(f'Stop "{job.title}"').triggered.connect(job.stop)
        menu.addSeparator()
        menu.addAction("Stop all jobs").triggered.connect(self._stop_all)

    @Slot()
    def _stop_all(self) -> None:
        self._jobs.stop_all()


class JobItem(QWidget):
    def __init__(self, job: Job, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._job = job
        self._title = QLabel(job.title)
        self._bar = QProgressBar()
        describe(self._bar, "job-progress", f"Progress of {job.title}")
        self._bar.setFixedSize(BAR)
        self._bar.setTextVisible(False)
        self._bar.setRange(0, 0)
        self._state = label(role="muted")
        self._stop = QPushButton("Stop", self)
        describe(
            self._stop,
            "job-stop",
            f'Stop "{job.title}"',
            f'Stop "{job.title}" and keep the results so far',
        )
        self._stop.setProperty("flat", True)
        theme.keep_icon(self._stop, "stop")
        self._stop.clicked.connect(self._stop_job)
        hbox(self._title, self._bar, self._state, self._stop, parent=self, spacing=8)
        job.progressed.connect(self.refresh)
        job.paused.connect(self.refresh)
        job.stop_requested.connect(self.refresh)
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        progress = self._job.progress
        words = []
        if progress is not None:
            words.append(progress.text)
            show_running(self._bar, progress.done, progress.total)
            left = self._job.seconds_left()
            if left is not None:
                words.append(f"{in_words(left)} left")
        if self._job.is_paused:
            words.append("paused")
        if self._job.stopping:
            words = ["stopping\u2026"]
        text = ", ".join(word for word in words if word)
        elided = self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, STATE_WIDTH)
        self._state.setText(elided)
        self._state.setToolTip(text)

    @Slot()
    def _stop_job(self) -> None:
        self._job.stop()
        self._stop.setEnabled(False)
