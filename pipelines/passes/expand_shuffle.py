"""expand-shuffle: gpu.shuffle on AMD's chips, within as many lanes as it says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ...dialects.mlir import arith, gpu, ir
from ...dialects.records import dataclass
from ..i32 import i32_constant
from ..pass_base import Pass, fail, register
from ..rewriting import rewrite_each

_WORD, _WORDS = 32, 64


@register
@dataclass(frozen=True)
class ExpandShuffle(Pass):
    """Makes gpu.shuffle rocdl.ds_bpermute, which reads a lane of the wavefront by its number.

    Upstream's lowering takes the wavefront as one whatever the width: with a width of 32 on 64
    lanes, `up` and `idx` read the other half. Here lanes are in groups of `width`, a power of two,
    so that code written for warps of 32 lanes gives on a wavefront of 64 what it gives there.

      %r, %valid = gpu.shuffle up %x, %offset, %width : f32
    becomes
      %source = %lane - %offset
      %valid = %source >= (%lane & -%width)
      %r = rocdl.ds_bpermute (%valid ? %source : %lane) * 4, %x
    """

    name: ClassVar[str] = "expand-shuffle"
    subjects: ClassVar[tuple[str, ...]] = ("gpu.shuffle",)

    def run(self, op: ir.Operation) -> bool:
        return rewrite_each(op, {"gpu.shuffle": _expand})


def _expand(op: ir.Operation) -> Sequence[ir.Value]:
    value, offset, width = op.operands
    mode = str(op.attributes["mode"]).removeprefix("#gpu<shuffle_mode ").removesuffix(">")
    lane = arith.index_castui(ir.IntegerType.get_signless(_WORD), gpu.lane_id())
    first = arith.andi(lane, arith.subi(i32_constant(0), width))
    last = arith.addi(first, arith.subi(width, i32_constant(1)))
    if mode == "idx":
        wrapped = arith.andi(offset, arith.subi(width, i32_constant(1)))
        source = arith.ori(first, wrapped)
        valid = arith.constant(ir.IntegerType.get_signless(1), True)
    elif mode == "up":
        source = arith.subi(lane, offset)
        valid = arith.cmpi(arith.CmpIPredicate.sge, source, first)
    else:
        source = (arith.xori if mode == "xor" else arith.addi)(lane, offset)
        valid = arith.cmpi(arith.CmpIPredicate.ule, source, last)
    source = arith.select(valid, source, lane)
    address = arith.shli(source, i32_constant(2))
    return [_read(op, address, value), valid]


def _read(op: ir.Operation, address: ir.Value, value: ir.Value) -> ir.Value:
    """Returns the value that the lane has whose number, times four, is `address`."""
    kind = value.type
    word, words = (ir.IntegerType.get_signless(bits) for bits in (_WORD, _WORDS))
    if not isinstance(kind, ir.IntegerType | ir.FloatType) or kind.width > _WORDS:
        fail(op, f"gpu.shuffle of {kind} is not supported on AMD's chips; shuffle words of 64 bits")
    if not isinstance(kind, ir.IntegerType):
        integer = ir.IntegerType.get_signless(kind.width)
        return arith.bitcast(kind, _read(op, address, arith.bitcast(integer, value)))
    if kind.width == _WORD:
        return _permute(address, value)
    if kind.width < _WORD:
        return arith.trunci(kind, _permute(address, arith.extui(word, value)))
    wide = value if kind.width == _WORDS else arith.extui(words, value)
    half = arith.constant(words, _WORD)
    low = _permute(address, arith.trunci(word, wide))
    high = _permute(address, arith.trunci(word, arith.shrui(wide, half)))
    whole = arith.ori(arith.shli(arith.extui(words, high), half), arith.extui(words, low))
    return whole if kind.width == _WORDS else arith.trunci(kind, whole)


def _permute(address: ir.Value, word: ir.Value) -> ir.Value:
    return ir.Operation.create(
        "rocdl.ds_bpermute", results=[word.type], operands=[address, word]
    ).results[0]
