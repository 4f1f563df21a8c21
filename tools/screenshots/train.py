"""The train screen: the form, a training that runs, and what it leaves behind."""

from __future__ import annotations

from app.views.train.page import TrainPage
from tools.screenshots.stage import LARGE, Stage

EPOCHS = 6
EPOCHS_WHILE_RUNNING = 3
STEPS = 30


def take(stage: Stage) -> None:
    window = stage.blank()
    window.show_page("train")
    stage.grab("train-empty")
    window = stage.example("ferry")
    window.show_page("train")
    page = window.current_page
    assert isinstance(page, TrainPage)
    stage.settle()
    page.form.generate()
    for name, value in (("epochs", EPOCHS), ("steps", STEPS)):
        page.form.numbers[name].setValue(value)
    stage.grab("train-form")
    page.start()
    stage.wait(lambda: page.epochs.rowCount() >= EPOCHS_WHILE_RUNNING, "for epochs")
    stage.grab("train-running")
    stage.settle()
    stage.grab("train-finished", docs=True)
    window.resize(LARGE)
    stage.grab("train-finished-large")
