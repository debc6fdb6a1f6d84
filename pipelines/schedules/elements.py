"""Loads and stores of neighbouring elements, as wide as one instruction takes."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects.mlir import arith, ir, vector
from .ptx import instruct, instructed

# The widest access of one thread, in bytes (PTX ISA, "Vectors as operands").
ACCESS_BYTES = 16
WORD_BYTES = 4
# What the caches move at once, in bytes.
SECTOR_BYTES = 32


def is_float8(element: ir.Type) -> bool:
    """Returns whether elements are floats of 8 bits."""
    return isinstance(element, ir.FloatType) and element.width == 8


def element_bytes(element: ir.Type) -> int:
    """The bytes an element takes in memory."""
    if isinstance(element, ir.IntegerType | ir.FloatType):
        return max(element.width // 8, 1)
    raise TypeError(f"no element of a buffer: {element}")


def address(pointer: ir.Value, element: ir.Type, index: ir.Value) -> ir.Value:
    """The address `index` elements (an index value) past `pointer`."""
    i64 = ir.IntegerType.get_signless(64)
    number = arith.index_cast(i64, index) if isinstance(index.type, ir.IndexType) else index
    return ir.Operation.create(
        "llvm.getelementptr",
        results=[pointer.type],
        operands=[pointer, number],
        attributes={
            "elem_type": ir.TypeAttr.get(_stored(element)),
            "rawConstantIndices": ir.DenseI32ArrayAttr.get([-(2**31)]),
        },
    ).results[0]


def load(
    where: ir.Value,
    element: ir.Type,
    count: int,
    alignment: int,
    policy: ir.Value | None = None,
) -> list[ir.Value]:
    """`count` neighbouring elements from the address `where`, aligned to `alignment` bytes.

    `policy` (i64) says what becomes of them in the cache; `where` is in global memory then.
    """
    stored, values = _stored(element), list[ir.Value]()
    piece = _piece(element, count, alignment)
    for first in range(0, count, piece):
        place = where if first == 0 else _shifted(where, element, first)
        kind = ir.VectorType.get([piece], stored) if piece > 1 else stored
        if policy is not None and piece * element_bytes(element) >= WORD_BYTES:
            read = _load_by_policy(place, kind, piece * element_bytes(element), policy)
        else:
            read = ir.Operation.create(
                "llvm.load",
                results=[kind],
                operands=[place],
                attributes={"alignment": _alignment(element, piece)},
            ).results[0]
        parts = (
            [vector.extract(read, [], [number]) for number in range(piece)] if piece > 1 else [read]
        )
        values += [_restored(part, element) for part in parts]
    return values


def prefetch(where: ir.Value) -> None:
    """Lets the second-level cache read the line of an address in global memory."""
    instruct("prefetch.global.L2 [$0];", [where], "l")


def store(where: ir.Value, element: ir.Type, values: Sequence[ir.Value], alignment: int) -> None:
    """Writes neighbouring elements from the address `where` on."""
    stored = _stored(element)
    piece = _piece(element, len(values), alignment)
    for first in range(0, len(values), piece):
        place = where if first == 0 else _shifted(where, element, first)
        parts = [_as_stored(value, element) for value in values[first : first + piece]]
        whole = (
            vector.from_elements(ir.VectorType.get([piece], stored), parts)
            if piece > 1
            else parts[0]
        )
        ir.Operation.create(
            "llvm.store",
            operands=[whole, place],
            attributes={"alignment": _alignment(element, piece)},
        )


def store_words_where(holds: ir.Value, where: ir.Value, words: Sequence[ir.Value]) -> None:
    """Writes neighbouring words (i32) to global memory where a condition holds.

    No branch, which the assembler moves nothing across, is needed for it.
    """
    form = ".v" + str(len(words)) if len(words) > 1 else ""
    listed = ", ".join(f"${number}" for number in range(2, 2 + len(words)))
    instruct(
        f"@$0 st.global{form}.b32 [$1], {{{listed}}};",
        [holds, where, *words],
        ",".join(["b", "l"] + ["r"] * len(words)),
    )


def elements_of_words(words: Sequence[ir.Value], element: ir.Type) -> list[ir.Value]:
    """The elements that words (i32) hold, the first one in the lowest bits of the first word."""
    count = len(words) * WORD_BYTES // element_bytes(element)
    whole = vector.from_elements(ir.VectorType.get([len(words)], words[0].type), words)
    kind = ir.VectorType.get([count], _stored(element))
    cast = ir.Operation.create("llvm.bitcast", results=[kind], operands=[whole]).results[0]
    return [_restored(vector.extract(cast, [], [number]), element) for number in range(count)]


def _load_by_policy(where: ir.Value, kind: ir.Type, bytes_: int, policy: ir.Value) -> ir.Value:
    """The words at an address as a value of `kind`, by PTX: LLVM's loads take no policy.

    It counts as having side effects, so that it stays where it is among accesses and barriers.
    """
    i32, count = ir.IntegerType.get_signless(32), bytes_ // WORD_BYTES
    words = ", ".join(f"${number}" for number in range(count))
    form, found = ("", words) if count == 1 else (f".v{count}", f"{{{words}}}")
    members = ", ".join(["i32"] * count)
    result = instructed(
        f"ld.global.L2::cache_hint{form}.b32 {found}, [${count}], ${count + 1};",
        [where, policy],
        ",".join(["=r"] * count + ["l", "l"]),
        i32 if count == 1 else ir.Type.parse(f"!llvm.struct<({members})>"),
    )
    if count == 1:
        return ir.Operation.create("llvm.bitcast", results=[kind], operands=[result]).results[0]
    parts = [
        ir.Operation.create(
            "llvm.extractvalue",
            results=[i32],
            operands=[result],
            attributes={"position": ir.DenseI64ArrayAttr.get([number])},
        ).results[0]
        for number in range(count)
    ]
    whole = vector.from_elements(ir.VectorType.get([count], i32), parts)
    return ir.Operation.create("llvm.bitcast", results=[kind], operands=[whole]).results[0]


def disguised(value: ir.Value) -> ir.Value:
    """A number as one of which the compiler knows nothing, if it has 16 bits or fills words.

    What is computed of it in one of two branches is not moved before both. What gives it, such as a
    load, stays where it is: LLVM moves loads past loops, to where they are used.
    """
    kind, size = value.type, element_bytes(value.type)
    if size % WORD_BYTES == 0:
        return forgotten([value])[0]
    if size != 2:
        return value
    i16 = ir.IntegerType.get_signless(16)
    bits = value if kind == i16 else arith.bitcast(i16, value)
    same = _forgotten(bits, "h")
    return same if kind == i16 else arith.bitcast(kind, same)


def words_of(values: Sequence[ir.Value]) -> list[ir.Value]:
    """The words (i32) that elements fill, the first one in the lowest bits of the first word."""
    i32 = ir.IntegerType.get_signless(32)
    count = len(values) * element_bytes(values[0].type) // WORD_BYTES
    kind = ir.VectorType.get([len(values)], values[0].type)
    words = vector.bitcast(ir.VectorType.get([count], i32), vector.from_elements(kind, values))
    return [vector.extract(words, [], [number]) for number in range(count)]


def forgotten(values: Sequence[ir.Value]) -> list[ir.Value]:
    """Elements of whole words as values of which the compiler knows nothing.

    What was computed of them before is computed anew, instead of being kept in registers.
    """
    same = [_forgotten(word, "r") for word in words_of(values)]
    return elements_of_words(same, values[0].type)


def _forgotten(bits: ir.Value, register: str) -> ir.Value:
    """An integer that fills a register of that kind, as one of which nothing is known."""
    return instructed("", [bits], f"={register},0", bits.type)


def _piece(element: ir.Type, count: int, alignment: int) -> int:
    """Returns how many elements one access takes: a power of two that divides `count`."""
    piece = max(min(ACCESS_BYTES, alignment) // element_bytes(element), 1)
    while count % piece:
        piece //= 2
    return piece


def _alignment(element: ir.Type, piece: int) -> ir.IntegerAttr:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), piece * element_bytes(element))


def _shifted(where: ir.Value, element: ir.Type, by: int) -> ir.Value:
    i64 = ir.IntegerType.get_signless(64)
    return address(where, element, arith.constant(i64, by))


def _stored(element: ir.Type) -> ir.Type:
    """Returns what LLVM loads: an integer for i1 and for floats that LLVM does not know."""
    if isinstance(element, ir.IntegerType) and element.width == 1:
        return ir.IntegerType.get_signless(8)
    if is_float8(element):
        return ir.IntegerType.get_signless(8)
    return element


def _restored(value: ir.Value, element: ir.Type) -> ir.Value:
    if value.type == element:
        return value
    if isinstance(element, ir.IntegerType):
        return arith.trunci(element, value)
    return arith.bitcast(element, value)


def _as_stored(value: ir.Value, element: ir.Type) -> ir.Value:
    stored = _stored(element)
    if value.type == stored:
        return value
    if isinstance(element, ir.IntegerType):
        return arith.extui(stored, value)
    return arith.bitcast(stored, value)
