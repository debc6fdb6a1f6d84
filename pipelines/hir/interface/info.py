"""The constant that describes a program: `struct hirc_program_info` of the support library."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....dialects import llvm
from ....dialects.mlir import ir
from ...body_names import CALLING
from .code import Code
from .signature import ORIGINS, Signature, Value, first_places

# The layout's number; the support library and hirc.load know the same.
_VERSION = 4
# Where the linker gathers the addresses of all descriptions.
_SECTION = "hirc_listed"

# struct hirc_value_info: name, type and element text, sizes, strides, sizes' names, where these
# stand first; alignment; rank, DLDataType, bytes an element, whether a scalar, origin, the input it
# is.
_VALUE = "!llvm.struct<(ptr, ptr, ptr, ptr, ptr, ptr, ptr, i64, i32, i32, i32, i32, i32, i32)>"
# struct hirc_program_info: version, whether it repeats, name, the C function, inputs, outputs,
# their numbers, and struct hirc_weights, null where the program has neither weights nor state.
_PROGRAM = "!llvm.struct<(i32, i32, ptr, ptr, ptr, ptr, i64, i64, ptr)>"


def add_info(code: Code, signature: Signature, weights: str, *, repeats: bool) -> None:
    """Adds `hirc_program_NAME_info`, and its address to the list of the linked file's programs.

    `weights` is the symbol of their description, "" where the program has none. A program
    `repeats` where its launches follow from its arguments alone; that holds for a call whose
    outputs were all handed in, as others get their memory and scalars their values from the body.
    """
    function, name = signature.symbols
    types = code.types
    of_inputs, of_outputs = first_places(signature.inputs, signature.outputs)
    inputs = _values(code, "hirc_inputs", signature.name, signature.inputs, of_inputs)
    outputs = _values(code, "hirc_outputs", signature.name, signature.outputs, of_outputs)
    repeats = repeats and all(value.can_be_given for value in signature.outputs)

    def members() -> list[ir.Value]:
        return [
            code.i32(_VERSION),
            code.i32(int(repeats)),
            code.string(signature.name),
            code.address_of(function),
            code.address_of(inputs) if inputs else code.null(),
            code.address_of(outputs) if outputs else code.null(),
            code.i64(len(signature.inputs)),
            code.i64(len(signature.outputs)),
            code.address_of(weights) if weights else code.null(),
        ]

    constant(code, name, ir.Type.parse(_PROGRAM), lambda: [members()], linkage="external")
    constant(
        code,
        f"hirc_listed_{signature.name}",
        types.struct(types.ptr),
        lambda: [[code.address_of(name)]],
        linkage="external",
        section=_SECTION,
        is_hidden=True,
    )


def add_calling(code: Code, signature: Signature) -> None:
    """Adds `hirc_program_NAME_calling`, a string, where the body says how Python calls it."""
    if CALLING not in signature.body.attributes:
        return
    text = ir.StringAttr(signature.body.attributes[CALLING]).value + "\0"
    llvm.variable(
        f"hirc_program_{signature.name}_calling",
        code.types.array(len(text.encode()), code.i8),
        "external",
        value=ir.StringAttr.get(text),
        is_constant=True,
    )


def _values(
    code: Code,
    role: str,
    program: str,
    values: Sequence[Value],
    firsts: Sequence[tuple[int, ...]],
) -> str:
    """Returns the constant array of the values' descriptions; returns its name, "" of no values."""
    if not values:
        return ""
    kind = code.types.array(len(values), ir.Type.parse(_VALUE))
    parts = [
        (
            numbers(code, f"{role}_sizes_{place}_{program}", value.sizes),
            numbers(code, f"{role}_strides_{place}_{program}", value.strides or ()),
            _texts(code, f"{role}_names_{place}_{program}", value.names),
            numbers(code, f"{role}_firsts_{place}_{program}", first),
        )
        for place, (value, first) in enumerate(zip(values, firsts, strict=True))
    ]

    def address(symbol: str) -> ir.Value:
        return code.address_of(symbol) if symbol else code.null()

    def members() -> list[list[ir.Value]]:
        return [
            [
                code.string(value.name),
                code.string(value.text),
                code.string(str(value.element)),
                address(sizes),
                address(strides),
                address(names),
                address(first),
                code.i64(value.alignment),
                code.i32(value.rank),
                code.i32(value.dtype),
                code.i32(value.element_bytes),
                code.i32(int(not value.is_buffer)),
                code.i32(ORIGINS[value.origin]),
                code.i32(value.origin_input),
            ]
            for value, (sizes, strides, names, first) in zip(values, parts, strict=True)
        ]

    # Of no program's name it is another one's: in the symbols above a number is before the name.
    name = f"{role}_of_{program}"
    constant(code, name, kind, members, is_array=True)
    return name


def numbers(code: Code, name: str, values: Sequence[int]) -> str:
    """Returns a constant array of int64_t; returns its name, "" of no numbers."""
    if not values:
        return ""
    i64 = code.types.i64
    dense = ir.DenseElementsAttr.get(
        [ir.IntegerAttr.get(i64, number) for number in values],
        ir.RankedTensorType.get([len(values)], i64),
    )
    code.global_constant(name, code.types.array(len(values), i64), dense)
    return name


def _texts(code: Code, name: str, texts: Sequence[str]) -> str:
    """Returns a constant array of strings, null where empty; returns its name, "" where all are
    empty.
    """
    if not any(texts):
        return ""
    kind = code.types.struct(*[code.types.ptr] * len(texts))
    constant(
        code,
        name,
        kind,
        lambda: [[code.string(text) if text else code.null() for text in texts]],
    )
    return name


def constant(
    code: Code,
    name: str,
    kind: ir.Type,
    rows: Callable[[], list[list[ir.Value]]],
    *,
    is_array: bool = False,
    linkage: str = "internal",
    section: str | None = None,
    is_hidden: bool = False,
) -> None:
    """A constant struct, or an array of structs, of the members that `rows` builds.

    One that is hidden is no other linked file's.
    """
    constant = llvm.variable(
        name,
        kind,
        linkage,
        is_constant=True,
        is_hidden=is_hidden,
        alignment=8,
        section=section,
    )
    with ir.InsertionPoint(constant.regions[0].blocks.append()):
        whole = code.undefined(kind)
        for place, row in enumerate(rows()):
            for member, value in enumerate(row):
                position = (place, member) if is_array else (member,)
                whole = code.insert(whole, value, *position)
        llvm.end(whole)
