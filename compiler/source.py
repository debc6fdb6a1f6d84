"""What a program is read from: MLIR as text or bytecode, of a file or standard input, or a model.

Needs no MLIR: what is cached is not parsed.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from pathlib import Path

from ..dialects.records import dataclass
from . import activity
from .collection import seldom_collected
from .errors import InputError
from .safetensors import TensorFile
from .sharding import Sharding

_BYTECODE = b"ML\xefR"
STDIN_NAME = "<stdin>"
# `file.py:name`, the name a dotted one.
_IN_PYTHON = re.compile(r"(.+\.py):([\w.]+)", re.DOTALL)
# What MLIR calls a module that came from no file.
UNNAMED = "-"


@dataclass(frozen=True)
class Source:
    """One translation unit: its name in messages, its bytes, and a digest that names it.

    Where it `is_made`, the bytes were made of what the name says, and are not in a file. `weights`
    are values that it brings along.
    """

    name: str
    data: bytes
    is_made: bool = False
    weights: TensorFile | None = None

    @property
    def unit(self) -> str:
        """Twelve hex digits that differ between translation units."""
        name = os.fsencode(Path(self.name).name)
        return hashlib.sha256(name + b"\0" + self.data).hexdigest()[:12]

    @property
    def stem(self) -> str:
        return "stdin" if self.name == STDIN_NAME else Path(self.name).stem

    @property
    def text(self) -> str | None:
        """The source's text, for excerpts; None for bytecode."""
        return None if is_bytecode(self.data) else self.data.decode(errors="replace")


def is_bytecode(data: bytes) -> bool:
    """Returns whether this is MLIR's bytecode, by how it begins."""
    return data.startswith(_BYTECODE)


def is_model(name: str) -> bool:
    """Returns whether an input is a torch model: `model.pt2`, or `file.py:name`."""
    return name.endswith(".pt2") or _IN_PYTHON.fullmatch(name) is not None


def file_of(name: str) -> str:
    """Returns the file that an input is in."""
    match = _IN_PYTHON.fullmatch(name)
    return name if match is None else match[1]


def read_source(path: str, entry: str = "main", sharding: Sharding | None = None) -> Source:
    """Reads a file, or standard input for `-`. Raises InputError.

    Of a torch model it makes a function called `entry`, with `sharding` one over a mesh.
    """
    if is_model(path):
        # Imported late: torch takes seconds to load. Most of what its modules make stays.
        with seldom_collected():
            from ..frontends.torch.read_model import read_model

        return read_model(path, entry, sharding).source(path)
    if sharding is not None:
        raise InputError(
            f"{path} is no torch model, and says itself how its tensors are spread over a mesh"
        )
    if path.endswith(".py"):
        raise InputError(
            f"{path} is a Python file: which of its models?",
            hint=f"{path}:Model compiles what it calls Model",
        )
    if path == "-":
        try:
            data = sys.stdin.buffer.read()
        except OSError as error:
            raise InputError(f"cannot read standard input: {error.strerror}") from error
        activity.read_from(STDIN_NAME, data)
        return Source(STDIN_NAME, data)
    activity.read_from(path)
    try:
        return Source(path, Path(path).read_bytes())
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error


def check_readable(path: Path) -> None:
    """Raises InputError for a file another program will read, where that cannot be."""
    try:
        path.open("rb").close()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
