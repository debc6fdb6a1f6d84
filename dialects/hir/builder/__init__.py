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

from . import steps
from .branch import Branch
from .buffer import Buffer
from .communication import Communicator, Request
from .errors import BuildError
from .kernel import Kernel
from .module import Module
from .program import Program
from .scalar import Scalar
from .sizes import Size
from .stream import Event, Stream

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
    """A module for programs that call one another."""
    return Module()


def program(name: str) -> Program:
    """A program in a module of its own."""
    return Module().program(name)
