"""Conversions of bytes in few instructions that all of a multiprocessor's lanes execute.

A number below 256 in the lowest bits of 2^23 is that float more: one instruction puts a byte there,
and a subtraction leaves the byte's number. The conversion of an integer is as exact, but a quarter
or half as many lanes execute it.
"""

from __future__ import annotations

from collections.abc import Callable

from ....dialects.mlir import arith, ir, vector
from ....dialects.records import dataclass
from ...i32 import i32
from ...rewriting import constant
from ..elements import is_float8
from ..ptx import instructed
from ..region import Point, Region
from .indices import number

# 2^23 as a float's bits, and what bytes of an integer with a sign are more by with its bit turned.
_BITS, _LARGE, _SIGN = 0x4B000000, 8388608.0, 128
_SIGNS = 0x80808080 - (1 << 32)
# Puts byte 0 of a word below the highest byte of another one (PTX ISA, "prmt").
_PUT = 0x7440
# The first chips that convert floats of 8 bits in pairs (PTX ISA, "cvt").
_PAIRS = 89
_PAIR_KINDS = {"f8E4M3FN": "e4m3x2", "f8E5M2": "e5m2x2"}


@dataclass(frozen=True, eq=False)
class Byte:
    """A byte of a word (i32), counted from the lowest."""

    word: ir.Value
    place: int


class QuickPoint(Point):
    """A point of the region whose bytes are known as those of words, by operands' numbers."""

    def __init__(
        self,
        region: Region,
        varying: frozenset[int],
        load: Callable[[int], ir.Value],
        index: Callable[[int], ir.Value],
        bytes_: Callable[[int], Byte | None],
        pairs: dict[tuple[ir.Value, int], list[ir.Value]],
        outer: QuickPoint | None = None,
    ) -> None:
        """`pairs` has what pairs of floats were converted to, by their words and places."""
        super().__init__(region, varying, load, index, outer)
        self._quick_outer, self._bytes, self._pairs = outer, bytes_, pairs
        # Narrow floats in f32, as exactly.
        self._wide: dict[ir.Value, ir.Value] = {}

    def _clone(self, op: ir.Operation) -> None:
        found = self._quick(op)
        if found is None:
            super()._clone(op)
            return
        result = op.results[0]
        self._wide[result] = found
        f32 = ir.F32Type.get()
        self.known[result] = found if result.type == f32 else arith.truncf(result.type, found)

    def _quick(self, op: ir.Operation) -> ir.Value | None:
        """Returns the result of a conversion in f32; None for other operations."""
        if op.name in ("arith.sitofp", "arith.uitofp"):
            is_byte = op.operands[0].type == ir.IntegerType.get_signless(8)
            is_known = not isinstance(op.results[0].type, ir.F64Type) and (
                not is_float8(op.results[0].type)
            )
            return self._of_integer(op) if is_byte and is_known else None
        if op.name != "arith.extf" or isinstance(op.results[0].type, ir.F64Type):
            return None
        value = op.operands[0]
        wide = self._wide_of(value)
        return self._of_float(value) if wide is None else wide

    def _wide_of(self, value: ir.Value) -> ir.Value | None:
        point: QuickPoint | None = self
        while point is not None:
            if value in point._wide:
                return point._wide[value]
            point = point._quick_outer
        return None

    def _byte_of(self, value: ir.Value) -> Byte | None:
        number_ = self._region.argument_number(value)
        return None if number_ is None else self._bytes(number_)

    def _of_integer(self, op: ir.Operation) -> ir.Value | None:
        is_signed = op.name == "arith.sitofp"
        byte = self._byte_of(op.operands[0])
        if byte is None:
            return None
        word = arith.xori(byte.word, number(_SIGNS)) if is_signed else byte.word
        bits = instructed(
            "prmt.b32 $0, $1, $2, $3;",
            [word, number(_BITS), number(_PUT + byte.place)],
            "=r,r,r,n",
            i32(),
            has_effects=False,
        )
        f32 = ir.F32Type.get()
        less = constant(f32, _LARGE + _SIGN if is_signed else _LARGE)
        return arith.subf(arith.bitcast(f32, bits), less)

    def _of_float(self, value: ir.Value) -> ir.Value | None:
        byte, device = self._byte_of(value), self._region.work.device
        kind = _PAIR_KINDS.get(str(value.type))
        if byte is None or kind is None or device is None or device.capability < _PAIRS:
            return None
        half, place = divmod(byte.place, 2)
        key = byte.word, half
        if key not in self._pairs:
            i16 = ir.IntegerType.get_signless(16)
            word = arith.shrui(byte.word, number(16 * half)) if half else byte.word
            text, low = f"cvt.rn.f16x2.{kind} $0, $1;", arith.trunci(i16, word)
            both = instructed(text, [low], "=r,h", i32(), has_effects=False)
            pair = ir.VectorType.get([2], ir.F16Type.get())
            halves = ir.Operation.create("llvm.bitcast", results=[pair], operands=[both]).result
            self._pairs[key] = [
                arith.extf(ir.F32Type.get(), vector.extract(halves, [], [each])) for each in (0, 1)
            ]
        return self._pairs[key][place]
