"""Products by warps of matrices of 8 or 16 bits or tf32, and the copies to shared memory for them.

A warp multiplies 16 x 16 by 16 x 8 (PTX ISA, "mma.m16n8k16"). With a lane's `group`, lane / 4, and
its `pair`, lane % 4, the lane holds of

- a, 4 words of two neighbouring columns: rows group and group + 8 of columns 2 pair, then the same
  of columns 2 pair + 8;
- b, 2 words of two neighbouring rows: rows 2 pair and 2 pair + 8 of column group;
- c, 4 numbers: columns 2 pair and 2 pair + 1 of row group, then of row group + 8.

So two neighbouring c, rounded, make one word of a (`as_operand`). Products of tf32, whose elements
are words, are 16 x 8 by 8 x 8, and products of 8 bits, with four elements to a word, are 16 x 32 by
32 x 8: their words lie in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects.mlir import arith, ir, vector
from ..i32 import i32, i32_constant, thread_in_block
from .elements import address, is_float8

LANES = 32
# The shape of one product.
ROWS, COLUMNS, DEPTH = 16, 8, 16
# PTX's names of the element types of two operands; the bytes of an element, and of a product's
# terms.
Kinds = tuple[str, str]
KIND_BYTES = {"tf32": 4, "bf16": 2, "f16": 2, "e4m3": 1, "e5m2": 1, "s8": 1, "u8": 1}
DEPTH_BYTES = 32
# One ldmatrix reads four matrices of 8 rows of 16 bytes.
MATRIX_ROWS, MATRIX_BYTES = 8, 16
ELEMENTS = ("bf16", "f16")


def capability_for_bytes(element: ir.Type) -> int:
    """Returns the least capability for products of 8-bit elements (PTX ISA, "mma.m16n8k32")."""
    return 89 if is_float8(element) else 80


def padded_row(bytes_: int) -> int:
    """The pitch of rows of so many bytes, a multiple of 32, that ldmatrix reads without conflicts.

    It is an odd number of pieces of 16 bytes: any 8 rows then begin in different banks.
    """
    return bytes_ + MATRIX_BYTES


class Lane:
    """The thread's place in its warp, in numbers (i32) made where the kernel begins.

    A row's results lie in `columns` / 2 lanes, its `pair` each. Of operands of `mma.sync`, the
    lane's four of 16 x 8 are in row `group` and in the 8th one after it.
    """

    def __init__(self, columns: int = COLUMNS) -> None:
        pairs = columns // 2
        self.thread = thread_in_block()
        self.warp = arith.shrui(self.thread, i32_constant(5))
        self.lane = arith.andi(self.thread, i32_constant(LANES - 1))
        self.group = arith.shrui(self.lane, i32_constant(pairs.bit_length() - 1))
        self.pair = arith.andi(self.lane, i32_constant(pairs - 1))

    def rows_pieces(self) -> tuple[ir.Value, ir.Value]:
        """The row of a 16 x 16 first operand that the lane reads, and which piece of it."""
        return arith.andi(self.lane, i32_constant(15)), arith.shrui(self.lane, i32_constant(4))

    def columns_pieces(self) -> tuple[ir.Value, ir.Value]:
        """The column, of 16 of two second operands side by side, and which piece of it."""
        low = arith.andi(self.lane, i32_constant(7))
        column = arith.ori(
            low, arith.shli(arith.shrui(self.lane, i32_constant(4)), i32_constant(3))
        )
        return column, arith.andi(arith.shrui(self.lane, i32_constant(3)), i32_constant(1))

    def first_operand(self, pitch: int) -> ir.Value:
        """Where the lane reads a 16 x 16 first operand with rows `pitch` bytes apart."""
        return self._place(*self.rows_pieces(), pitch)

    def second_operand(self, pitch: int) -> ir.Value:
        """Where the lane reads two second operands, side by side, of which columns are rows there.

        16 columns of 16 numbers each, `pitch` bytes apart.
        """
        return self._place(*self.columns_pieces(), pitch)

    @staticmethod
    def _place(row: ir.Value, part: ir.Value, pitch: int) -> ir.Value:
        return arith.addi(
            arith.muli(row, i32_constant(pitch)), arith.muli(part, i32_constant(MATRIX_BYTES))
        )


def load_matrices(where: ir.Value, *, transposed: bool = False) -> list[ir.Value]:
    """Four words of four 8 x 8 matrices in shared memory; each lane has the address of one row."""
    layout = "col" if transposed else "row"
    words = ir.Operation.create(
        "nvvm.ldmatrix",
        results=[ir.Type.parse("!llvm.struct<(i32, i32, i32, i32)>")],
        operands=[where],
        attributes={
            "num": ir.IntegerAttr.get(i32(), 4),
            "layout": ir.Attribute.parse(f"#nvvm.mma_layout<{layout}>"),
            "shape": ir.Attribute.parse("#nvvm.ld_st_matrix_shape<m = 8, n = 8>"),
            "eltType": ir.Attribute.parse("#nvvm.ld_st_matrix_elt_type<b16>"),
        },
    ).results[0]
    return members(words, i32(), 4)


def multiply(
    a: Sequence[ir.Value], b: Sequence[ir.Value], c: Sequence[ir.Value], kinds: Kinds
) -> list[ir.Value]:
    """Returns c + a b, in the type of c. Words of a and b hold 32 bits of elements each.

    `kinds` are PTX's names of their element types.
    """
    total = c[0].type
    if kinds[0] == "f16":
        pair = ir.VectorType.get([2], ir.F16Type.get())
        a, b = ([_cast(word, pair) for word in words] for words in (a, b))
    attributes = {
        "layoutA": ir.Attribute.parse("#nvvm.mma_layout<row>"),
        "layoutB": ir.Attribute.parse("#nvvm.mma_layout<col>"),
        "multiplicandAPtxType": ir.Attribute.parse(f"#nvvm.mma_type<{kinds[0]}>"),
        "multiplicandBPtxType": ir.Attribute.parse(f"#nvvm.mma_type<{kinds[1]}>"),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(a), len(b), len(c)]),
        "shape": ir.Attribute.parse(
            f"#nvvm.shape<m = {ROWS}, n = {COLUMNS}, k = {DEPTH_BYTES // KIND_BYTES[kinds[0]]}>"
        ),
    }
    if isinstance(total, ir.IntegerType):
        overflow = ir.Attribute.parse("#nvvm.mma_int_overflow<wrapped>")
        attributes["intOverflowBehavior"] = overflow
    result = ir.Operation.create(
        "nvvm.mma.sync",
        results=[ir.Type.parse(f"!llvm.struct<({', '.join([str(total)] * len(c))})>")],
        operands=[*a, *b, *c],
        attributes=attributes,
    ).results[0]
    return members(result, total, len(c))


def rounded(word: ir.Value) -> ir.Value:
    """The word of an f32, as tf32 of the nearest number."""
    return ir.Operation.create(
        "nvvm.convert.float.to.tf32",
        results=[i32()],
        operands=[_cast(word, ir.F32Type.get())],
        attributes={"rnd": ir.Attribute.parse("#nvvm.fp_rnd_mode<rna>")},
    ).results[0]


def as_operand(
    left: Sequence[ir.Value], right: Sequence[ir.Value], element: ir.Type
) -> list[ir.Value]:
    """The first operand that two neighbouring results are, rounded."""
    pairs = (left[:2], left[2:], right[:2], right[2:])
    return [packed(low, high, element) for low, high in pairs]


def packed(low: ir.Value, high: ir.Value, element: ir.Type) -> ir.Value:
    """A word of two numbers (f32), rounded to elements of 16 bits."""
    both = vector.from_elements(ir.VectorType.get([2], low.type), [low, high])
    return _cast(arith.truncf(ir.VectorType.get([2], element), both), i32())


def byte_address(pointer: ir.Value, bytes_: ir.Value | int) -> ir.Value:
    """The address so many bytes past another one."""
    if isinstance(bytes_, int):
        if bytes_ == 0:
            return pointer
        bytes_ = i32_constant(bytes_)
    return address(pointer, ir.IntegerType.get_signless(8), bytes_)


def members(struct: ir.Value, kind: ir.Type, count: int) -> list[ir.Value]:
    """The first `count` members of a struct, all of one type."""
    return [
        ir.Operation.create(
            "llvm.extractvalue",
            results=[kind],
            operands=[struct],
            attributes={"position": ir.DenseI64ArrayAttr.get([number])},
        ).results[0]
        for number in range(count)
    ]


def _cast(value: ir.Value, kind: ir.Type) -> ir.Value:
    return ir.Operation.create("llvm.bitcast", results=[kind], operands=[value]).results[0]
