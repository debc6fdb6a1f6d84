"""Reductions over the lanes of a warp: the part that `expand-all-reduce` and
`expand-subgroup-reduce` share.

A warp has 32 lanes on NVIDIA's chips, and a wavefront 32 or 64 on AMD's: `warp_lanes` says how
many, and `width` the lanes that a shuffle stays within. The last warp of a block may have fewer.
Lanes that do not exist contribute nothing: a value received from one is never combined. The order
of combination is the lanes' order, so an associative reduction need not be commutative.
"""

from __future__ import annotations

from collections.abc import Callable

from ..dialects.mlir import arith, gpu, ir, scf, vector
from ..dialects.records import dataclass
from .i32 import i32_constant, narrow

WARP_LANES = 32


@dataclass(frozen=True)
class Reduction:
    """How two values become one.

    `speculatable` says that combining values that are then thrown away does no harm.
    """

    combine: Callable[[ir.Value, ir.Value], ir.Value]
    speculatable: bool


@dataclass(frozen=True)
class ThreadPosition:
    """A thread's place in its block, as i32 values; sizes known at compile time are ints."""

    lane: ir.Value
    warp: ir.Value
    threads: int | ir.Value
    warp_lanes: int


_INTEGER: dict[str, Callable[[ir.Value, ir.Value], ir.Value]] = {
    "add": arith.addi,
    "mul": arith.muli,
    "minui": arith.minui,
    "minsi": arith.minsi,
    "maxui": arith.maxui,
    "maxsi": arith.maxsi,
    "and": arith.andi,
    "or": arith.ori,
    "xor": arith.xori,
}
_FLOAT: dict[str, Callable[[ir.Value, ir.Value], ir.Value]] = {
    "add": arith.addf,
    "mul": arith.mulf,
    "minnumf": arith.minnumf,
    "maxnumf": arith.maxnumf,
    "minimumf": arith.minimumf,
    "maximumf": arith.maximumf,
}


def reduction_kind(op: ir.Operation) -> str | None:
    """Returns the name of a reduction op's named kind, `add` and so on; None for the
    region form.
    """
    if "op" not in op.attributes:
        return None
    return str(op.attributes["op"]).removeprefix("#gpu<all_reduce_op ").removesuffix(">")


def named_reduction(kind: str, element_type: ir.Type) -> Reduction:
    """Returns the reduction of one of the gpu dialect's named kinds on values of `element_type`."""
    is_float = isinstance(element_type, ir.FloatType)
    return Reduction((_FLOAT if is_float else _INTEGER)[kind], speculatable=True)


def region_reduction(body: ir.Block) -> Reduction:
    """Returns the reduction that `body`, a block of two arguments ending in gpu.yield, computes."""

    def combine(left: ir.Value, right: ir.Value) -> ir.Value:
        values: dict[ir.Value, ir.Value] = {body.arguments[0]: left, body.arguments[1]: right}
        for source in body:
            if source.operation.name == "gpu.yield":
                return values.get(source.operation.operands[0], source.operation.operands[0])
            clone = source.operation.clone()
            _replace_operands(clone, values)
            values.update(zip(source.operation.results, clone.results, strict=True))
        raise AssertionError("a reduction's body ends in gpu.yield")

    return Reduction(combine, speculatable=False)


def thread_position(op: ir.Operation, warp_lanes: int = WARP_LANES) -> ThreadPosition:
    """Emits the place of the thread that executes `op`; warps are cut from the linear index."""
    sizes = known_block_size(op)
    x, y, z = (_thread_id(dimension) for dimension in "xyz")
    if sizes is None:
        size_x, size_y, size_z = (_block_dim(dimension) for dimension in "xyz")
        threads: int | ir.Value = arith.muli(arith.muli(size_x, size_y), size_z)
    else:
        size_x, size_y = i32_constant(sizes[0]), i32_constant(sizes[1])
        threads = sizes[0] * sizes[1] * sizes[2]
    linear = arith.addi(arith.muli(arith.addi(arith.muli(z, size_y), y), size_x), x)
    lane = arith.andi(linear, i32_constant(warp_lanes - 1))
    warp = arith.shrui(linear, _shift(warp_lanes))
    return ThreadPosition(lane, warp, threads, warp_lanes)


