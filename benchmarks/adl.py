"""Every classical domain: what is refused, and whether all stages work on what is not.

    python benchmarks/adl.py refused FOLDER...       which domains become tasks, by construct
    python benchmarks/adl.py stages FOLDER           every command, from the task to the report
    python benchmarks/adl.py costs FOLDER            plans put to VAL, costs of Fast Downward

FOLDER holds one folder per domain, with domain.pddl and problems/*.pddl, or pairs of domains. A
domain without problems gets an empty one. `stages` and `costs` take the first `--problems` of each
domain, those that `--only` names. Fast Downward's A* is blind there: its LM-cut takes neither
conditional effects nor axioms. Exit code 1: something failed that should not, `check` and `task`
disagree, VAL refused a plan, or the costs differ.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measurement import Row, Setting, mistakes
from search import natural_order, run_fast_downward, write_task

from engine.errors import LimitReachedError, PlumblineError
from engine.oracles.registry import ORACLES as KINDS
from engine.pddl import check_files
from engine.search.forward import SearchLimits, SearchResult, search
from engine.task.load import load_task
from engine.task.plans import format_operator_plan
from engine.task.task import Task
from engine.task.translate import Limits
from engine.verify.val import val_opinions, val_program

ORACLES = list(KINDS)
PLUMBLINE = [sys.executable, "-m", "engine.cli"]
SECONDS = 60
STATES = 5  # of the pool
BUGS = 3  # that are localized, minimized and exported
EMPTY = "(define (problem p) (:domain {}) (:init) (:goal (and)))"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mode", choices=("refused", "stages", "costs"))
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--problems", type=int, default=2, help="of each domain")
    parser.add_argument("--only", action="append", default=[], metavar="DOMAIN")
    parser.add_argument("--time-limit", type=float, default=SECONDS, metavar="S", help="per run")
    options = parser.parse_args()
    if options.mode == "refused":
        return _refused(options.folders)
    domains = [
        domain
        for domain in sorted(options.folders[0].glob("*/domain.pddl"))
        if not options.only or domain.parent.name in options.only
    ]
    if options.mode == "costs":
        return _costs(domains, options.problems, options.time_limit)
    ends = [end for item in domains for end in _stages(item, options.problems, options.time_limit)]
    failed = len(ends) - sum(ends)
    print(f"{len(domains)} domains, {len(ends)} commands, {failed} failed")
    return int(not ends or failed > 0)


def rows(setting: Setting) -> Iterator[Row]:
    domains = sorted(setting.published("adl").glob("*/domain.pddl"))
    refused = [text for domain in domains for text in _refusal(domain)]
    yield mistakes("ADL domains that 'check' or 'task' refuses", len(refused), len(domains))
    some = domains[: setting.choose(4, 1)]
    ends = [end for domain in some for end in _stages(domain, 1, setting.choose(20, 5))]
    yield mistakes("commands that fail on ADL domains", len(ends) - sum(ends), len(ends))


def _refused(folders: list[Path]) -> int:
    """Errors of `check` by message, over every PDDL file that is a domain."""
    disagreements = 0
    for folder in folders:
        found: Counter[str] = Counter()
        domains = [path for path in sorted(folder.rglob("*.pddl")) if _is_domain(path)]
        for domain in domains:
            refused = _refusal(domain)
            found.update(refused or ["accepted"])
        print(f"{folder.name}: {len(domains)} domains, {found.pop('accepted', 0)} accepted")
        for message, count in found.most_common():
            print(f"  {count:>4} {message}")
        disagreements += sum(text.startswith("DIFFERENT") for text in found)
    return int(disagreements > 0)


def _refusal(domain: Path) -> set[str]:
    """What `check` says against a domain and its first problem; `task` must say so, too."""
    with tempfile.TemporaryDirectory() as scratch:
        problem = min(domain.parent.glob("problems/*.pddl"), default=None)
        if problem is None:
            problem = Path(scratch) / "problem.pddl"
            name = re.search(r"\(\s*domain\s+([^\s()]+)", domain.read_text("utf-8", "replace"))
            problem.write_text(EMPTY.format(name[1] if name else "d"), "utf-8")
        report = check_files(domain, problem)
        try:
            load_task(domain, problem, limits=Limits(seconds=SECONDS))
        except LimitReachedError:
            pass
        except PlumblineError as error:
            if report.ok:
                return {f"DIFFERENT: only task refuses {domain}: {error}"}
        else:
            if not report.ok:
                return {f"DIFFERENT: only check refuses {domain}"}
    return {item.message for item in report.errors}


def _is_domain(path: Path) -> bool:
    return "(domain " in path.read_text("utf-8", "replace")[:4000] and "problem" not in path.name


@dataclass(frozen=True)
class _Stage:
    """One command: what it is called with, which exit codes are good, what is worth telling."""

    name: str
    arguments: tuple[str | Path, ...]
    tell: Callable[[dict[str, Any]], object] = lambda answer: ""
    good: tuple[int, ...] = (0,)


def _stages(domain: Path, count: int, seconds: float) -> list[bool]:
    """Every command on the first problems of a domain: whether it did what it should."""
    ends: list[bool] = []
    listed = sorted((domain.parent / "problems").glob("*.pddl"), key=natural_order)[:count]
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        for problem in listed:
            ends += _run_all(domain, problem.stem, _task_stages(domain, problem, place, seconds))
        config, workspace = place / "campaign.toml", place / "w.plumb"
        config.write_text(_campaign(domain, listed, seconds), "utf-8")
        ends += _run_all(domain, "campaign", _campaign_stages(config, workspace, seconds))
    return ends


def _task_stages(domain: Path, problem: Path, place: Path, seconds: float) -> Iterator[_Stage]:
    plan, pool, picture = place / "plan", place / "pool", place / "state.svg"
    limit = ("--time-limit", str(seconds), "--memory-limit", "1500")
    files = (domain, problem)
    yield _Stage("check", ("check", *files))
    yield _Stage("task", ("task", *files), _describe_task)
    for name, algorithm in (("A*", "astar"), ("GBFS", "gbfs")):
        search = ("search", *files, "--algorithm", algorithm, *limit, "--out", plan)
        yield _Stage(name, search, lambda answer: f"cost {answer.get('cost')}", (0, 3))
        if plan.exists():
            yield _Stage("validate", ("validate", *files, plan))
            yield _Stage("picture", ("picture", *files, "--plan", plan, "--out", picture))
            plan.unlink()
    yield _Stage("fuzz", ("fuzz", *files, "--size", "10", "--out", pool), _count("states"))


def _describe_task(answer: dict[str, Any]) -> str:
    kinds = ("variables", "operators", "conditional_effects", "axioms")
    return ", ".join(f"{answer[kind]} {kind.replace('_', ' ')}" for kind in kinds)


def _count(key: str) -> Callable[[dict[str, Any]], object]:
    return lambda answer: f"{answer.get(key)} {key}"


def _campaign(domain: Path, problems: list[Path], seconds: float) -> str:
    """Every oracle by itself, so that each has something to do."""
    return f"""
