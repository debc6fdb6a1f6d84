"""Compiled host programs in this process: a shared library for the CPU device, loaded."""

from __future__ import annotations

import hashlib
import tempfile
from functools import cache
from pathlib import Path

import hirc


@cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="hirc-test-"))


@cache
def library(text: str, *flags: str) -> hirc.Library:
    """The programs of a module, compiled once."""
    # Not on a GPU machine, where only the loader is.
    from hirc.tools.hirc import main as run_hirc

    name = hashlib.sha256(repr((text, flags)).encode()).hexdigest()[:12]
    source, output = _folder() / f"{name}.mlir", _folder() / f"{name}.so"
    source.write_text(text)
    words = [str(source), "-o", str(output), "--emit=shared", "--offload-arch=cpu", *flags]
    assert run_hirc(words) == 0
    return hirc.load(output)
