"""Recognizes files and folders by their contents, not by their names.

Names only help where contents cannot: files of a folder whose names differ in nothing but a
number are the checkpoints of one training, hence a portfolio and not many policies.
"""

from __future__ import annotations

import ast
import os
import re
import struct
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from engine.errors import ConfigurationError, PolicyError
from engine.files import SAS_SUFFIX
from engine.fuzzing.bugs_file import is_bugs_file
from engine.fuzzing.pool_file import is_pool
from engine.pddl import definition_kind
from engine.policies.kinds import PolicySource, is_policy, policy_suffixes
from engine.records.policy_spec import PolicySpec, SpecKind
from engine.workspace.companions import ENDINGS
from engine.workspace.schema import APPLICATION_ID

MAX_FILES = 2000
"""A folder with more files was probably dropped by mistake."""

PLUGIN_FACTORY = "factory"
_HEAD_BYTES = 2**16
_SQLITE_APPLICATION_ID = 68  # where the number stands in the header of the file


class Role(Enum):
    DOMAIN = "domain"
    PROBLEM = "problem"
    POLICY = "policy"
    POOL = "pool"  # states to test: a pool file or a bugs file
    PROFILE = "profile"  # how to draw states
    CAMPAIGN = "campaign"
    WORKSPACE = "workspace"
    UNKNOWN = "unknown"


_DEFINITIONS = {"domain": Role.DOMAIN, "problem": Role.PROBLEM, "animation": Role.PROFILE}


@dataclass(frozen=True, slots=True)
class Recognized:
    """`name` is how the project calls it: the path, and for a plug-in also its factory."""

    role: Role
    name: str
    reason: str = ""  # why it is unknown


@dataclass(frozen=True, slots=True)
class Found:
    domains: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    policies: tuple[str, ...] = ()
    portfolio: tuple[str, ...] = ()
    pools: tuple[str, ...] = ()
    profiles: tuple[str, ...] = ()
    campaigns: tuple[str, ...] = ()
    workspaces: tuple[str, ...] = ()
    unknown: tuple[Recognized, ...] = ()  # only for named files, not for all files of a folder


def recognize_all(paths: Iterable[str | Path]) -> Found:
    """Recognize files and folders."""
    items: list[Recognized] = []
    portfolio: list[str] = []
    for path in map(Path, paths):
        if os.path.isdir(path):
            inside = [item for item in map(recognize_file, _files(path)) if _is_meant(item)]
            checkpoints = _checkpoints(inside)
            portfolio += checkpoints
            items += [item for item in inside if item.name not in checkpoints]
            if not inside:
                nothing = "this folder contains no domain, problem or policy"
                items.append(Recognized(Role.UNKNOWN, str(path), nothing))
        else:
            items.append(recognize_file(path))

    def of(role: Role) -> tuple[str, ...]:
        return tuple(dict.fromkeys(item.name for item in items if item.role is role))

    return Found(
        domains=of(Role.DOMAIN),
        problems=of(Role.PROBLEM),
        policies=of(Role.POLICY),
        portfolio=tuple(dict.fromkeys(portfolio)),
        pools=of(Role.POOL),
        profiles=of(Role.PROFILE),
        campaigns=of(Role.CAMPAIGN),
        workspaces=of(Role.WORKSPACE),
        unknown=tuple(item for item in items if item.role is Role.UNKNOWN),
    )


def recognize_file(path: str | Path) -> Recognized:
    file = Path(path).absolute()
    if reason := _better_left_alone(file):
        return Recognized(Role.UNKNOWN, str(file), reason)
    try:
        with file.open("rb") as stream:
            head = stream.read(_HEAD_BYTES)
    except OSError as error:
        reason = f"it cannot be read: {error.strerror or error}"
        return Recognized(Role.UNKNOWN, str(file), reason)
    if not head.strip():
        return Recognized(Role.UNKNOWN, str(file), "it is empty")
    if b"\0" in head:
        return _binary(file, head)
    return _text(file, head)


def _better_left_alone(file: Path) -> str:
    """Return why a file must not be opened, or an empty string."""
    if os.path.exists(file) and not os.path.isfile(file):  # reading a pipe could block forever
        return "it is not a regular file"
    return "it belongs to a database" if file.name.endswith(ENDINGS) else ""


def plugin_factories(source: str) -> list[str]:
    """The functions and classes of a Python file that could make a policy of a task."""
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # as Python says it is nested
        return []
    found = [
        node.name
        for node in module.body
        if (isinstance(node, ast.FunctionDef) and len(node.args.args) == 1)
        or isinstance(node, ast.ClassDef)
    ]
    public = [name for name in found if not name.startswith("_")]
    return sorted(public, key=lambda name: name != PLUGIN_FACTORY)


