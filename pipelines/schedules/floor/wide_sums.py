"""What is accumulated in registers is accumulated in f32, and rounded when it is stored."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.mlir import arith, ir
from ...fusion.widen import widen
from ...walking import is_used


def accumulate_in_f32(op: ir.Operation, outputs: Sequence[int]) -> None:
    """Makes the region of a linalg.generic take and yield the elements of narrow outputs in f32.

      ^bb0(%a: bf16, %o: bf16):
        %y = arith.addf %o, %a : bf16
        linalg.yield %y : bf16
    becomes
      ^bb0(%a: bf16, %o: f32):
        %w = arith.extf %a : bf16 to f32
        %y = arith.addf %o, %w : f32
        linalg.yield %y : f32

    The operation is valid no more: what carries its outputs' elements extends and rounds them.
    """
    block = op.regions[0].blocks[0]
    narrow = [place for place in outputs if _is_narrow(block.arguments[place].type)]
    if not narrow:
        return
    widen(op)
    end = list(block)[-1].operation
    for place in narrow:
        argument, yielded = block.arguments[place], end.operands[place - outputs[0]]
        extensions = [use.owner.operation for use in argument.uses]
        rounding = _owner(yielded, "arith.truncf")
        if rounding is None or not all(_extends_to_f32(each) for each in extensions):
            continue
        end.operands[place - outputs[0]] = rounding.operands[0]
        for each in extensions:
            each.results[0].replace_all_uses_with(argument)
            each.erase()
        argument.set_type(ir.F32Type.get())
        if not is_used(rounding.results[0]):
            rounding.erase()


def extended(element: ir.Value, wanted: ir.Type) -> ir.Value:
    """An output's element in the type in which it is accumulated."""
    return element if element.type == wanted else arith.extf(wanted, element)


def rounded(value: ir.Value, element: ir.Type) -> ir.Value:
    """Returns what was accumulated as an output's element."""
    return value if value.type == element else arith.truncf(element, value)


def _is_narrow(kind: ir.Type) -> bool:
    return isinstance(kind, ir.FloatType) and kind.width < 32


def _owner(value: ir.Value, name: str) -> ir.Operation | None:
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.operation.name != name:
        return None
    op = owner.operation
    return op if op.operands[0].type == ir.F32Type.get() else None


def _extends_to_f32(op: ir.Operation) -> bool:
    return op.name == "arith.extf" and op.results[0].type == ir.F32Type.get()
