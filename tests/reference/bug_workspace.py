"""A workspace with real bugs of all kinds, made in a few seconds by a real campaign.

Expensive and cheap roads, a river that can be crossed one way only, and loads to be fetched. The
policies are greedy: one drives to and fro forever, one pays too much, one gets stuck.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from pathlib import Path

from msgspec.structs import replace

from engine.campaign.config_reader import parse_config
from engine.usecases.campaign import run
from engine.workers.channel import Call, Command, End, Events, pack
from engine.workers.limits import ProcessLimits
from engine.workers.link import WorkerLink
from engine.workers.supervisor import Report
from engine.workers.worker import find_function, perform
from engine.workspace.workspace import Workspace

DOMAIN = """\
(define (domain carter)
  (:requirements :strips :typing :action-costs)
  (:types place load)
  (:predicates (road ?a ?b - place) (at ?p - place) (lies ?x - load ?p - place)
               (carries ?x - load) (free))
  (:functions (total-cost) (length ?a ?b - place))
  (:action drive
    :parameters (?a ?b - place) :precondition (and (at ?a) (road ?a ?b))
    :effect (and (at ?b) (not (at ?a)) (increase (total-cost) (length ?a ?b))))
  (:action take
    :parameters (?x - load ?p - place) :precondition (and (at ?p) (lies ?x ?p) (free))
    :effect (and (carries ?x) (not (lies ?x ?p)) (not (free)) (increase (total-cost) 1)))
  (:action leave
    :parameters (?x - load ?p - place) :precondition (and (at ?p) (carries ?x))
    :effect (and (lies ?x ?p) (free) (not (carries ?x)) (increase (total-cost) 1))))
"""


def problem_text(loads: int) -> str:
    roads = [("a", "b", 9), ("b", "c", 2), ("c", "a", 1), ("a", "c", 3), ("c", "d", 4)]
    roads += [("d", "c", 4), ("b", "a", 1), ("d", "b", 1), ("b", "isle", 1)]
    facts = " ".join(f"(road {a} {b}) (= (length {a} {b}) {n})" for a, b, n in roads)
    names = [f"load{number}" for number in range(loads)]
    places = [f"(lies {name} {place})" for name, place in zip(names, cycle("bdc"), strict=False)]
    goals = [f"(lies {name} {place})" for name, place in zip(names, cycle("dca"), strict=False)]
    return f"""(define (problem p{loads}) (:domain carter)
      (:objects a b c d isle - place {" ".join(names)} - load)
      (:init (at a) (free) (= (total-cost) 0) {facts} {" ".join(places)})
      (:goal (and (at a) {" ".join(goals)})) (:metric minimize (total-cost)))"""


CONFIG = """\
domain = "domain.pddl"
problems = ["p2.pddl", "p3.pddl"]
policies = ["builtin:hadd", "builtin:gc", "builtin:random"]
fuzzing.size = 30
testing.oracles = ["bmo", "lookahead:depth=2", "astar:expansions=2000"]
testing.skip_known_bugs = false
"""


class InThreads:
    """Units run in threads; what they say is encoded as between processes."""

    lost = False
    size = None

    def __init__(self, places: int) -> None:
        self._pool = ThreadPoolExecutor(places)
        self._links: list[ReportingLink] = []

    def submit(self, call: Call, limits: ProcessLimits, report: Report) -> None:
        link = ReportingLink(limits, report)
        self._links.append(link)
        self._pool.submit(self._work, call, link)

    def order(self, command: Command) -> None:
        for link in self._links:
            getattr(link, command.value)()

    def close(self) -> None:
        self.order(Command.STOP)
        self._pool.shutdown()

    def _work(self, call: Call, link: ReportingLink) -> None:
        end = End(stopped=True)
        if not link.control.cancelled:
            function = find_function(call.function)
            end = perform(function, link, call.arguments_for(function))
        link.close()
        link.report(end)


class ReportingLink(WorkerLink):
    def __init__(self, limits: ProcessLimits, report: Report) -> None:
        super().__init__(limits)
        self.report = report

    def emit(self, event: object) -> None:
        self.report(Events((pack(event),)))


def make_workspace(folder: Path, configuration: str = CONFIG) -> Path:
    """The files of the task and `carter.plumb` in a folder that exists."""
    (folder / "domain.pddl").write_text(DOMAIN)
    for loads in (2, 3):
        (folder / f"p{loads}.pddl").write_text(problem_text(loads))
    path = folder / "carter.plumb"
    with Workspace.create(path) as store:
        config = parse_config(configuration, folder / "campaign.toml")
        run(config, store, executor=InThreads(1))
    return path


def what_is_known(path: Path) -> dict[int, tuple[object, ...]]:
    """All that a workspace says about its bugs, except for how long it took to find out."""
    with Workspace.open(path) as store:
        known = {}
        for row in store.bugs():
            found = store.localization(row.id)
            timeless = None if found is None else replace(found, seconds=0.0)
            known[row.id] = (store.bug(row.id), timeless, store.history(row.id))
    return known
