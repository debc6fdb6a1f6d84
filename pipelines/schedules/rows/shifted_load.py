"""Neighbouring elements from any address, read in aligned pieces of 16 bytes."""

from __future__ import annotations

from ....dialects.mlir import arith, ir, scf, vector
from ...rewriting import index_constant
from ..elements import ACCESS_BYTES, address, element_bytes, load

_WORD = 4
_PIECE = ACCESS_BYTES // _WORD


def load_shifted(
    where: ir.Value,
    element: ir.Type,
    count: int,
    shift: ir.Value,
    is_safe: ir.Value | None = None,
) -> list[ir.Value]:
    """`count` elements, which fill whole pieces, from the address `where`.

    It lies `shift` bytes past an aligned one. Where `is_safe` holds, the whole pieces that they lie
    in are read, and one after them; else nothing but the elements themselves. None says that it
    certainly holds.
    """
    i32 = ir.IntegerType.get_signless(32)
    words = count * element_bytes(element) // _WORD
    amount = arith.index_cast(i32, shift)

    def pieces() -> list[ir.Value]:
        i8 = ir.IntegerType.get_signless(8)
        first = address(where, i8, arith.subi(index_constant(0), shift))
        read = load(first, i32, words + _PIECE, ACCESS_BYTES)
        return _shifted(read, words, amount, element_bytes(element))

    if is_safe is None:
        return _as_elements(pieces(), element, count)
    choice = scf.IfOp(is_safe, [i32] * words, has_else=True)
    with ir.InsertionPoint(choice.then_block):
        scf.YieldOp(pieces())
    assert choice.else_block is not None
    with ir.InsertionPoint(choice.else_block):
        single = [
            load(address(where, element, index_constant(place)), element, 1, 1)[0]
            for place in range(count)
        ]
        scf.YieldOp(_as_words(single, element, words))
    return _as_elements(list(choice.results), element, count)


def _shifted(read: list[ir.Value], words: int, amount: ir.Value, size: int) -> list[ir.Value]:
    """The words that begin `amount` bytes, a multiple of `size`, past the first one."""
    found: list[ir.Value] = read
    for step in (2, 1):
        if step * _WORD >= size:
            is_on = _has(amount, step * _WORD)
            # What a later step and a part of a word may need comes after the words themselves.
            count = words + step
            found = [
                arith.select(is_on, found[place + step], found[place])
                for place in range(min(count, len(found) - step))
            ]
    if size >= _WORD:
        return found[:words]
    i32 = amount.type
    bits = arith.muli(arith.andi(amount, arith.constant(i32, _WORD - 1)), arith.constant(i32, 8))
    return [
        ir.Operation.create(
            "llvm.intr.fshr", operands=[found[place + 1], found[place], bits], results=[i32]
        ).results[0]
        for place in range(words)
    ]


def _has(amount: ir.Value, bit: int) -> ir.Value:
    kept = arith.andi(amount, arith.constant(amount.type, bit))
    return arith.cmpi(arith.CmpIPredicate.ne, kept, arith.constant(amount.type, 0))


def _as_words(values: list[ir.Value], element: ir.Type, words: int) -> list[ir.Value]:
    whole = vector.from_elements(ir.VectorType.get([len(values)], element), values)
    kind = ir.VectorType.get([words], ir.IntegerType.get_signless(32))
    cast = vector.bitcast(kind, whole)
    return [vector.extract(cast, [], [place]) for place in range(words)]


def _as_elements(values: list[ir.Value], element: ir.Type, count: int) -> list[ir.Value]:
    kind = ir.VectorType.get([len(values)], ir.IntegerType.get_signless(32))
    whole = vector.from_elements(kind, values)
    cast = vector.bitcast(ir.VectorType.get([count], element), whole)
    return [vector.extract(cast, [], [place]) for place in range(count)]
