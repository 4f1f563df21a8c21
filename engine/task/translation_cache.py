"""Translations kept on disk, because a big task takes minutes to translate.

An entry's name is the hash of all that went into it, so entries never go stale. Damaged files are
ignored and replaced, and the least recently used ones go when the folder grows too big. A folder
that cannot be written means no cache, never an error.
"""

from __future__ import annotations

import gzip
import hashlib
import logging
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from engine.caches import DEFAULT_MEGABYTES, TRANSLATIONS, keep, read_kept

_log = logging.getLogger(__name__)


def cache_key(*parts: bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class TranslationCache:
    folder: Path
    max_bytes: int = DEFAULT_MEGABYTES * 1_000_000

    @classmethod
    def of_user(cls) -> TranslationCache:
        return cls(TRANSLATIONS.folder, TRANSLATIONS.max_bytes())

    def get(self, key: str) -> str | None:
        path = self._path(key)
        try:
            data = read_kept(path)
            # gzip takes an empty file for empty text
            return gzip.decompress(data).decode() or None if data is not None else None
        except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
            _log.warning("ignored the damaged translation %s: %s", path, error)
            return None

    def put(self, key: str, text: str) -> None:
        try:
            keep(self._path(key), gzip.compress(text.encode(), compresslevel=1), self.max_bytes)
        except OSError as error:
            _log.warning("could not keep a translation in %s: %s", self.folder, error)

    def drop(self, key: str) -> None:
        with suppress(OSError):
            self._path(key).unlink()

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.sas.gz"


class NoCache(TranslationCache):
    """Keeps nothing, for translations that are needed once."""

    def get(self, key: str) -> str | None:
        return None

    def put(self, key: str, text: str) -> None:
        pass


NO_CACHE = NoCache(Path())
