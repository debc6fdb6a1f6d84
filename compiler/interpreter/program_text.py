"""What a program may be given as: a builder's program, MLIR text, a path or a module."""

from __future__ import annotations

from pathlib import Path

from ...dialects.mlir import ir, passmanager
from .. import activity
from ..errors import InputError
from ..parse import parse, refuse_unreadable
from ..session import Session
from ..source import STDIN_NAME, Source, read_source
from .nested import operations_in


def parsed(program: object) -> tuple[ir.Module, Session | None]:
    """The module of a program, and the session that it was read in unless it is one already."""
    if isinstance(program, ir.Module):
        return _generalized(program), None
    text = getattr(program, "text", None)
    if isinstance(text, str):
        source = Source(STDIN_NAME, text.encode())
    elif isinstance(program, str) and ("\n" in program or "(" in program):
        source = Source(STDIN_NAME, program.encode())
    elif isinstance(program, (str, Path)):
        source = read_source(str(program))
    else:
        raise InputError(
            f"a program is a builder's program, MLIR text, a path or a module, not "
            f"{type(program).__name__}"
        )
    session = Session()
    if not isinstance(text, str) and not activity.is_watched():
        refuse_unreadable(source, session)
    return _generalized(parse(source, session)), session


def builder_name(program: object) -> str | None:
    """The name of a builder's program; None for what was not built."""
    name = getattr(program, "name", None)
    return name if isinstance(name, str) and hasattr(program, "text") else None


def named_programs(module: ir.Module) -> dict[str, ir.Operation]:
    """The programs of a module by name."""
    return {
        ir.StringAttr(op.operation.attributes["sym_name"]).value: op.operation
        for op in module.body
        if op.operation.name == "hir.program"
    }


def _generalized(module: ir.Module) -> ir.Module:
    """The module with linalg.generic for every named linalg operation; a copy if it has some."""

    def is_named(op: ir.Operation) -> bool:
        kind = op.name.partition(".")
        return kind[0] == "linalg" and kind[2] not in ("generic", "yield", "index")

    if not any(map(is_named, operations_in(module.operation))):
        return module
    with module.context:
        copy = ir.Module.parse(str(module.operation.get_asm(enable_debug_info=True)))
        manager = passmanager.PassManager.parse(
            "builtin.module(linalg-generalize-named-ops)", module.context
        )
        manager.run(copy.operation)
    return copy