def _binary(file: Path, head: bytes) -> Recognized:
    if head.startswith(b"SQLite format 3\0") and len(head) >= _SQLITE_APPLICATION_ID + 4:
        (application,) = struct.unpack_from(">I", head, _SQLITE_APPLICATION_ID)
        if application == APPLICATION_ID:
            return Recognized(Role.WORKSPACE, str(file))
    if _is_policy(file, head):
        return _policy(file)
    return Recognized(Role.UNKNOWN, str(file), "it is neither PDDL nor a policy")


def _is_policy(file: Path, head: bytes) -> bool:
    return is_policy(PolicySource(PolicySpec(SpecKind.FILE, str(file)), head))


def _text(file: Path, head: bytes) -> Recognized:
    if file.suffix == ".py":
        return _plugin(file)
    if file.suffix == ".toml":
        return _campaign(file)
    role, reason = _role(head.decode("utf-8-sig", "replace"), file.suffix.lower())
    if role is Role.UNKNOWN and _is_policy(file, head):
        return _policy(file)
    return Recognized(role, str(file), reason)


def _policy(file: Path, factory: str = "") -> Recognized:
    """A policy file or a plug-in, unless its path would be taken for something else."""
    name = f"{file}:{factory}" if factory else str(file)
    try:
        is_clear = PolicySpec.parse(name).place == str(file)
    except PolicyError:
        is_clear = False
    if is_clear:
        return Recognized(Role.POLICY, name)
    return Recognized(Role.UNKNOWN, str(file), "rename it without ':' and '#'")


def _role(head: str, suffix: str) -> tuple[Role, str]:
    """With the reason where it is unknown."""
    if kind := definition_kind(head):
        return _DEFINITIONS[kind], ""
    if head.startswith("begin_version"):
        if suffix == SAS_SUFFIX:
            return Role.PROBLEM, ""
        return Role.UNKNOWN, f"give a SAS task a name that ends in {SAS_SUFFIX}"
    if is_pool(head) or is_bugs_file(head):
        return Role.POOL, ""
    return Role.UNKNOWN, "it is neither PDDL nor a policy nor a pool"


def _plugin(file: Path) -> Recognized:
    factories = plugin_factories(file.read_text("utf-8", "replace"))
    if not factories:
        reason = "a plug-in needs a function with one parameter, the task"
        return Recognized(Role.UNKNOWN, str(file), reason)
    return _policy(file, factories[0])


def _campaign(file: Path) -> Recognized:
    from engine.campaign.config_reader import parse_toml  # all oracles, which takes long

    try:
        document = parse_toml(file.read_text("utf-8", "replace"), file)
    except ConfigurationError:
        document = {"problems": []}  # its reader reports the place of the mistake
    if "problems" in document:
        return Recognized(Role.CAMPAIGN, str(file))
    return Recognized(Role.UNKNOWN, str(file), "it is not a campaign: it names no problems")


def _files(folder: Path) -> Iterator[Path]:
    """The files below a folder, by name; nothing hidden, and nothing that may not be read."""
    count = 0
    waiting = deque([folder])
    for _ in range(MAX_FILES):  # as many folders at most
        if not waiting:
            return
        try:
            inside = sorted(waiting.popleft().iterdir())
        except OSError:
            continue
        visible = [path for path in inside if not path.name.startswith((".", "__"))]
        waiting += [path for path in visible if path.is_dir() and not path.is_symlink()]
        for path in visible:
            if path.is_file():
                count += 1
                if count > MAX_FILES:
                    return
                yield path


def _is_meant(item: Recognized) -> bool:
    """Whether a file in a folder is meant for the project."""
    if item.role is Role.POLICY:
        spec = PolicySpec.parse(item.name)
        if spec.kind is SpecKind.PLUGIN:
            return spec.factory == PLUGIN_FACTORY
        return item.name.endswith(policy_suffixes())  # numbers alone say little
    return item.role not in (Role.UNKNOWN, Role.WORKSPACE)


def _checkpoints(items: Iterable[Recognized]) -> list[str]:
    """Policy files of one folder whose names differ in a number only."""
    families: dict[tuple[str, str], list[str]] = defaultdict(list)
    for item in items:
        if item.role is Role.POLICY and PolicySpec.parse(item.name).kind is SpecKind.FILE:
            path = Path(item.name)
            families[str(path.parent), re.sub(r"\d+", "#", path.name)].append(item.name)
    return [name for names in families.values() if len(names) > 1 for name in names]
