"""Instructions of PTX that MLIR has no operation for, as text that LLVM passes on."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects.mlir import ir


def instruct(text: str, operands: Sequence[ir.Value], constraints: str) -> None:
    """Emits instructions without a result, which stay where they are among others with effects.

    `text` has $0, $1 and so on for the operands; `constraints` say in what each lies, as in LLVM's
    inline assembly ("r": 32 bits, "l": 64, "h": 16, "f": f32, "b": a condition).
    """
    _emit(text, operands, constraints, [], has_effects=True)


def instructed(
    text: str,
    operands: Sequence[ir.Value],
    constraints: str,
    kind: ir.Type,
    *,
    has_effects: bool = True,
) -> ir.Value:
    """Emits the same and returns its result, or a struct of several: these come first in both."""
    return _emit(text, operands, constraints, [kind], has_effects=has_effects).results[0]


def _emit(
    text: str,
    operands: Sequence[ir.Value],
    constraints: str,
    kinds: Sequence[ir.Type],
    *,
    has_effects: bool,
) -> ir.Operation:
    attributes: dict[str, ir.Attribute] = {
        "asm_string": ir.StringAttr.get(text),
        "constraints": ir.StringAttr.get(constraints),
    }
    if has_effects:
        attributes["has_side_effects"] = ir.UnitAttr.get()
    return ir.Operation.create(
        "llvm.inline_asm", results=kinds, operands=list(operands), attributes=attributes
    )
