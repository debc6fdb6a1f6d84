"""Folders of what was built, that a GPU machine without hirc runs: the loader goes along."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
_LOADER = (
    "__init__.py",
    "compiler/__init__.py",
    "compiler/errors.py",
    "compiler/loader*.py",
    "tools/__init__.py",
)
_RUN = '''\
"""Runs what is in this folder, on this machine: python3 run.py --help."""

import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))

from hirc.tools.{tool}.run import main  # noqa: E402

sys.exit(main(FOLDER))
'''
# What compiles, and the packages that it compiles with.
_COMPILER = ("compiler", "dialects", "frontends", "pipelines")
_SOURCES = (".py", ".c", ".h")
_PACKAGES = ("torch-mlir", "llvmlite")


def copy_runner(folder: Path, tool: str, modules: Sequence[str]) -> None:
    """Copies the loader and these modules of a tool's package, and writes `run.py`."""
    copy_loader(folder, *(f"tools/{tool}/{module}.py" for module in modules))
    (folder / "run.py").write_text(_RUN.format(tool=tool))


def copy_loader(folder: Path, *more: str) -> None:
    """Copies the loader, and `more` of hirc's files, so that `import hirc` finds it there."""
    for path in (path for pattern in (*_LOADER, *more) for path in _ROOT.glob(pattern)):
        target = folder / "hirc" / path.relative_to(_ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)


@cache
def compiler_digest() -> str:
    """Returns a digest of the compiler's sources and of the packages' versions."""
    digest = hashlib.sha256(" ".join(version(each) for each in _PACKAGES).encode())
    for path in sorted(path for name in _COMPILER for path in (_ROOT / name).rglob("*")):
        if path.suffix in _SOURCES:
            digest.update(f"\n{path.relative_to(_ROOT)}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def error_line(text: str) -> str:
    """Returns the line of what a tool wrote that says what is wrong; the last one without such."""
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return next((line for line in lines if "error:" in line), lines[-1] if lines else "").strip()
