"""The experiments screen: the form, and the tables and figures of a paper for the example."""

from __future__ import annotations

from app.views.experiments.page import ExperimentsPage
from tools.screenshots.stage import Stage


def take(stage: Stage) -> None:
    window = stage.example("ferry")
    window.show_page("experiments")
    page = window.current_page
    assert isinstance(page, ExperimentsPage)
    page.show_item("sievers-2026")
    stage.settle()
    stage.grab("experiments-form-portfolio")
    page.show_item("eisenhut-2023")
    stage.settle()
    stage.grab("experiments-form")
    page.form.scale.setValue(20)
    page.run()
    stage.settle()
    stage.grab("experiments-finished", docs=True)
    bar = page.results.verticalScrollBar()
    bar.setValue(bar.maximum())
    stage.grab("experiments-figure")
    window.show_page("campaign")
    stage.settle()
    stage.grab("campaign-of-experiment")
