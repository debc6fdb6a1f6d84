"""Element types of the program as torch's: the one table."""

from __future__ import annotations

from ...dialects.hir.element_types import ELEMENT_TYPES, ElementType
from ...dialects.mlir import ir
from .torch_import import torch

DTYPES = {
    "f64": torch.float64,
    "f32": torch.float32,
    "tf32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f8E4M3FN": torch.float8_e4m3fn,
    "f8E5M2": torch.float8_e5m2,
    "i64": torch.int64,
    "i32": torch.int32,
    "i16": torch.int16,
    "i8": torch.int8,
    "ui64": torch.uint64,
    "ui32": torch.uint32,
    "ui16": torch.uint16,
    "ui8": torch.uint8,
    "i1": torch.bool,
    "complex<f32>": torch.complex64,
    "complex<f64>": torch.complex128,
}

# Scalars of a program have one more type.
INDEX = ElementType("index", 8, "signed", "index", "i64")

# What fills memory that nothing was written to yet: nan in every float type, and numbers that
# catch the eye.
POISON_BYTE = {"float": 0xFF, "complex": 0xFF, "signed": 0xA5, "unsigned": 0xA5, "truth": 0x01}


def dtype_of(element: ElementType) -> torch.dtype:
    """The torch type of a buffer's elements."""
    return DTYPES[element.name]


def computing_dtype(element: ElementType) -> torch.dtype:
    """The torch type that arithmetic is done in: every integer is computed in 64 bits."""
    if element.is_float:
        return torch.float64 if element.name == "f64" else torch.float32
    if element.is_integer:
        return torch.int64
    return dtype_of(element)


def bits_of(element: ElementType) -> int:
    """How many bits a number of an integer type has."""
    return 1 if element.kind == "truth" else 8 * element.bytes


def element_type_of(value_type: ir.Type) -> ElementType | None:
    """The element type of a buffer's or scalar's type, or None for other types."""
    if isinstance(value_type, ir.MemRefType):
        value_type = value_type.element_type
    if isinstance(value_type, ir.IndexType):
        return INDEX
    return ELEMENT_TYPES.get(str(value_type))


def torch_name(dtype: torch.dtype) -> str:
    """How a person writes a torch type."""
    return str(dtype)
