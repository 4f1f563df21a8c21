"""`plumbline campaign`: fuzz and test policies on problems, into a workspace.

`root_causes` in the result is null if bugs have not been localized.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from engine.campaign.config_reader import MIN_UNIT_MEGABYTES, read_config
from engine.campaign.summary import summary
from engine.campaign.template import template
from engine.commands.arguments import seconds_left
from engine.commands.console import Console
from engine.commands.options import SEED, Options, positive_megabytes
from engine.errors import (
    ConfigurationError,
    ExitCode,
    LimitReachedError,
    PlumblineError,
    UsageError,
    WorkerLostError,
)
from engine.files import write_text
from engine.policies.consent import Consent
from engine.records.config import Mode
from engine.records.events import AlreadyDone, CampaignStatus, UnitFailed, Warned
from engine.report.words import complete_text, count_text
from engine.usecases.campaign import DEFAULT_EXECUTOR, run_campaign
from engine.workers.launch import prepare
from engine.workers.link import AT_LIMIT
from engine.workspace.workspace import Workspace

INIT_FILE = "campaign.toml"
MAX_LISTED = 20
"""Units that are not done, listed by name."""


def configure(options: Options) -> None:
    options.path("config", "CONFIG.toml", "campaign configuration", nargs="?")
    options.path(
        "--init",
        "FILE",
        f"write a commented configuration (default: {INIT_FILE}; -: print it) and exit",
        nargs="?",
        const=Path(INIT_FILE),
    )
    options.path("--out", "W.plumb", "workspace for the results")
    options.flag("--resume", "run the remaining units of the campaign in the workspace")
    options.text(
        "--executor",
        "WHERE",
        "where to run units: local for one process per core of this machine, local:N for N "
        "processes, dask:ADDRESS for a Dask cluster (default: %(default)s)",
        default=DEFAULT_EXECUTOR,
    )
    options.flag("--fail-on-bugs", "exit with code 1 if bugs are found")
    options.time_limit("stop after this many seconds; --resume runs the rest")
    options.number(
        "--memory-limit",
        None,
        "memory limit of each unit, including its policy; overrides the configuration",
        _unit_megabytes,
        "MB",
    )
    options.number(
        "--seed",
        None,
        "seed of the random walks; overrides the seeds of the configuration",
        SEED,
    )
    options.epilog(
        "Exit code 1: bugs were found and --fail-on-bugs was given; 3: units failed, or the time "
        "limit was reached before all were done."
    )


def _unit_megabytes(text: str) -> int:
    megabytes = positive_megabytes(text)
    if megabytes < MIN_UNIT_MEGABYTES:
        raise argparse.ArgumentTypeError(f"a unit needs at least {MIN_UNIT_MEGABYTES} MB")
    return megabytes


def run(args: argparse.Namespace, console: Console) -> int:
    if args.init is not None:
        return _init(args.config or args.init, console)
    if args.config is None:
        raise UsageError("no configuration", hint="'plumbline campaign --init' writes an example")
    if args.out is None:
        raise UsageError("no workspace to write to", hint="give --out W.plumb")
    started = time.monotonic()
    prepare(fork=True)  # as long as this process has one thread
    config = read_config(args.config)
    if args.seed is not None:
        config = config.with_seeds(args.seed)
    if args.memory_limit is not None:
        limits = replace(config.limits, unit_megabytes=args.memory_limit)
        config = replace(config, limits=limits)
    with Workspace.create(args.out):
        pass
    with console.link(
        "Testing",
        keeps_results=True,
        seconds=seconds_left(args.time_limit, started),
        hear=lambda event: _show(event, console),
    ) as link:
        everything = Consent(to_all=True)  # the user has named the policies in the file
        end = run_campaign(link, args.out, config, args.executor, everything, resume=args.resume)
    with Workspace.open(args.out) as store:
        document = summary(store, end.campaign)
    document["seconds"] = 0.0 if isinstance(end, AlreadyDone) else end.seconds
    failure = _total_failure(document)
    console.result(document, "" if failure else _text(document, args.out))
    if failure is not None:
        raise failure
    found = document["bugs"] or document["nonpool_bugs"]
    if found and args.fail_on_bugs and not link.interrupted:
        return ExitCode.ANSWER_IS_NO
    if document["status"] == CampaignStatus.FINISHED:
        return ExitCode.DONE
    return ExitCode.INTERRUPTED if link.interrupted else ExitCode.LIMIT_REACHED


def _init(path: Path, console: Console) -> int:
    if str(path) == "-":
        console.result({"config": template()}, template())
        return ExitCode.DONE
    if os.path.exists(path):
        raise UsageError(f"{path} already exists", hint="choose another name")
    write_text(path, template())
    console.result({"config": str(path)}, f"Wrote {path}. Edit it, then run it with --out.")
    return ExitCode.DONE


def _show(event: object, console: Console) -> None:
    match event:
        case UnitFailed():
            console.message(f"error: unit {event.unit}: {event.error}")
        case Warned():
            where = f"unit {event.unit}: " if event.unit else ""
            console.message(f"warning: {where}{event.text}")


def _total_failure(document: dict[str, Any]) -> PlumblineError | None:
    """The error if no unit could do its work."""
    units = document["units"]
    bad = [unit for unit in units if unit["status"] in ("failed", "lost")]
    if not units or len(bad) < len(units):
        return None
    words = f"no unit succeeded: {bad[0]['error']}"
    if any(unit["error"].startswith(AT_LIMIT) for unit in bad):
        if document["states"]:
            return None
        return LimitReachedError(words, hint="give units more time or memory")
    if all(unit["status"] == "lost" for unit in bad):
        return WorkerLostError(words)
    return ConfigurationError(words)


def _text(document: dict[str, Any], path: Path) -> str:
    tested = count_text(document["states"], "state")
    kinds = [
        count_text(document["qualitative"], "failure"),
        f"{document['quantitative']:,} too expensive",
        *([f"{document['unclassified']:,} unclassified"] if document["unclassified"] else []),
    ]
    lines = [
        f"{tested}, {document['solved']:,} solved by the policy",
        f"{count_text(document['bugs'], 'bug')} ({', '.join(kinds)}) in "
        f"{count_text(document['regions'], 'region')}; "
        f"{count_text(document['nonpool_bugs'], 'further bug')} outside the pool",
    ]
    if document["root_causes"] is not None:
        localized = count_text(document["localized"], "bug")
        lines.append(f"{localized} localized, {count_text(document['root_causes'], 'root cause')}")
    width = max((len(name) for name in document["per_oracle"]), default=0)
    compared = document["mode"] == Mode.COMPARE
    for name, counts in document["per_oracle"].items():
        found = (
            f"{counts['bugs']} bugs proved, {counts['unique']} by no other oracle"
            if compared
            else f"{counts['first']} bugs found first, {counts['bugs']} confirmed"
        )
        lines.append(
            f"  {name:<{width}}  {counts['examined']} examined, {found}, "
            f"{counts['optimal']} proven optimal, {counts['cpu']:.1f} s of CPU time"
        )
    if complete := [unit for unit in document["units"] if unit.get("complete")]:
        states = sum(unit["states"] for unit in complete)
        lines.append(f"{len(complete)} of {len(document['units'])} units {complete_text(states)}")
    if limited := sum(bool(unit.get("limit")) for unit in document["units"]):
        lines.append(f"{limited} of {len(document['units'])} units stopped at a limit")
    left = [unit for unit in document["units"] if unit["status"] != "finished"]
    if left:
        lines += [
            f"{len(left)} of {len(document['units'])} units are not done; run again with --resume:",
            *map(_unit_line, left[:MAX_LISTED]),
            *([f"  and {len(left) - MAX_LISTED} more"] if len(left) > MAX_LISTED else []),
        ]
    lines.append(f"{path}: {document['status']} after {document['seconds']:.1f} s")
    return "\n".join(lines)


def _unit_line(unit: dict[str, Any]) -> str:
    why = unit["error"] or unit["limit"]
    name = f"{unit['problem']}, {unit['policy']}, seed {unit['seed']}"
    return f"  {name}: {unit['status']}" + (f" ({why})" if why else "")
