"""What verification says: a verdict per claim of a workspace, and all of them together."""

from __future__ import annotations

from enum import StrEnum

from engine.records.codec import Count, Record


class ClaimKind(StrEnum):
    """What a workspace claims."""

    BUGS = "bugs"  # a state is a bug of this kind and size
    BOUNDS = "bounds"  # the goal can be reached at this cost
    RUNS = "runs"  # the policy takes this run
    STATES = "states"  # a tested state can be reached as its walk says
    OPTIMAL = "optimal"  # no plan is cheaper than the policy's
    CAUSES = "causes"  # this step is the root cause of a bug
    LOCALIZATIONS = "localizations"  # these steps of a run are good or bad
    STATISTICS = "statistics"  # these are the totals of a unit
    INPUTS = "inputs"  # this is what was tested
    WITNESSES = "witnesses"  # a problem shows the same mistake as the bug it was made from
    TRIALS = "trials"  # this is the answer to a question of an experiment
    PATTERNS = "patterns"  # a witness has this pattern, and no other pattern is the same


class Standing(StrEnum):
    HOLDS = "holds"
    FALSE = "false"
    UNDECIDED = "undecided"  # it may hold; the reason says what was missing


class Verdict(Record):
    """`reason` is empty if the claim holds."""

    standing: Standing
    reason: str = ""


HOLDS = Verdict(Standing.HOLDS)


def false(reason: str) -> Verdict:
    return Verdict(Standing.FALSE, reason)


def undecided(reason: str) -> Verdict:
    return Verdict(Standing.UNDECIDED, reason)


class CheckedClaim(Record):
    """`id` is the number of a bug, or names a unit, a state of its pool, a campaign or a file."""

    claim: ClaimKind
    id: Count | str
    verdict: Verdict

    @property
    def text(self) -> str:
        """What it is about, in words."""
        return f"bug {self.id}" if isinstance(self.id, int) else self.id


class PolicyAnswer(StrEnum):
    """What a policy says today about the run of a bug."""

    SAME = "same"
    OTHER = "other"
    NOT_ASKED = "not asked"


class PolicyReply(Record):
    bug: Count
    answer: PolicyAnswer
    reason: str = ""


class ClaimCount(Record):
    claim: ClaimKind
    held: Count = 0
    false: Count = 0
    undecided: Count = 0


class Verification(Record):
    """Everything that was checked; `problems` are the claims that do not hold for sure."""

    bugs: tuple[Count, ...]
    counts: tuple[ClaimCount, ...]  # of every kind
    problems: tuple[CheckedClaim, ...]  # those that are false come first
    unchecked: tuple[str, ...]  # what the workspace says beyond that
    replies: tuple[PolicyReply, ...] = ()
    plans: tuple[tuple[Count, Count], ...] = ()  # bugs, and how many of their plans VAL accepts

    @property
    def failed(self) -> tuple[CheckedClaim, ...]:
        return self._with(Standing.FALSE)

    @property
    def undecided(self) -> tuple[CheckedClaim, ...]:
        return self._with(Standing.UNDECIDED)

    @property
    def verified(self) -> tuple[int, ...]:
        """The bugs that are proven: nothing about them is false, and their bounds hold."""
        doubtful = {
            item.id
            for item in self.problems
            if item.verdict.standing is Standing.FALSE or item.claim in _PROOF
        }
        return tuple(bug for bug in self.bugs if bug not in doubtful)

    def about(self, bug: int) -> tuple[CheckedClaim, ...]:
        """The claims about a bug that do not hold for sure."""
        return tuple(item for item in self.problems if item.id == bug)

    def _with(self, standing: Standing) -> tuple[CheckedClaim, ...]:
        return tuple(item for item in self.problems if item.verdict.standing is standing)


_PROOF = (ClaimKind.BUGS, ClaimKind.BOUNDS)
