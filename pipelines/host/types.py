"""How host types look once lowered: the memref descriptor and the rest of MLIR's LLVM ABI."""

from __future__ import annotations

from math import prod

from ...dialects.mlir import ir
from ..tensormap import is_descriptor, struct_type

DYNAMIC = ir.ShapedType.get_dynamic_size()

# The bindings have no class for these two.
_WIDE_FLOATS = {"f80": 80, "f128": 128}


class Types:
    """Lowered types in one context."""

    def __init__(self, context: ir.Context) -> None:
        self.ptr = ir.Type.parse("!llvm.ptr", context)
        self.i64 = ir.IntegerType.get_signless(64, context)
        self.i32 = ir.IntegerType.get_signless(32, context)
        self.token = ir.Type.parse("!gpu.async.token", context)
        self.context = context

    def struct(self, *members: ir.Type) -> ir.Type:
        names = ", ".join(_inside(member) for member in members)
        return ir.Type.parse(f"!llvm.struct<({names})>", self.context)

    def array(self, count: int, element: ir.Type) -> ir.Type:
        return ir.Type.parse(f"!llvm.array<{count} x {_inside(element)}>", self.context)

    def descriptor(self, rank: int) -> ir.Type:
        """Returns a ranked memref: allocated and aligned pointers, offset, sizes, strides."""
        if rank == 0:
            return self.struct(self.ptr, self.ptr, self.i64)
        extents = self.array(rank, self.i64)
        return self.struct(self.ptr, self.ptr, self.i64, extents, extents)

    def lowered(self, kind: ir.Type) -> ir.Type:
        """Returns the LLVM type of a value of type `kind` on the host."""
        if isinstance(kind, ir.IndexType):
            return self.i64
        if isinstance(kind, ir.MemRefType):
            return self.descriptor(kind.rank)
        if isinstance(kind, ir.UnrankedMemRefType):
            return self.struct(self.i64, self.ptr)
        if isinstance(kind, ir.ComplexType):
            part = self.lowered(kind.element_type)
            return self.struct(part, part)
        if isinstance(kind, ir.VectorType):
            return self._vector(kind)
        if is_descriptor(kind):
            return struct_type(self.context)
        if kind == self.token:
            return self.ptr
        if isinstance(kind, ir.IntegerType) or _is_stored_as_integer(kind):
            return ir.IntegerType.get_signless(_bits(kind), self.context)
        return kind

    def _vector(self, kind: ir.VectorType) -> ir.Type:
        element = self.lowered(kind.element_type)
        shape = list(kind.shape) or [1]
        lowered: ir.Type = ir.VectorType.get(shape[-1:], element)
        for size in reversed(shape[:-1]):
            lowered = self.array(size, lowered)
        return lowered


def element_bytes(kind: ir.Type) -> int:
    """Bytes from one element of a memref to the next, as LLVM lays its lowered type out.

    An i1 takes one and an index eight. A vector is an array of its innermost rows, whose bits lie
    packed (eight i1 in one byte); like a number, each row is padded to a power of two of bytes
    (LLVM language reference, data layout: the default alignment of vectors).
    """
    if isinstance(kind, ir.ComplexType):
        return 2 * element_bytes(kind.element_type)
    if isinstance(kind, ir.VectorType):
        *rows, row = list(kind.shape) or [1]
        return prod(rows) * _padded_bytes(row * _bits(kind.element_type))
    if isinstance(kind, ir.MemRefType):
        return 24 + 16 * kind.rank
    if isinstance(kind, ir.UnrankedMemRefType):
        return 16
    return _padded_bytes(_bits(kind))


def _padded_bytes(bits: int) -> int:
    return 1 << max(0, ((bits + 7) // 8 - 1).bit_length())


def _bits(kind: ir.Type) -> int:
    """Bits of a number; an index and a pointer have 64."""
    bits = number_bits(kind)
    return 64 if bits is None else bits


def number_bits(kind: ir.Type) -> int | None:
    """Bits of an integer or a float, None of any other type."""
    if isinstance(kind, (ir.IntegerType, ir.FloatType)):
        return kind.width
    return _WIDE_FLOATS.get(str(kind))


def _is_stored_as_integer(kind: ir.Type) -> bool:
    """Returns whether a float is an integer of its width to LLVM, as those of 8 bits
    and fewer are.
    """
    return isinstance(kind, ir.FloatType) and kind.width <= 8


def strides_and_offset(kind: ir.MemRefType) -> tuple[list[int], int] | None:
    """Returns a memref's strides and offset in elements, or None for a layout that
    has no strides.
    """
    try:
        strides, offset = kind.get_strides_and_offset()
    except RuntimeError:
        return None
    return list(strides), offset


def is_contiguous(kind: ir.MemRefType) -> bool:
    """Returns whether the type alone says that elements lie packed, row by row."""
    if kind.layout == ir.AffineMapAttr.get(ir.AffineMap.get_identity(kind.rank)):
        return True
    layout = strides_and_offset(kind)
    if layout is None:
        return False
    strides, _ = layout
    expected = 1
    for size, stride in zip(reversed(kind.shape), reversed(strides), strict=True):
        if size == DYNAMIC or (stride != expected and size != 1):
            return False
        expected *= size
    return True


def without_memory_space(kind: ir.Type) -> ir.Type:
    """Returns a memref type on the host, where there is one address space."""
    if isinstance(kind, ir.MemRefType) and kind.memory_space is not None:
        return ir.MemRefType.get(kind.shape, kind.element_type, kind.layout)
    if isinstance(kind, ir.UnrankedMemRefType) and kind.memory_space is not None:
        return ir.UnrankedMemRefType.get(kind.element_type, None)
    return kind


def _inside(kind: ir.Type) -> str:
    """Returns a type's spelling inside an LLVM aggregate, where `!llvm.` is left out."""
    return str(kind).replace("!llvm.", "")
