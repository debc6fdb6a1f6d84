"""Writing Host IR programs in Python. docs/host-ir-builder.md is the tutorial.

    with hirc.program("main") as p:
        x = p.input("x", ("n", 64), "f32")
        p.output("y", x.relu())

A program writes operations as it goes: `emitter` puts them where the `with` statements say, at the
user's file and line, and verifies each. What the user holds are buffers, scalars, sizes, streams;
sizes are symbolic (`sizes`), so that types and shapes follow without a run. `program` is put
together from one file for each part of the dialect: `computing`, `viewing`, `memory`, `control`,
`streaming`, `calling`, `communication`, `scalars`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from . import steps
from .branch import Branch
from .buffer import Buffer
from .calling import Calling
from .communication import Communication, Request
from .communicator import Communicator
from .computing import Computing
from .control import Control
from .errors import BuildError
from .guard import guard, guarded
from .kernel import Kernel, Kernels
from .memory import Memory
from .module import Module
from .program import Program
from .scalar import Scalar
from .scalars import Scalars
from .sizes import Size
from .stream import Event, Stream
from .streaming import Streaming
from .viewing import Viewing

__all__ = [
    "Branch",
    "Buffer",
    "BuildError",
    "Communicator",
    "Event",
    "Kernel",
    "Module",
    "Program",
    "Request",
    "Scalar",
    "Size",
    "Stream",
    "module",
    "program",
    "steps",
]


def module() -> Module:
    """Returns a module for programs that call one another."""
    return Module()


def program(name: str) -> Program:
    """Returns a program in its own module, to be written in its `with`."""
    return Module().program(name)


# What annotations name. Of `object` are those whose values are told apart where they are used.
_NAMES: dict[str, Any] = {
    each.__name__: each
    for each in (
        *(Branch, Buffer, Communicator, Event, Kernel, Kernels, Mapping, Module, Program, Request),
        *(Scalar, Sequence, Size, Stream),
    )
} | {
    "Extent": int | Size,
    "Index": object,
    "Operand": Buffer | Scalar | Size | int | float,
    "ScalarLike": Scalar | Size | int | float,
    "Step": object,
    "Value": object,
}
for _each in (
    *(Program, Scalars, Computing, Viewing, Memory, Control, Streaming, Communication, Calling),
    *(Branch, Buffer, Event, Module, Request, Scalar, Size, Stream),
):
    guard(_each, _NAMES)
module, program = guarded(module, _NAMES), guarded(program, _NAMES)
