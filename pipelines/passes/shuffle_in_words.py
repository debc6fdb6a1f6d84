"""shuffle-in-words: gpu.shuffle of elements that are not of 32 or 64 bits, and of vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ...dialects.mlir import arith, gpu, ir, vector
from ...dialects.records import dataclass
from ..pass_base import Pass, register
from ..rewriting import constant, rewrite_each

_WORD = 32
# What chips' own lowerings shuffle.
_KNOWN = ("i32", "i64", "f32", "f64")


@register
@dataclass(frozen=True)
class ShuffleInWords(Pass):
    """Makes gpu.shuffle of other elements, and of vectors, shuffles of 32 bits each.

      %r, %valid = gpu.shuffle xor %x, %offset, %width : f16
    becomes
      %word = arith.extui %bits : i16 to i32  // the bits of %x
      %read, %valid = gpu.shuffle xor %word, %offset, %width : i32
      %r = arith.trunci %read : i32 to i16    // and these as f16
    """

    name: ClassVar[str] = "shuffle-in-words"
    subjects: ClassVar[tuple[str, ...]] = ("gpu.shuffle",)

    def run(self, op: ir.Operation) -> bool:
        return rewrite_each(op, {"gpu.shuffle": _rewrite})


def _rewrite(op: ir.Operation) -> Sequence[ir.Value] | None:
    value = op.operands[0]
    if str(value.type) in _KNOWN:
        return None
    kind = value.type
    if not isinstance(kind, ir.VectorType):
        return _read(op, value)
    places = range(kind.shape[0])
    found = [_read(op, vector.extract(value, [], [place])) for place in places]
    return [vector.from_elements(kind, [each for each, _ in found]), found[0][1]]


def _read(op: ir.Operation, value: ir.Value) -> tuple[ir.Value, ir.Value]:
    """Returns an element of another lane, and whether that lane is one of the width."""
    if str(value.type) in _KNOWN:
        return _shuffle(op, value)
    kind = value.type
    assert isinstance(kind, ir.IntegerType | ir.FloatType)  # gpu.shuffle takes no others
    if isinstance(kind, ir.FloatType):
        bits = arith.bitcast(ir.IntegerType.get_signless(kind.width), value)
        read, valid = _read(op, bits)
        return arith.bitcast(kind, read), valid
    word = ir.IntegerType.get_signless(_WORD)
    count = -(-kind.width // _WORD)
    if count == 1:
        read, valid = _shuffle(op, arith.extui(word, value))
        return arith.trunci(kind, read), valid
    wide = ir.IntegerType.get_signless(count * _WORD)
    whole = value if wide == kind else arith.extui(wide, value)
    valid, result = None, constant(wide, 0)
    for place in range(count):
        by = constant(wide, place * _WORD)
        read, valid = _shuffle(op, arith.trunci(word, arith.shrui(whole, by)))
        result = arith.ori(result, arith.shli(arith.extui(wide, read), by))
    assert valid is not None
    return result if wide == kind else arith.trunci(kind, result), valid


def _shuffle(op: ir.Operation, value: ir.Value) -> tuple[ir.Value, ir.Value]:
    _, offset, width = op.operands
    made = gpu.ShuffleOp(value, offset, width, op.attributes["mode"]).operation
    return made.results[0], made.results[1]
