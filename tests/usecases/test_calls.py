"""Every use case can be called in another process: arguments and results are plain data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.campaign.changes import Comparison
from engine.policies.consent import Consent
from engine.records.comparison import CompareOptions, EquivalenceVerdict, Parameters, ReadingResult
from engine.records.comparison import Comparison as DomainComparison
from engine.records.events import AlreadyDone, CampaignStatus
from engine.records.inputs import File
from engine.records.training import EpochRecord, TrainingPlan
from engine.records.verification import CheckedClaim, ClaimCount, ClaimKind, Verification, undecided
from engine.usecases.campaign import CampaignEnd, resume_campaign
from engine.usecases.changes import Changes, find_changes
from engine.usecases.compare import compare
from engine.usecases.export import export_bundles, export_unit_file
from engine.usecases.localize import LocalizeOptions, Localizing, localize
from engine.usecases.report import ReportOptions, WrittenReport, write_report
from engine.usecases.serve import Serving, serve
from engine.usecases.train import Trained, train
from engine.usecases.verify import verify
from engine.verify.inputs import GivenFiles
from engine.verify.stored import VerifyOptions
from engine.workers.channel import Call, pack, unpack
from engine.workers.worker import find_function

PATH = Path("/tmp/w.plumb")
FILE = File("a", b"x", "/a")
OPTIONS = CompareOptions((Parameters.PDDL,))
READING = ReadingResult(Parameters.PDDL, EquivalenceVerdict.EQUIVALENT, "", objections=("no",))
CLAIM = CheckedClaim(ClaimKind.RUNS, "unit 1", undecided("not asked"))
EPOCH = EpochRecord(1, 0.5, 1.0, 7.0, 30, "epoch-001.pt")


@pytest.mark.parametrize(
    ("usecase", "arguments"),
    [
        (localize, (PATH, [1, 2], LocalizeOptions(bug_seconds=None))),
        (localize, (PATH, None, LocalizeOptions())),
        (verify, (PATH, Consent(), VerifyOptions(bugs=(1,), given=GivenFiles(problems=(FILE,))))),
        (compare, (FILE, File("b", b"y", "/b"), OPTIONS)),
        (find_changes, (PATH, 1, 2)),
        (export_bundles, (PATH, [1], Path("/tmp"), Consent())),
        (export_unit_file, (PATH, 3, "pool", PATH)),
        (write_report, (PATH, PATH, ReportOptions("html", 3))),
        (train, (TrainingPlan("d", ("a",), (), "f"), True)),
        (serve, ("builtin:gc", ["d", "p"], False, "host:1")),
        (resume_campaign, (PATH, 3, "local:1", Consent())),
    ],
)
def test_arguments_arrive_as_they_are(
    usecase: Callable[..., object], arguments: tuple[object, ...]
) -> None:
    call = Call.of(usecase, *arguments)
    assert call.arguments_for(find_function(call.function)) == list(arguments)


@pytest.mark.parametrize(
    "result",
    [
        AlreadyDone(1),
        CampaignEnd(1, CampaignStatus.FINISHED, 2.5),
        Changes(1, 2, Comparison((), ())),
        DomainComparison((READING,), 1.0),
        Localizing(1, 2, 3, 4),
        Serving("host:1", ("a note",), 1, 2),
        Trained("all epochs done", (EPOCH,), EPOCH, PATH, PATH),
        WrittenReport(PATH, "html", 1, 2),
        Verification((1,), (ClaimCount(ClaimKind.BUGS, 1),), (CLAIM,), ("times",), plans=((1, 2),)),
    ],
)
def test_results_come_back_as_they_are(result: object) -> None:
    assert unpack(pack(result)) == result
