"""Folders that tests share, which go with the process that made them."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path


def scratch_folder(name: str) -> Path:
    """Returns a new folder with a short path. It is removed when this process ends."""
    folder = Path(tempfile.mkdtemp(prefix=f"hirc-{name}-"))
    atexit.register(_remove, folder, os.getpid())
    return folder


def _remove(folder: Path, owner: int) -> None:
    # A child that was forked is not to take its parent's.
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
