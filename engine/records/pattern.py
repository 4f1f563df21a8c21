"""Smallest witnesses and their patterns: what is stored, sent and shown of them."""

from __future__ import annotations

import hashlib
from enum import StrEnum

from engine.records.codec import Count, Record, Seconds, encode
from engine.records.finding import Cost
from engine.records.localization import CauseKind

SCHEME = 1
"""The version of certificates: those of different versions are never compared."""


class Same(StrEnum):
    """What has to stay the same for a problem to show the same mistake."""

    ACTION = "action"  # the ground action, and an action that is better
    SCHEMA = "schema"  # the action schema alone
    LOSS = "loss"  # the ground action, a better one, and what it costs too much


class StoppedBy(StrEnum):
    """Why there is no witness, or why a smaller one may exist."""

    REBINDING = "rebinding"  # the policy decides otherwise in a problem that starts in the state
    SEARCH = "search"  # a search met its limit
    TRIES = "tries"
    TIME = "time"
    POLICY = "policy"  # the policy cannot be asked about another problem
    NO_PDDL = "no-pddl"


LIMITS = frozenset({StoppedBy.SEARCH, StoppedBy.TRIES, StoppedBy.TIME})
"""With more of what is limited there may be a witness."""


class Sizes(Record):
    """`facts` of the initial state, static ones included; `run`: steps of the policy's run."""

    objects: Count
    facts: Count
    goals: Count
    run: Count


class Witness(Record):
    """The claims about a problem that was made from a state in which a policy is wrong.

    `mapping` says which object of the origin became which; removed ones are left out.
    `order` has the objects of the witness by their numbers in the certificate. A loss is None
    where the goal is lost, or never reached.
    """

    kind: CauseKind
    action: str  # the bad one, empty if the policy has none there
    better_actions: tuple[str, ...]  # all that are optimal in the witness
    before: Sizes
    after: Sizes
    loss_before: Cost | None
    loss_after: Cost | None
    mapping: tuple[tuple[str, str], ...]
    order: tuple[str, ...]

    @property
    def family(self) -> str:
        """What similar patterns have in common: the kind, and which schema instead of which."""
        bad = self.action.partition(" ")[0] or "nothing"
        better = sorted({action.partition(" ")[0] for action in self.better_actions})
        return f"{self.kind}: {bad} instead of {' or '.join(better) or 'nothing'}"


class Attempt(Record):
    """How the minimization of a root cause, or of a step of a bug, ended.

    Without a witness `reason` says why in words; `minimal`: no single move makes it smaller.
    """

    same: Same
    witness: Witness | None
    minimal: bool
    stopped_by: StoppedBy | None
    tries: Count
    seconds: Seconds
    reason: str = ""


CertificateTuple = tuple[str, str, tuple[Count, ...]]
"""A kind (fact, goal, not, value, bad), a label, and numbers of objects."""


class Certificate(Record):
    """A witness without the names of its objects.

    Exact ones are canonical: they are equal if and only if two witnesses are the same up to
    renaming. `colors` are the types of the objects, or `=name` of a constant, by number.
    """

    domain: str  # a hash of what the domain says
    unit_costs: bool
    kind: CauseKind
    colors: tuple[str, ...]
    tuples: tuple[CertificateTuple, ...]
    exact: bool = True  # or else too symmetric to be compared with others
    version: Count = SCHEME

    @property
    def text(self) -> str:
        return encode(self).decode()

    @property
    def key(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


SHOWN_KEY_LETTERS = 16
