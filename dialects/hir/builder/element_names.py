"""The names that a program's builder takes for element types and scalar types."""

from __future__ import annotations

from collections.abc import Iterable

from ..element_types import ELEMENT_TYPES, ElementType
from .errors import BuildError

_ELSEWHERE = {
    "float64": "f64",
    "double": "f64",
    "float32": "f32",
    "float": "f32",
    "float16": "f16",
    "half": "f16",
    "bfloat16": "bf16",
    "float8_e4m3fn": "f8E4M3FN",
    "float8_e5m2": "f8E5M2",
    "int64": "i64",
    "int32": "i32",
    "int": "i32",
    "int16": "i16",
    "int8": "i8",
    "uint64": "ui64",
    "uint32": "ui32",
    "uint16": "ui16",
    "uint8": "ui8",
    "u8": "ui8",
    "bool": "i1",
    "complex64": "complex<f32>",
    "complex128": "complex<f64>",
}
SCALAR_TYPES = ("index", "i64", "i32", "i16", "i8", "i1", "f64", "f32", "f16", "bf16")


def element_type(name: str) -> ElementType:
    """The element type called `name`. Raises BuildError where there is none."""
    if name not in ELEMENT_TYPES:
        raise _unknown("an element type", name, ELEMENT_TYPES)
    return ELEMENT_TYPES[name]


def scalar_type(name: str) -> str:
    """`name`, where it is a scalar's type. Raises BuildError where it is not."""
    if name not in SCALAR_TYPES:
        raise _unknown("a scalar's type", name, SCALAR_TYPES)
    return name


def _unknown(what: str, name: object, known: Iterable[str]) -> BuildError:
    names = list(known)
    ours = _ELSEWHERE.get(str(name).removeprefix("torch."))
    hint = f"write '{ours}'" if ours in names else None
    return BuildError(f"expected {what} ({', '.join(names)}), not {name!r}", hint)
