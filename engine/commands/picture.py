"""`plumbline picture`: draw a state of a task, alone or as a step of a plan."""

from __future__ import annotations

import argparse
from pathlib import Path

from engine.commands.console import Console
from engine.commands.options import Options
from engine.errors import ExitCode, UsageError
from engine.task.load import load_task
from engine.task.plans import read_plan
from engine.usecases.picture import draw_stages, draw_state, write_picture


def configure(options: Options) -> None:
    options.domain()
    options.problem()
    options.unit_costs()
    options.text("--plan", "FILE", "plan whose states are drawn")
    options.text("--other-plan", "FILE", "second plan that shares the layout of the first")
    options.number("--step", 0, "draw the state after N steps (default: 0, the initial state)")
    options.text("--profile", "FILE", "draw with this Planimation animation profile")
    options.text("--out", "FILE", "picture to write: .svg or .png")
    options.epilog("Every changing fact of the state is drawn, or listed below the picture.")


def run(args: argparse.Namespace, console: Console) -> int:
    if args.out is None and not args.json:
        raise UsageError("no file to write", hint="add --out FILE.svg, or --json")
    with console.progress("Translating"):
        task = load_task(args.domain, args.problem, unit_costs=args.unit_costs)
    plan = read_plan(args.plan) if args.plan else None
    other = read_plan(args.other_plan) if args.other_plan else None
    if args.profile is not None:
        stages = draw_stages(task, args.profile, plan, args.step)
        for warning in stages.warnings:
            console.message(f"warning: {warning}")
        scene, document = stages.scene, stages.document
    else:
        drawn = draw_state(task, plan, other, args.step)
        scene, document = drawn.scene, drawn.document
    if args.out is not None:
        write_picture(scene, Path(args.out))
    console.result(document, f"Wrote {args.out}.")
    return ExitCode.DONE
