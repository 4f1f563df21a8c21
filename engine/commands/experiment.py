"""`plumbline experiment`: repeat a paper's experiment and print its tables."""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import Any

from engine.commands.arguments import seconds_left
from engine.commands.console import Console
from engine.commands.options import SEED, Options, between
from engine.errors import ExitCode, UsageError
from engine.experiments.config_reader import preset_experiment, read_experiment, require_preset
from engine.experiments.config_writer import preset_text
from engine.experiments.presets import EXPERIMENT_PRESETS
from engine.experiments.results import experiment_results
from engine.experiments.suites import folder_suites, read_pairs
from engine.files import real_path, write_text
from engine.policies.consent import Consent
from engine.policies.portfolio import named_policies
from engine.records.codec import to_json
from engine.records.events import CampaignStatus, UnitFailed, Warned
from engine.records.experiment import ExperimentConfig, Suite
from engine.records.policy_spec import PolicySpec
from engine.report.experiment.cells import text_table
from engine.usecases.campaign import DEFAULT_EXECUTOR
from engine.usecases.experiment import run_experiment
from engine.workspace.workspace import Workspace


def configure(options: Options) -> None:
    presets = ", ".join(EXPERIMENT_PRESETS)
    options.text(
        "experiment",
        "PRESET|CONFIG.toml",
        f"a paper ({presets}), or a configuration file",
        nargs="?",
    )
    options.text(
        "--init",
        "PRESET",
        "write the configuration of a paper to PRESET.toml, every setting with its source, "
        "and exit",
    )
    options.path("--out", "W.plumb", "workspace for the results")
    options.number(
        "--scale", None, "divide pool sizes and limits by N, for a first look", between(1, 10_000)
    )
    options.flag("--resume", "run the remaining parts of the same experiment")
    suites = options.group(
        "what to run a PRESET on (default: the examples that come with Plumbline)"
    )
    suites.path(
        "--folder",
        "DIR",
        "a folder of domains: each has domain.pddl, problems/ and policies; may be repeated",
        action="append",
    )
    suites.path("--domain", "DOMAIN.pddl", "a domain")
    suites.text("--problem", "PROBLEM.pddl", "its problems", nargs="+")
    suites.text("--policy", "POLICY", "policies for it", nargs="+")
    suites.text("--portfolio", "POLICY", "policies to compare with, or a folder", nargs="+")
    suites.path("--pairs", "SUITE.csv", "pairs of domain versions (for d-val)")
    options.unit_costs()
    options.number("--seed", None, "seed of a PRESET (default: 0)", SEED)
    options.text(
        "--executor",
        "WHERE",
        "where to run: local:N for N processes on this machine, dask:ADDRESS for a Dask "
        "cluster (default: %(default)s)",
        default=DEFAULT_EXECUTOR,
    )
    options.time_limit("stop after this many seconds; --resume runs the rest")
    options.epilog(
        "'plumbline report W.plumb --out DIR/' writes its tables and figures as HTML, CSV, LaTeX, "
        "SVG and PDF. Exit code 3: something failed or is not done yet."
    )


def run(args: argparse.Namespace, console: Console) -> int:
    if args.init is not None:
        return _init(args.init, console)
    if args.experiment is None:
        raise UsageError("no experiment", hint=f"name one of {', '.join(EXPERIMENT_PRESETS)}")
    if args.out is None:
        raise UsageError("no workspace to write to", hint="give --out W.plumb")
    started = time.monotonic()
    config = _config(args)
    with Workspace.create(args.out):
        pass
    heard: set[str] = set()
    with console.link(
        "Running",
        keeps_results=True,
        seconds=seconds_left(args.time_limit, started),
        hear=lambda event: _show(event, heard, console),
    ) as link:
        everything = Consent(to_all=True)  # the user has named the policies
        end = run_experiment(link, args.out, config, args.executor, everything, resume=args.resume)
    with Workspace.open(args.out) as store:
        results = experiment_results(store, end.experiment)
        units = len(store.experiments.trials(end.experiment)) + sum(
            len(store.units(part.campaign)) for part in store.experiments.parts(end.experiment)
        )
    document: dict[str, Any] = {
        "kind": config.kind.value,
        "experiment": end.experiment,
        "status": end.status.value,
        "tables": [
            {
                "name": table.name,
                "title": table.title,
                "columns": [_title(column.group, column.title) for column in table.columns],
                "rows": [list(row) for row in table.rows],
                "notes": list(table.notes),
            }
            for table in results.tables
        ],
        "figures": [
            {
                "name": figure.name,
                "title": figure.title,
                "series": [
                    {"label": series.label, "x": list(series.x), "y": list(series.y)}
                    for series in figure.series
                ],
            }
            for figure in results.figures
        ],
        "units": units,
        "seconds": round(end.seconds, 3),
        "configuration": to_json(config),
    }
    text = "\n\n".join(text_table(table) for table in results.tables)
    console.result(document, f"{text}\n\n{args.out}: {end.status} after {end.seconds:.1f} s")
    if end.status is CampaignStatus.FINISHED:
        return ExitCode.DONE
    return ExitCode.INTERRUPTED if link.interrupted else ExitCode.LIMIT_REACHED


def _title(group: str, title: str) -> str:
    return f"{group}: {title}" if group else title


def _init(name: str, console: Console) -> int:
    require_preset(name)
    path = Path(f"{name}.toml")
    if os.path.exists(path):
        raise UsageError(f"{path} already exists", hint="rename it, or edit that file")
    write_text(path, preset_text(EXPERIMENT_PRESETS[name]))
    console.result({"config": str(path)}, f"Wrote {path}. Edit it, then run it with --out.")
    return ExitCode.DONE


def _config(args: argparse.Namespace) -> ExperimentConfig:
    own = args.domain or args.problem or args.policy or args.portfolio
    if args.experiment not in EXPERIMENT_PRESETS and (
        Path(args.experiment).suffix == ".toml" or os.path.exists(args.experiment)
    ):
        if args.folder or own or args.pairs or args.unit_costs or args.seed is not None:
            raise UsageError(
                "a configuration file already names what to run on",
                hint="set the files, 'unit_costs' or 'seeds' in it, or name a preset instead",
            )
        return read_experiment(Path(args.experiment), args.scale)
    require_preset(args.experiment)
    suites = [suite for folder in args.folder or () for suite in folder_suites(folder)]
    if own:
        suites.append(_suite(args))
    pairs = read_pairs(args.pairs) if args.pairs else []
    return preset_experiment(
        args.experiment,
        suites,
        pairs,
        scale=args.scale or 1,
        seeds=(args.seed or 0,),
        unit_costs=args.unit_costs,
    )


def _suite(args: argparse.Namespace) -> Suite:
    if not args.domain or not args.problem:
        raise UsageError("a domain needs problems", hint="give --domain and --problem together")
    policies = [str(PolicySpec.parse(text, Path.cwd())) for text in args.policy or ()]
    portfolio = list(named_policies(args.portfolio).values()) if args.portfolio else []
    return Suite(
        real_path(args.domain).parent.name,
        str(real_path(args.domain)),
        tuple(str(real_path(name)) for name in args.problem),
        tuple(policies),
        tuple(portfolio),
    )


def _show(event: object, heard: set[str], console: Console) -> None:
    """Show each message once, even if many units send it."""
    match event:
        case UnitFailed():
            text = f"error: {event.error}"
        case Warned():
            text = f"warning: {event.text}"
        case _:
            return
    if text not in heard:
        heard.add(text)
        console.message(text)
