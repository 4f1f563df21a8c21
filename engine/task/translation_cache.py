"""Translations kept on disk, because a big task takes minutes to translate.

An entry's name is the hash of all that went into it, so entries never go stale. Files appear by
rename, damaged ones are ignored and replaced, and the least recently used ones go when the
folder grows too big. A folder that cannot be written means no cache, never an error.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import logging
import os
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path

import platformdirs

FOLDER_VARIABLE = "PLUMBLINE_CACHE_DIR"
MAX_BYTES = 500_000_000

_log = logging.getLogger(__name__)


def cache_folder() -> Path:
    """Where Plumbline keeps what it can compute again."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    return Path(chosen or platformdirs.user_cache_dir("plumbline", appauthor=False))


def cache_key(*parts: bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class TranslationCache:
    folder: Path
    max_bytes: int = MAX_BYTES

    @classmethod
    def of_user(cls) -> TranslationCache:
        return cls(cache_folder() / "translations")

    def get(self, key: str) -> str | None:
        path = self._path(key)
        try:
            text = gzip.decompress(path.read_bytes()).decode()
            path.touch()  # the order of removal is by last use
        except FileNotFoundError:
            return None
        except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
            _log.warning("ignored the damaged translation %s: %s", path, error)
            return None
        return text or None  # gzip takes an empty file for empty text

    def put(self, key: str, text: str) -> None:
        data = gzip.compress(text.encode(), compresslevel=1)
        if len(data) > self.max_bytes:
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._write(self._path(key), data)
            self._shrink()
        except OSError as error:
            _log.warning("could not keep a translation in %s: %s", self.folder, error)

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.sas.gz"

    def _write(self, path: Path, data: bytes) -> None:
        handle, name = tempfile.mkstemp(dir=self.folder, suffix=".tmp")
        try:
            with open(handle, "wb") as stream:
                stream.write(data)
            os.replace(name, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise

    def _shrink(self) -> None:
        entries = []
        for path in self.folder.iterdir():
            with contextlib.suppress(FileNotFoundError):  # another process shrinks it too
                status = path.stat()
                entries.append((status.st_mtime, status.st_size, path))
        total = sum(size for _, size, _ in entries)
        for _, size, path in sorted(entries):
            if total <= self.max_bytes:
                return
            path.unlink(missing_ok=True)
            total -= size
