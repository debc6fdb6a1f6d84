"""What a report of a bug in hirc needs: command, versions, program, and what was going on."""

from __future__ import annotations

import platform
import shlex
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from .. import __version__

# Of a program's name, in the name of its copy: a file system takes 255 bytes.
_LONGEST_NAME = 80


def write_reproducer(
    tool: str, arguments: Sequence[str], programs: Mapping[str, bytes], details: str
) -> str:
    """Writes a folder with the command line, versions, `details` and the programs.

    Returns a line that names it, or says why there is none. The folder is its owner's alone.
    """
    try:
        folder = Path(tempfile.mkdtemp(prefix="hirc-report-"))
        lines = [f"command: {tool} {shlex.join(arguments)}", f"hirc {__version__}"]
        lines += [f"{name} {_version(name)}" for name in ("torch-mlir", "llvmlite", "numpy")]
        lines.append(f"Python {platform.python_version()} on {platform.platform()}")
        lines.append(details)
        text = "\n".join(lines) + "\n"
        (folder / "report.txt").write_text(text, errors="backslashreplace")
        for index, (name, data) in enumerate(programs.items()):
            stem = Path(name).name.strip("<>")[-_LONGEST_NAME:] or "input"
            (folder / f"{index}-{stem}").write_bytes(data)
    except OSError as error:
        return f"{tool}: no report could be written: {error}"
    return f"{tool}: to report: {folder}"


def _version(name: str) -> str:
    # Imported when needed: it takes longer to load than a small program to lower.
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
