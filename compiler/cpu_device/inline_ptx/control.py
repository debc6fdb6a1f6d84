"""Branches and the end of a thread."""

from __future__ import annotations

from .handlers import Handlers
from .syntax import PtxInstruction
from .writer import Writer

HANDLERS = Handlers()


@HANDLERS.add(r"bra(\.uni)?")
def _bra(w: Writer, it: PtxInstruction) -> None:
    w.line(f"br label %{w.label_of(it.operands[0])}")
    w.open(w.label())  # what follows is reached from elsewhere only


@HANDLERS.add(r"trap")
def _trap(w: Writer, it: PtxInstruction) -> None:
    del it
    w.call("void", "llvm.trap", [])


@HANDLERS.add(r"exit")
def _exit(w: Writer, it: PtxInstruction) -> None:
    del it
    w.call("void", "llvm.nvvm.exit", [])


@HANDLERS.add(r"brkpt")
def _brkpt(w: Writer, it: PtxInstruction) -> None:
    """Without a debugger nothing happens."""
    del w, it
