"""Names in a program that are not UTF-8, which MLIR takes and its bindings cannot say."""

from __future__ import annotations

import re

from ..dialects.mlir import ir
from .errors import InputError, Position
from .session import position_of

# How a program's text writes a byte that is not ASCII, and any byte.
_NOT_ASCII = re.compile(r"\\[89A-Fa-f][0-9A-Fa-f]")
_BYTE = re.compile(rb"\\([0-9A-Fa-f]{2})")
_QUOTED = re.compile(r'"(?:[^"\\\n]|\\.)*"')
# Attributes that are names. Others may be bytes: a variable's value, a format.
_NAMES = ("sym_name", "name", "kind", "function", "sym_visibility")


def refuse_odd_names(module: ir.Operation, file: str, text: str | None) -> None:
    """Raises InputError for the first name that is not UTF-8; `text` is None for bytecode."""
    if text is not None and not _NOT_ASCII.search(text):
        return
    odd: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        try:
            for key in op.attributes:
                _read(op.attributes[key], is_name=key in _NAMES)
        except (RuntimeError, UnicodeDecodeError):
            odd.append(op)
            return ir.WalkResult.INTERRUPT
        return ir.WalkResult.ADVANCE

    module.walk(visit, ir.WalkOrder.PRE_ORDER)
    if odd:
        raise _odd_name(position_of(odd[0].location) or Position(file, 0, 0))


def _read(attribute: ir.Attribute, *, is_name: bool = True) -> None:
    """Reads the names in an attribute. Raises what the bindings do for one that is not UTF-8."""
    if isinstance(attribute, ir.StringAttr) and not is_name:
        return
    if isinstance(attribute, ir.SymbolRefAttr | ir.FlatSymbolRefAttr | ir.StringAttr):
        _ = attribute.value
    elif isinstance(attribute, ir.ArrayAttr):
        for each in attribute:
            _read(each)
    elif isinstance(attribute, ir.DictAttr):
        for named in attribute:
            _ = named.name
            _read(named.attr)


def _odd_name(position: Position) -> InputError:
    """Returns the error for a name that is not UTF-8."""
    return InputError(
        "a name is not UTF-8",
        position=position,
        stage="parse",
        hint="names of functions, files, inputs and outputs are text; MLIR writes ä as \\C3\\A4",
    )


def decoded(file: str, data: bytes) -> str:
    """Returns a program's text. Raises InputError for one that is not UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise InputError(
            f"neither MLIR text nor bytecode: {error}",
            position=Position(file, line, column),
            stage="parse",
        ) from None


def refuse_odd_text(file: str, text: str, error: Exception) -> None:
    """Raises InputError for the first quoted text that is not UTF-8, the cause of `error`."""
    for number, line in enumerate(text.splitlines(), start=1):
        for quoted in _QUOTED.finditer(line):
            try:
                _BYTE.sub(_unescaped, quoted[0].encode()).decode()
            except UnicodeDecodeError:
                raise _odd_name(Position(file, number, quoted.start() + 1)) from error


def _unescaped(byte: re.Match[bytes]) -> bytes:
    return bytes.fromhex(byte[1].decode())
