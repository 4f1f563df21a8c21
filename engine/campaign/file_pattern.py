"""The files that a pattern such as `problems/**/*.pddl` names, found with a bound.

Each folder counts once however many ways lead to it in the pattern. Every folder that is
looked into counts, with all names in it: neither a pattern nor links in a folder make the search
last long.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from fnmatch import translate
from pathlib import Path

MAX_FOLDERS = 10_000
MAX_NAMES = 500_000


class LongSearchError(Exception):
    """A pattern looks into more folders, or at more names in them, than it may."""


def is_pattern(name: str) -> bool:
    return any(letter in name for letter in "*?[")


def find_files(pattern: Path) -> list[Path]:
    """The files that an absolute pattern names, by name; what may not be read is left out.

    As in a shell, `**` stands for any number of folders, and does not follow links.
    """
    *folders, last = pattern.parts[1:]
    search = _Search()
    places = [Path(pattern.anchor)]
    for part in folders:
        places = list(search.inside(places, part, folders=True))
    return sorted(filter(os.path.isfile, search.inside(places, last)))


class _Search:
    def __init__(self) -> None:
        self._folders = self._names = 0

    def inside(self, places: list[Path], part: str, *, folders: bool = False) -> Iterator[Path]:
        """What a part of a pattern stands for in each of some folders."""
        matches = re.compile(translate(part)).match
        seen = set[Path]()
        for place in places:
            if part == "**":
                yield from self._below(place, seen)
            elif not is_pattern(part):
                yield place / part
            else:
                for entry in self._entries(place):
                    if matches(entry.name) and (not folders or _is_folder(entry)):
                        yield place / entry.name

    def _below(self, place: Path, seen: set[Path]) -> Iterator[Path]:
        waiting = [place]
        while waiting:
            folder = waiting.pop()
            if folder not in seen:
                seen.add(folder)
                yield folder
                entries = self._entries(folder)
                waiting += [
                    folder / entry.name for entry in entries if _is_folder(entry, links=False)
                ]

    def _entries(self, folder: Path) -> list[os.DirEntry[str]]:
        found: list[os.DirEntry[str]] = []
        # It may not be read, is no folder, or is gone by now.
        with (
            suppress(PermissionError, NotADirectoryError, FileNotFoundError),
            os.scandir(folder) as entries,
        ):
            found += entries
        self._folders += 1
        self._names += len(found)
        if self._folders > MAX_FOLDERS or self._names > MAX_NAMES:
            raise LongSearchError
        return found


def _is_folder(entry: os.DirEntry[str], *, links: bool = True) -> bool:
    try:
        return entry.is_dir(follow_symlinks=links)
    except OSError:  # a link that leads to itself
        return False
