"""Files made once and kept between runs, in the folder toolchain.cache_directory() names."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from .output import replacing
from .toolchain import cache_directory

_DIGEST_BYTES = 32


def cached(name: str, make: Callable[[], bytes]) -> bytes:
    """The file `name` of the cache, made by `make` when it is not there.

    The name carries a digest of all that the contents depend on, so a file is never out of date.
    """
    path = _writable(cache_directory()) / name
    if path.is_file():
        kept = path.read_bytes()
        data, digest = kept[:-_DIGEST_BYTES], kept[-_DIGEST_BYTES:]
        if digest == _digest(data):
            return data
    data = make()
    with replacing(path) as temporary:
        temporary.write_bytes(data + _digest(data))
    return data


def _digest(data: bytes) -> bytes:
    """What follows the data in the file, so that a damaged one is made again."""
    return hashlib.sha256(data).digest()


def _writable(folder: Path) -> Path:
    """The folder, or one for temporary files where it cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    except OSError:
        pass
    fallback = Path(tempfile.gettempdir()) / f"hirc-{os.getuid()}"
    fallback.mkdir(mode=0o700, parents=True, exist_ok=True)
    return fallback
