"""What buffers hold: the element types, and what other programs call them. The one table."""

from ..mlir import ir
from ..records import dataclass


@dataclass(frozen=True)
class ElementType:
    """One element type.

    `name` is MLIR's text; `bytes` what an element takes in memory; `kind` is "float", "signed",
    "unsigned", "truth" or "complex". `computed_as` is the type arithmetic is done in, `stored_as`
    the type that stands for it in generated code. `torch` is the name of torch's dtype, `dlpack`
    the type code and bits in DLPack, `safetensors` the name in such files, None where those cannot
    hold it. A signless integer is signed.
    """

    name: str
    bytes: int
    kind: str
    torch: str
    dlpack: tuple[int, int]
    computed_as: str
    stored_as: str
    safetensors: str | None

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    @property
    def is_integer(self) -> bool:
        return self.kind in ("signed", "unsigned")


# The type codes of DLPack.
_INT, _UINT, _FLOAT, _BFLOAT, _COMPLEX, _BOOL, _E4M3FN, _E5M2 = 0, 1, 2, 4, 5, 6, 10, 12


def _type(
    name: str,
    kind: str,
    torch: str,
    dlpack: tuple[int, int],
    safetensors: str | None,
    computed_as: str | None = None,
    stored_as: str | None = None,
) -> ElementType:
    computed, stored = computed_as or name, stored_as or name
    return ElementType(name, dlpack[1] // 8, kind, torch, dlpack, computed, stored, safetensors)


ELEMENT_TYPES = {
    element.name: element
    for element in (
        _type("f64", "float", "float64", (_FLOAT, 64), "F64"),
        _type("f32", "float", "float32", (_FLOAT, 32), "F32"),
        _type("tf32", "float", "float32", (_FLOAT, 32), "F32", "f32", "f32"),
        _type("f16", "float", "float16", (_FLOAT, 16), "F16", "f32"),
        _type("bf16", "float", "bfloat16", (_BFLOAT, 16), "BF16", "f32"),
        _type("f8E4M3FN", "float", "float8_e4m3fn", (_E4M3FN, 8), "F8_E4M3", "f32"),
        _type("f8E5M2", "float", "float8_e5m2", (_E5M2, 8), "F8_E5M2", "f32"),
        _type("i64", "signed", "int64", (_INT, 64), "I64"),
        _type("i32", "signed", "int32", (_INT, 32), "I32"),
        _type("i16", "signed", "int16", (_INT, 16), "I16"),
        _type("i8", "signed", "int8", (_INT, 8), "I8"),
        _type("ui64", "unsigned", "uint64", (_UINT, 64), "U64", "i64", "i64"),
        _type("ui32", "unsigned", "uint32", (_UINT, 32), "U32", "i32", "i32"),
        _type("ui16", "unsigned", "uint16", (_UINT, 16), "U16", "i16", "i16"),
        _type("ui8", "unsigned", "uint8", (_UINT, 8), "U8", "i8", "i8"),
        _type("i1", "truth", "bool", (_BOOL, 8), "BOOL"),
        _type("complex<f32>", "complex", "complex64", (_COMPLEX, 64), "C64"),
        _type("complex<f64>", "complex", "complex128", (_COMPLEX, 128), None),
    )
}


def find_element_type(element: ir.Type) -> ElementType | None:
    """Returns the description of an MLIR element type, or None where buffers cannot hold it."""
    return ELEMENT_TYPES.get(str(element))
