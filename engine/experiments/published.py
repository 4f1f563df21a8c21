"""What Table 2 of the D-VAL paper says, to stand beside our own figures."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Published:
    verdict: str  # empty: no answer within 30 minutes
    seconds: float | None
    states: int | None


_YES, _NO, _NONE = "yes", "no", ""
ADDED, OPERATOR, PREDICATE, RENAMED = "add macro", "del op", "del pred", "rename"

_TABLE = {
    ("gripper", ADDED): Published(_YES, 0.29, 2413),
    ("gripper", PREDICATE): Published(_NO, 0.04, 43),
    ("pegsolitaire", ADDED): Published(_YES, 0.43, 772),
    ("pegsolitaire", PREDICATE): Published(_NO, 0.12, 256),
    ("blocksworld", ADDED): Published(_YES, 0.35, 1710),
    ("blocksworld", PREDICATE): Published(_NO, 0.008, 4),
    ("elevator", ADDED): Published(_YES, 0.51, 1710),
    ("elevator", OPERATOR): Published(_NO, 0.04, 2),
    ("parking", ADDED): Published(_YES, 16.73, 33452),
    ("parking", PREDICATE): Published(_NO, 1.63, 14437),
    ("hiking", ADDED): Published(_YES, 127.93, 352680),
    ("hiking", OPERATOR): Published(_NO, 103.68, 458006),
    ("floortile", ADDED): Published(_YES, 113.56, 380276),
    ("floortile", OPERATOR): Published(_NO, 0.58, 5764),
    ("childsnack", ADDED): Published(_YES, 0.51, 518),
    ("childsnack", OPERATOR): Published(_NO, 0.1, 89),
    ("logistics", ADDED): Published(_YES, 270.92, 3228714),
    ("logistics", PREDICATE): Published(_NO, 76.73, 1128360),
    ("cavediving", ADDED): Published(_YES, 91.35, 762318),
    ("cavediving", PREDICATE): Published(_NO, 4.45, 49753),
    ("rover", ADDED): Published(_YES, 750.98, 74192),
    ("rover", OPERATOR): Published(_NONE, None, None),
    ("pipesworld", ADDED): Published(_NONE, None, None),
    ("pipesworld", PREDICATE): Published(_NO, 6.16, 30112),
    ("scanalyzer", ADDED): Published(_YES, 747.61, 6436),
    ("scanalyzer", PREDICATE): Published(_NONE, None, None),
    ("freecell", ADDED): Published(_NONE, None, None),
    ("freecell", RENAMED): Published(_YES, 956.0, 61506),
    ("freecell", PREDICATE): Published(_NONE, None, None),
}


def published(domain: str, version: str) -> Published | None:
    """What the paper says of a pair, if its names tell that it is one of theirs."""
    name = "".join(letter for letter in domain.lower() if letter.isalnum())
    return _TABLE.get((name, _change(version.lower())))


def _change(version: str) -> str:
    words = set(version.replace("-", " ").replace("_", " ").split())
    if "macro" in words and "invalid" not in words:
        return ADDED
    if words & {"deleted", "del", "removed"}:
        return OPERATOR if words & {"operator", "op", "action"} else PREDICATE
    return RENAMED if words & {"renamed", "rename"} else ""