domain = {json.dumps(str(domain))}
problems = {json.dumps([str(problem) for problem in problems])}
policies = ["builtin:gc", "builtin:hadd"]
portfolio = ["builtin:hff", "builtin:random"]
[fuzzing]
size = {STATES}
seconds = {seconds / 5}
[testing]
oracles = {json.dumps(ORACLES)}
step_limit = 200
mode = "compare"
[limits]
unit_seconds = {seconds}
oracle_seconds = {seconds / 10}
state_seconds = {seconds / 20}
"""


def _campaign_stages(config: Path, workspace: Path, seconds: float) -> Iterator[_Stage]:
    place = workspace.parent
    run = ("campaign", config, "--out", workspace, "--executor", "local:1")
    yield _Stage("campaign", run, _units)
    yield _Stage("bugs", ("bugs", workspace))
    bugs = [bug["id"] for bug in _run("bugs", workspace)[1].get("bugs", ())][:BUGS]
    if not bugs:
        return
    chosen = [word for bug in bugs for word in ("--bug", str(bug))]
    limit = ("--time-limit", str(seconds))
    yield _Stage("localize", ("localize", workspace, *chosen, *limit), _localized, (0, 3))
    yield _Stage("minimize", ("minimize", workspace, *chosen, *limit), _witnesses, (0, 1, 3))
    bundles = ("export", workspace, "--bug", *map(str, bugs), "--out", place / "bundles")
    yield _Stage("export", bundles, _reproduced)
    for bundle in sorted((place / "bundles").iterdir()):
        again = [bundle / name for name in ("domain.pddl", "problem.pddl", "better.plan")]
        if again[-1].exists():
            yield _Stage("open", ("task", *again[:2]))
            yield _Stage("better", ("validate", *again))
    for kind in ("pool", "bugs", "sas"):
        other = ("export", workspace, "--format", kind, "--unit", "1", "--out", place / kind)
        yield _Stage(f"as {kind}", other)
    yield _Stage("verify", ("verify", workspace, *limit), _verified, (0, 3))
    yield _Stage("report", ("report", workspace, "--out", place / "report.html"))


def _units(answer: dict[str, Any]) -> str:
    ends = Counter(unit["status"] + unit["error"] for unit in answer["units"])
    return f"{dict(ends)}, {answer['bugs']} bugs"


def _localized(answer: dict[str, Any]) -> str:
    return f"{len(answer['bugs'])} bugs, {answer.get('root_causes')} root causes"


def _witnesses(answer: dict[str, Any]) -> str:
    found = [item for item in answer["witnesses"] if item["verified"]]
    others = {item["reason"] for item in answer["witnesses"] if not item["verified"]}
    sizes = ", ".join("{} -> {}".format(*item["objects"]) for item in found)
    return f"{len(found)} of {len(answer['witnesses'])}, objects {sizes} {' '.join(others)}"


def _verified(answer: dict[str, Any]) -> str:
    undecided = Counter(item["claim"] for item in answer["undecided"])
    plans = answer["plans_accepted_by_val"]
    return f"{answer['verified']} bugs, VAL accepted {plans} plans, undecided: {dict(undecided)}"


def _reproduced(answer: dict[str, Any]) -> str:
    bundles = answer["bundles"]
    same = sum(item["reproduces"] for item in bundles)
    still = sum(item["bug_there"] for item in bundles)
    return f"{same} of {len(bundles)} reproduce, {still} still bugs"


def _run_all(domain: Path, about: str, stages: Iterator[_Stage]) -> list[bool]:
    ends = []
    for stage in stages:
        began = time.monotonic()
        code, answer = _run(*stage.arguments)
        good = code in stage.good and "error" not in answer
        ends.append(good)
        told = stage.tell(answer) if good else answer.get("error", answer)
        print(
            f"{domain.parent.name:<22} {about:<22} {stage.name:<9} {'ok' if good else 'FAILED':<6} "
            f"{code} {time.monotonic() - began:5.1f} s  {told}",
            flush=True,
        )
    return ends


def _run(*arguments: str | Path) -> tuple[int, dict[str, Any]]:
    command = [*PLUMBLINE, *map(str, arguments), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        return done.returncode, json.loads(done.stdout)
    except json.JSONDecodeError:
        return done.returncode, {"error": (done.stdout + done.stderr).strip()[-300:]}


def _costs(domains: list[Path], count: int, seconds: float) -> int:
    """Our A* with LM-cut and greedy search: VAL on both plans, Fast Downward on the cost."""
    found: Counter[str] = Counter()
    for domain in domains:
        listed = sorted((domain.parent / "problems").glob("*.pddl"), key=natural_order)
        for problem in listed[:count]:
            task = load_task(domain, problem)
            limits = SearchLimits(seconds=seconds)
            ours = search(task, "astar", "lmcut", limits=limits)
            greedy = search(task, "gbfs", "ff", limits=limits)
            plans = [result for result in (ours, greedy) if result.plan is not None]
            opinions = [_val(domain, problem, task, plan) for plan in plans]
            theirs = _their_cost(problem, seconds)
            found.update(f"plans VAL {opinion}" for opinion in opinions)
            if ours.cost is None or theirs is None:
                verdict = "not compared"
            else:
                verdict = "equal" if ours.cost == theirs else "DIFFERENT"
            found[f"costs {verdict}"] += 1
            print(
                f"{domain.parent.name + '/' + problem.stem:<36} A* {ours.cost}, GBFS {greedy.cost},"
                f" Fast Downward {theirs}: {verdict}; VAL: {', '.join(opinions) or 'no plan'}",
                flush=True,
            )
    print(", ".join(f"{what}: {n}" for what, n in sorted(found.items())))
    good = {"plans VAL accepted", "costs equal", "costs not compared"}
    return int(not found or bool(found.keys() - good))


def _val(domain: Path, problem: Path, task: Task, found: SearchResult) -> str:
    program = val_program()
    if program is None or found.plan is None:
        return "not asked"
    texts = (problem.read_text("utf-8"), format_operator_plan(task, found.plan))
    (opinion,) = val_opinions(program, domain.read_text("utf-8"), [texts])
    if opinion is None:
        return "gave no opinion"
    if task.has_costs and opinion.cost not in (None, found.cost):
        return f"says cost {opinion.cost}"
    return "accepted" if opinion.valid else "REFUSED"


def _their_cost(problem: Path, seconds: float) -> int | None:
    """None: there is no answer within the limit."""
    with tempfile.TemporaryDirectory() as scratch:
        sas = Path(scratch) / "task.sas"
        run = run_fast_downward(sas, "blind", seconds) if write_task(problem, sas) else None
    return None if run is None else run.cost


if __name__ == "__main__":
    sys.exit(main())
