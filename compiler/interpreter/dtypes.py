"""Element types of the program as torch's."""

from __future__ import annotations

from dataclasses import replace

from ...dialects.hir.element_types import ELEMENT_TYPES, ElementType
from ...dialects.mlir import ir
from .torch_import import torch

DTYPES: dict[str, torch.dtype] = {
    element.name: getattr(torch, element.torch) for element in ELEMENT_TYPES.values()
}

# Scalars of a program have one more type.
INDEX = replace(ELEMENT_TYPES["i64"], name="index", computed_as="index")

# What fills memory that nothing was written to yet: nan in every float type, and numbers that
# catch the eye.
POISON_BYTE = {"float": 0xFF, "complex": 0xFF, "signed": 0xA5, "unsigned": 0xA5, "truth": 0x01}


def dtype_of(element: ElementType) -> torch.dtype:
    """Returns the torch type of a buffer's elements."""
    return DTYPES[element.name]


def computing_dtype(element: ElementType) -> torch.dtype:
    """Returns the torch type that arithmetic is done in: every integer is computed in 64 bits."""
    if element.is_float:
        return torch.float64 if element.name == "f64" else torch.float32
    if element.is_integer:
        return torch.int64
    return dtype_of(element)


def bits_of(element: ElementType) -> int:
    """Returns how many bits a number of an integer type has."""
    return 1 if element.kind == "truth" else 8 * element.bytes


def element_type_of(value_type: ir.Type) -> ElementType | None:
    """Returns the element type of a buffer's or scalar's type, or None for other types."""
    if isinstance(value_type, ir.MemRefType):
        value_type = value_type.element_type
    if isinstance(value_type, ir.IndexType):
        return INDEX
    return ELEMENT_TYPES.get(str(value_type))
