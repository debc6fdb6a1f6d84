"""How host types look once lowered: the memref descriptor and the rest of MLIR's LLVM ABI."""

from __future__ import annotations

from ...dialects.mlir import ir
from ..tensormap import is_descriptor, struct_type

DYNAMIC = ir.ShapedType.get_dynamic_size()


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
        """A ranked memref: allocated and aligned pointers, offset, sizes, strides."""
        if rank == 0:
            return self.struct(self.ptr, self.ptr, self.i64)
        extents = self.array(rank, self.i64)
        return self.struct(self.ptr, self.ptr, self.i64, extents, extents)

    def lowered(self, kind: ir.Type) -> ir.Type:
        """The LLVM type of a value of type `kind` on the host."""
        if isinstance(kind, ir.IndexType):
            return self.i64
        if isinstance(kind, ir.MemRefType):
            return self.descriptor(kind.rank)
        if isinstance(kind, ir.UnrankedMemRefType):
            return self.struct(self.i64, self.ptr)
        if isinstance(kind, ir.ComplexType):
            return self.struct(kind.element_type, kind.element_type)
        if isinstance(kind, ir.VectorType):
            return self._vector(kind)
        if is_descriptor(kind):
            return struct_type(self.context)
        if kind == self.token:
            return self.ptr
        return kind

    def _vector(self, kind: ir.VectorType) -> ir.Type:
        element = self.lowered(kind.element_type)
        shape = list(kind.shape) or [1]
        lowered: ir.Type = ir.VectorType.get(shape[-1:], element)
        for size in reversed(shape[:-1]):
            lowered = self.array(size, lowered)
        return lowered


def element_bytes(kind: ir.Type) -> int:
    """Bytes one element of a memref takes (an i1 takes one, an index eight)."""
    if isinstance(kind, ir.IndexType):
        return 8
    if isinstance(kind, ir.ComplexType):
        return 2 * element_bytes(kind.element_type)
    if isinstance(kind, ir.VectorType):
        count = 1
        for size in kind.shape:
            count *= size
        bits = count * element_bytes(kind.element_type) * 8
        return 1 << max(0, (bits // 8 - 1).bit_length())
    if isinstance(kind, (ir.IntegerType, ir.FloatType)):
        size = (kind.width + 7) // 8
        return 1 << max(0, (size - 1).bit_length())
    return 8


def is_contiguous(kind: ir.MemRefType) -> bool:
    """Whether the type alone says that elements lie packed, row by row."""
    if kind.layout == ir.AffineMapAttr.get(ir.AffineMap.get_identity(kind.rank)):
        return True
    strides, _ = kind.get_strides_and_offset()
    expected = 1
    for size, stride in zip(reversed(kind.shape), reversed(strides), strict=True):
        if size == DYNAMIC or (stride != expected and size != 1):
            return False
        expected *= size
    return True


def without_memory_space(kind: ir.Type) -> ir.Type:
    """A memref type on the host, where there is one address space."""
    if isinstance(kind, ir.MemRefType) and kind.memory_space is not None:
        return ir.MemRefType.get(kind.shape, kind.element_type, kind.layout)
    if isinstance(kind, ir.UnrankedMemRefType) and kind.memory_space is not None:
        return ir.UnrankedMemRefType.get(kind.element_type, None)
    return kind


def _inside(kind: ir.Type) -> str:
    """A type's spelling inside an LLVM aggregate, where `!llvm.` is left out."""
    return str(kind).replace("!llvm.", "")
