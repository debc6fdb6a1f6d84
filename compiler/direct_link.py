"""The command that clang runs for a link, asked of clang once: then links do without clang, which
takes as long to say what it runs as a linker takes for a small program.

What clang would run depends on its arguments, on some variables, and on where it finds GCC and the
C library. All that is part of the name under which the cache has the command. Whoever runs it runs
clang itself where it fails: a C library elsewhere, which is not looked for here, may have moved.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from .cache import cached
from .errors import ToolchainError
from .process import Finished, Runner
from .toolchain import Clang, Cuda, program_state

# The variables that clang's driver reads begin with these.
_VARIABLES = ("CCC_", "CC_", "CLANG_", "COMPILER_PATH", "CUDA_", "GCC_", "LIBRARY_PATH", "PATH")
# Where distributions keep GCC's installations, a folder for each target and version; and libraries.
_GCC = ("/usr/lib/gcc", "/usr/lib64/gcc", "/usr/lib/gcc-cross")
_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/lib/*-linux-gnu", "/etc/clang*")
# What clang reads of a CUDA, and what tells another of the same place.
_OF_CUDA = (".", "bin", "include", "include/cuda.h", "version.json", "version.txt")
_TOOL_ERROR = re.compile(r"^\S*(?:clang|nvlink|ptxas|lld)\S*\s*:.*\berror\b", re.MULTILINE)
# A word of a command; for a file of the one link, its number among them.
_Words = list[str | int]


class _Unknown(Exception):
    """clang's answer is none that can be used for other links."""


def has_failed(done: Finished) -> bool:
    """Returns whether a program of a link failed; clang 22 ends with status 0 although its device
    link printed an error.
    """
    return done.status != 0 or _TOOL_ERROR.search(done.errors) is not None


def direct_command(
    command: Sequence[str | Path], files: Sequence[Path], clang: Clang, *, cuda: Cuda | None = None
) -> list[str] | None:
    """Returns what clang runs for a link, given its command; None where that is not known.

    `files` are those words of the command that another link has others for. What clang says of
    device code depends on the version of `cuda`.
    """
    names = [str(file) for file in files]
    state = program_state(clang.path)
    if state is None or len(set(names)) != len(names):
        return None
    words: _Words = [names.index(word) if word in names else word for word in map(str, command)]
    place = hashlib.sha256(
        repr([state, words, list(_surroundings(clang, cuda))]).encode()
    ).hexdigest()

    def ask() -> bytes:
        return json.dumps(_asked([str(word) for word in command], names)).encode()

    try:
        known: _Words = json.loads(cached(f"link-command-{place[:32]}", ask))
    except (_Unknown, ToolchainError):
        return None
    return [names[word] if isinstance(word, int) else word for word in known]


def _surroundings(clang: Clang, cuda: Cuda | None) -> Iterator[object]:
    """Yields what else clang's answer depends on: variables, and what lies in folders."""
    for name in sorted(os.environ):
        if name.startswith(_VARIABLES):
            yield name, os.environ[name]
    root = Path("/")
    folders = [clang.directory, clang.path.parent]
    folders += [] if cuda is None else [cuda.root / name for name in _OF_CUDA]
    folders += [path for name in _LIBRARIES for path in sorted(root.glob(name[1:]))]
    for name in _GCC:
        folders += [
            Path(name),
            *sorted(root.glob(f"{name[1:]}/*")),
            *sorted(root.glob(f"{name[1:]}/*/*")),
        ]
    for folder in folders:
        try:
            status = folder.stat()
        except OSError:
            continue
        yield str(folder), status.st_dev, status.st_ino, status.st_mtime_ns


def _asked(command: Sequence[str], names: Sequence[str]) -> _Words:
    """Returns what clang says that it would run, which has to be one program.

    Raises _Unknown, or ToolchainError where clang cannot be run.
    """
    done = Runner().run([*command, "-###"])
    lines = [line for line in done.errors.splitlines() if line.startswith(' "')]
    if done.status != 0 or len(lines) != 1:
        raise _Unknown
    words = shlex.split(lines[0])
    if any(words.count(name) != 1 for name in names) or any(
        name in word and name != word for name in names for word in words
    ):
        raise _Unknown
    return [names.index(word) if word in names else word for word in words]
