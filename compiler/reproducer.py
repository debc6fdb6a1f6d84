"""What a report of our own bug needs: the command, the versions, the program, the traceback."""

from __future__ import annotations

import platform
import shlex
import sys
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path

from .. import __version__


def write_reproducer(arguments: Sequence[str], sources: dict[str, str]) -> Path:
    """Writes a folder with the command line, versions, traceback and sources; returns its path."""
    folder = Path(tempfile.mkdtemp(prefix="hirc-report-"))
    lines = [f"command: hirc {shlex.join(arguments)}", f"hirc {__version__}"]
    lines += [f"{name} {_version(name)}" for name in ("torch-mlir", "llvmlite", "numpy")]
    lines.append(f"Python {platform.python_version()} on {platform.platform()}")
    if sys.exc_info()[0] is not None:
        lines.append(traceback.format_exc())
    (folder / "report.txt").write_text("\n".join(lines) + "\n")
    for index, (name, text) in enumerate(sources.items()):
        stem = Path(name).name.strip("<>") or "input"
        (folder / f"{index}-{stem}").write_text(text)
    return folder


def _version(name: str) -> str:
    # Imported when needed: it takes longer to load than a small program to lower.
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
