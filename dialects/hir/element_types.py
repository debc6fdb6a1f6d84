"""What buffers hold: the element types, their names and bytes."""

from dataclasses import dataclass

from ..mlir import ir


@dataclass(frozen=True)
class ElementType:
    """One element type.

    `name` is MLIR's text; `bytes` what an element takes in memory; `kind` is "float", "signed",
    "unsigned", "truth" or "complex". `computed_as` is the type arithmetic is done in, `stored_as`
    the type that stands for it in generated code.
    """

    name: str
    bytes: int
    kind: str
    computed_as: str
    stored_as: str

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    @property
    def is_integer(self) -> bool:
        return self.kind in ("signed", "unsigned")


def _same(name: str, bytes_each: int, kind: str) -> ElementType:
    return ElementType(name, bytes_each, kind, name, name)


ELEMENT_TYPES = {
    element.name: element
    for element in (
        _same("f64", 8, "float"),
        _same("f32", 4, "float"),
        ElementType("tf32", 4, "float", "f32", "f32"),
        ElementType("f16", 2, "float", "f32", "f16"),
        ElementType("bf16", 2, "float", "f32", "bf16"),
        ElementType("f8E4M3FN", 1, "float", "f32", "f8E4M3FN"),
        ElementType("f8E5M2", 1, "float", "f32", "f8E5M2"),
        _same("i64", 8, "signed"),
        _same("i32", 4, "signed"),
        _same("i16", 2, "signed"),
        _same("i8", 1, "signed"),
        ElementType("ui64", 8, "unsigned", "i64", "i64"),
        ElementType("ui32", 4, "unsigned", "i32", "i32"),
        ElementType("ui16", 2, "unsigned", "i16", "i16"),
        ElementType("ui8", 1, "unsigned", "i8", "i8"),
        _same("i1", 1, "truth"),
        _same("complex<f32>", 8, "complex"),
        _same("complex<f64>", 16, "complex"),
    )
}


def find_element_type(element: ir.Type) -> ElementType | None:
    """The description of an MLIR element type, or None where buffers cannot hold it."""
    return ELEMENT_TYPES.get(str(element))