def known_block_size(op: ir.Operation) -> tuple[int, int, int] | None:
    """Returns the block size that the gpu.func around `op` declares, or None when only known at run
    time.
    """
    parent = op.parent
    while parent is not None and parent.name != "gpu.func":
        parent = parent.parent
    if parent is None or "known_block_size" not in parent.attributes:
        return None
    x, y, z = ir.DenseI32ArrayAttr(parent.attributes["known_block_size"])
    return x, y, z


def fills_every_warp(op: ir.Operation, warp_lanes: int = WARP_LANES) -> bool:
    """Returns whether the block around `op` is known to have no short last warp."""
    sizes = known_block_size(op)
    return sizes is not None and sizes[0] * sizes[1] * sizes[2] % warp_lanes == 0


def lanes_in_warp(position: ThreadPosition) -> int | ir.Value:
    """Returns how many lanes the thread's own warp has."""
    threads, most = position.threads, position.warp_lanes
    if isinstance(threads, int):
        if threads % most == 0:
            return most
        if threads < most:
            return threads
        threads = i32_constant(threads)
    before = arith.shli(position.warp, _shift(most))
    return arith.minui(arith.subi(threads, before), i32_constant(most))


def warps_in_block(position: ThreadPosition) -> int | ir.Value:
    """Returns how many warps the block has; a short last one counts."""
    most = position.warp_lanes
    if isinstance(position.threads, int):
        return -(-position.threads // most)
    rounded = arith.addi(position.threads, i32_constant(most - 1))
    return arith.shrui(rounded, _shift(most))


def _shift(warp_lanes: int) -> ir.Value:
    return i32_constant(warp_lanes.bit_length() - 1)


def reduce_into_first(
    value: ir.Value,
    reduction: Reduction,
    lane: ir.Value,
    places: int | ir.Value,
    *,
    stride: int = 1,
    lanes: int | ir.Value | None = None,
    warp_lanes: int = WARP_LANES,
) -> ir.Value:
    """Reduces groups of `places` lanes, `stride` apart; the first lane of each has the result.

    `lanes`, by default `places`, says how many lanes of the warp take part at all: values of
    lanes from there on are left out. After the step of distance d, a lane holds the reduction of
    its own place and the d - 1 that follow, as far as they exist.
    """
    lanes = places if lanes is None else lanes
    limit = places if isinstance(places, int) else warp_lanes
    reach = limit * stride
    end = _guard(lanes, reach, reduction, warp_lanes)
    distance = 1
    while distance < limit:
        offset = i32_constant(distance * stride)
        other = shuffle("down", value, offset, warp_lanes)
        if end is None:
            value = reduction.combine(value, other)
        else:
            exists = arith.cmpi(arith.CmpIPredicate.ult, arith.addi(lane, offset), end)
            value = _combine_if(exists, reduction, value, other)
        distance *= 2
    return value


def reduce_by_exchange(
    value: ir.Value,
    reduction: Reduction,
    size: int,
    stride: int,
    warp_lanes: int = WARP_LANES,
) -> ir.Value:
    """Reduces each group of `size` lanes, `stride` apart, all of which exist; every lane has the
    result. `size` is a power of two and the reduction commutative.
    """
    distance = 1
    while distance < size:
        other = shuffle("xor", value, i32_constant(distance * stride), warp_lanes)
        value = reduction.combine(value, other)
        distance *= 2
    return value


def shuffle(mode: str, value: ir.Value, offset: ir.Value, width: int = WARP_LANES) -> ir.Value:
    """Returns a gpu.shuffle over `width` lanes, of a value of any scalar or 1-d vector type.

    gpu.shuffle itself lowers for 32 and 64 bits only; narrow and vector values travel as i32
    words, wide integers as i64 words.
    """
    value_type = value.type
    if isinstance(value_type, ir.VectorType):
        return _shuffle_vector(mode, value, value_type, offset, width)
    if isinstance(value_type, ir.IndexType):
        i64 = ir.IntegerType.get_signless(64)
        moved = _shuffle_word(mode, arith.index_castui(i64, value), offset, width)
        return arith.index_castui(value_type, moved)
    bits = bit_width(value_type)
    if bits in (32, 64):
        return _shuffle_word(mode, value, offset, width)
    integer = ir.IntegerType.get_signless(bits)
    if not isinstance(value_type, ir.IntegerType):
        moved = shuffle(mode, arith.bitcast(integer, value), offset, width)
        return arith.bitcast(value_type, moved)
    if bits < 64:
        word = ir.IntegerType.get_signless(32 if bits < 32 else 64)
        moved = _shuffle_word(mode, arith.extui(word, value), offset, width)
        return arith.trunci(integer, moved)
    low_type = ir.IntegerType.get_signless(64)
    high_type = ir.IntegerType.get_signless(bits - 64)
    shift = arith.constant(integer, 64)
    low = _shuffle_word(mode, arith.trunci(low_type, value), offset, width)
    high = shuffle(mode, arith.trunci(high_type, arith.shrui(value, shift)), offset, width)
    return arith.ori(arith.shli(arith.extui(integer, high), shift), arith.extui(integer, low))


def bit_width(scalar: ir.Type) -> int:
    """Returns the bits of an integer or float type."""
    if isinstance(scalar, ir.IntegerType | ir.FloatType):
        return scalar.width
    raise TypeError(f"no bit width: {scalar}")


def _guard(
    lanes: int | ir.Value, reach: int, reduction: Reduction, warp_lanes: int
) -> ir.Value | None:
    """Returns the first lane to leave out, or None when nothing is gained by looking.

    When groups that span `reach` lanes, a power of two, fill the lanes there are, a group's first
    lane never meets a value from beyond them; other lanes may, but nobody reads theirs.
    """
    if not isinstance(lanes, int):
        return lanes
    whole_groups = reach & (reach - 1) == 0 and lanes % reach == 0
    if lanes == warp_lanes or (reduction.speculatable and whole_groups):
        return None
    return i32_constant(lanes)


def _shuffle_vector(
    mode: str, value: ir.Value, vector_type: ir.VectorType, offset: ir.Value, width: int
) -> ir.Value:
    element_type, length = vector_type.element_type, vector_type.shape[0]
    index = isinstance(element_type, ir.IndexType)
    bits = 0 if index else bit_width(element_type) * length
    if index or bits % 32 or bit_width(element_type) % 8:
        parts = [shuffle(mode, _element(value, place), offset, width) for place in range(length)]
        return vector.from_elements(vector_type, parts)
    words_type = ir.VectorType.get([bits // 32], ir.IntegerType.get_signless(32))
    words = vector.bitcast(words_type, value)
    moved = [
        _shuffle_word(mode, _element(words, place), offset, width) for place in range(bits // 32)
    ]
    return vector.bitcast(vector_type, vector.from_elements(words_type, moved))


def _shuffle_word(mode: str, value: ir.Value, offset: ir.Value, width: int) -> ir.Value:
    mode_attribute = ir.Attribute.parse(f"#gpu<shuffle_mode {mode}>")
    return gpu.ShuffleOp(value, offset, i32_constant(width), mode_attribute).results[0]


def _element(value: ir.Value, place: int) -> ir.Value:
    return vector.extract(value, [], [place])


def _combine_if(
    condition: ir.Value, reduction: Reduction, value: ir.Value, other: ir.Value
) -> ir.Value:
    if reduction.speculatable:
        return arith.select(condition, reduction.combine(value, other), value)
    branch = scf.IfOp(condition, [value.type], has_else=True)
    with ir.InsertionPoint(branch.then_block):
        scf.yield_([reduction.combine(value, other)])
    with ir.InsertionPoint(branch.regions[1].blocks[0]):
        scf.yield_([value])
    return branch.results[0]


def _replace_operands(op: ir.Operation, values: dict[ir.Value, ir.Value]) -> None:
    """Replaces `values` among the operands of `op` and of everything nested in it."""

    def visit(nested: ir.Operation) -> ir.WalkResult:
        for index, operand in enumerate(nested.operands):
            if operand in values:
                nested.operands[index] = values[operand]
        return ir.WalkResult.ADVANCE

    op.walk(visit)


def _thread_id(dimension: str) -> ir.Value:
    return narrow(gpu.thread_id(ir.Attribute.parse(f"#gpu<dim {dimension}>")))


def _block_dim(dimension: str) -> ir.Value:
    return narrow(gpu.block_dim(ir.Attribute.parse(f"#gpu<dim {dimension}>")))
