"""Compiled host programs in this process, for the CPU device: in memory, or from a file."""

from __future__ import annotations

import hashlib
import tempfile
from functools import cache, lru_cache
from pathlib import Path

import hirc

_FLAGS = ("--emit=shared", "--offload-arch=cpu")


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """Returns a folder that is removed when the tests end."""
    return tempfile.TemporaryDirectory(prefix="hirc-test-")


# The tests of a file run one after another. What a process holds, each fork that compiles copies.
@lru_cache(maxsize=8)
def library(text: str, *flags: str) -> hirc.Artifact:
    """The programs of a module, compiled once: in memory, unless it takes a link."""
    # Not on a GPU machine, where only the loader is.
    from hirc.compiler.compile_program import load_program
    from hirc.compiler.source import Source
    from hirc.tools.hirc_arguments import parse_arguments

    if not all(flag.startswith("-") and not flag.startswith("--check") for flag in flags):
        return linked(text, *flags)
    path = _written(text, flags)
    options = parse_arguments([str(path), "-o", f"{path.stem}.so", *_FLAGS, *flags]).options
    return load_program(Source(str(path), text.encode()), options, cache=False)


@lru_cache(maxsize=8)
def linked(text: str, *flags: str) -> hirc.Artifact:
    """The same in a file that is loaded."""
    from hirc.tools.hirc import main as run_hirc

    source = _written(text, flags)
    output = source.with_suffix(".so")
    assert run_hirc([str(source), "-o", str(output), *_FLAGS, *flags]) == 0
    return hirc.load(output)


def _written(text: str, flags: tuple[str, ...]) -> Path:
    """A file with the text, whose name messages have."""
    name = hashlib.sha256(repr((text, flags)).encode()).hexdigest()[:12]
    path = Path(_folder().name) / f"{name}.mlir"
    path.write_text(text)
    return path
