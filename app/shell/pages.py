"""The screens in the order of the rail. Each is imported when it is first shown."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from app.widgets.page import Page


@dataclass(frozen=True, slots=True)
class PageEntry:
    """Must agree with the class variables of its page."""

    name: str
    title: str
    icon: str
    where: str  # module:class

    @property
    def module(self) -> str:
        return self.where.partition(":")[0]

    def load(self) -> type[Page]:
        page: type[Page] = getattr(import_module(self.module), self.where.partition(":")[2])
        return page


PAGES: tuple[PageEntry, ...] = (
    PageEntry("project", "Project", "project", "app.views.project.page:ProjectPage"),
    PageEntry("campaign", "Campaign", "campaign", "app.views.campaign.page:CampaignPage"),
    PageEntry("bugs", "Bugs", "bugs", "app.views.bugs.page:BugsPage"),
    PageEntry(
        "equivalence", "Equivalence", "equivalence", "app.views.equivalence.page:EquivalencePage"
    ),
    PageEntry("train", "Train", "train", "app.views.train.page:TrainPage"),
    PageEntry(
        "experiments", "Experiments", "experiments", "app.views.experiments.page:ExperimentsPage"
    ),
    PageEntry("log", "Log", "log", "app.views.log:LogPage"),
)
