"""Which types a kernel argument may have; the host and the device lay these out alike."""

from __future__ import annotations

from ...dialects.mlir import ir
from ..pass_base import fail
from ..tensormap import is_descriptor
from .types import number_bits, strides_and_offset

# PTX has parameters of these sizes (PTX ISA, parameter state space); others are arrays of bytes.
_WIDTHS = (8, 16, 32, 64, 128, 256)
_ODD_WIDTH = "PTX has no parameter of its width; convert it to one of 8, 16, 32, 64 or 128 bits"


def check_argument(op: ir.Operation | ir.OpView, kind: ir.Type) -> None:
    """Fails at the launch `op` where a value of type `kind` cannot be passed to a kernel."""
    reason = _reason(kind)
    if reason is not None:
        fail(op, f"{kind} cannot be a kernel argument: {reason}")


def _reason(kind: ir.Type) -> str | None:
    if isinstance(kind, ir.MemRefType):
        return _memref_reason(kind)
    if isinstance(kind, ir.UnrankedMemRefType):
        return "its rank is not known; memref.cast it to a ranked type"
    if isinstance(kind, (ir.RankedTensorType, ir.UnrankedTensorType)):
        return "tensors must be bufferized first"
    if isinstance(kind, ir.VectorType):
        return _vector_reason(kind)
    if isinstance(kind, ir.ComplexType):
        kind = kind.element_type
    bits = number_bits(kind)
    if bits is not None:
        return None if bits == 1 or bits in _WIDTHS else _ODD_WIDTH
    if isinstance(kind, ir.IndexType) or is_descriptor(kind) or str(kind).startswith("!llvm."):
        return None
    return "it has no counterpart in LLVM; pass its parts"


def _memref_reason(kind: ir.MemRefType) -> str | None:
    if isinstance(kind.element_type, (ir.MemRefType, ir.UnrankedMemRefType)):
        return "its elements describe memory by host addresses; pass one memref for each"
    if strides_and_offset(kind) is None:
        return "its layout has no strides; use a strided one"
    return None


def _vector_reason(kind: ir.VectorType) -> str | None:
    if kind.scalable:
        return "its size is not known"
    if isinstance(kind.element_type, ir.IndexType):
        return None
    if number_bits(kind.element_type) not in _WIDTHS:
        # LLVM packs the bits in memory, and NVPTX's code generator reads an element a byte.
        return "its elements are no whole bytes of a power of two; widen them, to i8 at least"
    return None
