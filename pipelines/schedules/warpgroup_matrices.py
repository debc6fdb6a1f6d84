"""Products of matrices by warpgroups (wgmma), the copies that feed them (TMA), and their barriers.

A warpgroup, 128 threads, multiplies 64 rows by up to 256 columns; both operands lie in shared
memory, in rows of 128 bytes that are swizzled in patterns of 8 rows (PTX ISA, "Asynchronous
Warpgroup Level Matrix Instructions"). Where the terms of a sum are neighbours in these rows, a tile
is one such matrix; where rows or columns are, it is one of 128 bytes of them by all terms after
another. Of a result a thread holds, for every 8 columns, what a lane of a warp holds of a product
of warps (warp_matrices.py); each warp has 16 rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...dialects.mlir import arith, gpu, ir, memref, scf
from ..i32 import i32, i32_constant
from ..rewriting import constant, index_constant
from ..tensormap import ROUNDS, STEPS
from .parameters import Parameters
from .ptx import instruct, instructed
from .shared import SHARED
from .size import ZERO, OpenNumbers, Size
from .warp_matrices import DEPTH_BYTES, KIND_BYTES, Kinds, members

# The threads of a warpgroup, and the rows of a product.
THREADS, ROWS = 128, 64
# A row in shared memory, and the rows after which the swizzle repeats.
ROW_BYTES, PATTERN_ROWS = 128, 8
PATTERN_BYTES = ROW_BYTES * PATTERN_ROWS
BARRIER_BYTES = 8
# What the copy engine takes: dims, bytes that strides are multiples of, and along a dim places that
# a box passes over and steps between those it takes.
MOST_DIMS, STRIDE_BYTES, MOST_IN_BOX, MOST_STEP = 5, 16, 256, 8
# What lies together of a row that is not swizzled, of which a product has two; and how many
# products of chunks a kernel has in its code.
CHUNK_BYTES, MOST_PAIRS = 16, 64
# Results along the last two dims of an image that a product of 64 rows of chunks has, which are the
# rows of a core matrix, too; and columns that are stored together.
PATCH_SIDE, PATCH_COLUMNS = 8, 32
_SWIZZLED = 1 << 62
_UNIT = 16
_ADDRESS_BITS = 0x3FFFF
_TICKS = 10_000_000
# Shared memory of a cluster, in PTX's and LLVM's numbering.
_CLUSTER = 7


def copy_box(
    to: ir.Value,
    map_: ir.Value,
    places: Sequence[ir.Value],
    barrier: ir.Value,
    blocks: ir.Value | None = None,
    policy: ir.Value | None = None,
) -> None:
    """Begins the copy of a box to shared memory, of which the barrier is told the bytes.

    `places` (i32) are those of its first element, innermost first; beyond the ends there are zeros.
    With `blocks`, a bit (i16) for each block of the cluster, it goes to the same place in the
    shared memory of each of these, whose own barriers are told. `policy` (i64) is that of the
    second-level cache for what is read.
    """
    further = [each for each in (blocks, policy) if each is not None]
    cluster = ir.Operation.create(
        "llvm.addrspacecast", results=[ir.Type.parse(f"!llvm.ptr<{_CLUSTER}>")], operands=[to]
    ).results[0]
    ir.Operation.create(
        "nvvm.cp.async.bulk.tensor.shared.cluster.global",
        operands=[cluster, map_, *places, barrier, *further],
        attributes={
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get(
                [1, 1, len(places), 1, 0, int(blocks is not None), int(policy is not None), 0]
            ),
            "mode": ir.Attribute.parse("#nvvm.tma_load_mode<tile>"),
        },
    )


def prefetch_box(map_: ir.Value, places: Sequence[ir.Value]) -> None:
    """Lets the second-level cache read a box, of which `places` are as copy_box has them."""
    ir.Operation.create(
        "nvvm.cp.async.bulk.tensor.prefetch",
        operands=[map_, *places],
        attributes={
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, len(places), 0, 0]),
            "mode": ir.Attribute.parse("#nvvm.tma_load_mode<tile>"),
        },
    )


def tensor_map(
    parameters: Parameters,
    name: str,
    source: tuple[ir.Value, Size],
    sizes: Sequence[Size],
    strides: Sequence[Size],
    box: Sequence[int],
    *,
    steps: Sequence[int] = (),
    rounds: bool = False,
    promotes: bool = True,
    is_swizzled: bool = True,
) -> ir.Value:
    """Returns the address of a descriptor (TMA) of a buffer's elements from an offset on.

    The host makes the descriptor. `sizes`, `strides` and `box`, in elements, have the outermost dim
    first. `name` is unique in the kernel. With `steps`, elements of a box are so far apart along
    the dims. With `rounds`, copies round f32 to tf32. If it `promotes`, the second-level cache
    reads 256 bytes at once. Unless it `is_swizzled`, a box lies in shared memory as it is.
    """
    buffer, offset = source
    element = ir.MemRefType(buffer.type).element_type
    shape = "x".join(map(str, box))
    promotion = "l2promo_256b" if promotes else "none"
    swizzle = "swizzle_128b" if is_swizzled else "none"
    kind = ir.Type.parse(
        f"!nvgpu.tensormap.descriptor<tensor = memref<{shape}x{element}, {SHARED}>, "
        f"swizzle = {swizzle}, l2promo = {promotion}, oob = zero, interleave = none>"
    )

    # A driver's box is what copies pass over.
    passed = [size * step for size, step in zip(box, steps or [1] * len(box), strict=True)]

    def encode(open_: OpenNumbers) -> ir.Value:
        view = _viewed(buffer, offset, sizes, strides, open_)
        unranked = memref.cast(ir.UnrankedMemRefType.get(element, None), view)
        attributes: dict[str, ir.Attribute] = {ROUNDS: ir.UnitAttr.get()} if rounds else {}
        if any(step != 1 for step in steps):
            attributes[STEPS] = ir.DenseI64ArrayAttr.get(list(steps))
        return ir.Operation.create(
            "nvgpu.tma.create.descriptor",
            results=[kind],
            operands=[unranked, *map(index_constant, passed)],
            attributes=attributes,
        ).results[0]

    def address() -> ir.Value:
        return ir.Operation.create(
            "builtin.unrealized_conversion_cast",
            results=[ir.Type.parse("!llvm.ptr")],
            operands=[given],
        ).results[0]

    given = parameters.computed(("map", name, buffer), kind, encode)
    return parameters.once(("map", name), address)


def _viewed(
    buffer: ir.Value,
    offset: Size,
    sizes: Sequence[Size],
    strides: Sequence[Size],
    open_: OpenNumbers,
) -> ir.Value:
    """Emits, in host code, a view of a buffer from an offset on, with these sizes and strides."""
    element = ir.MemRefType(buffer.type).element_type
    metadata = memref.ExtractStridedMetadataOp(buffer)
    base, start = list(metadata.results)[:2]
    shape, steps = ([open_.value(each) for each in of] for of in (sizes, strides))
    begin = arith.addi(start, open_.value(offset)) if offset != ZERO else start
    dynamic = ir.ShapedType.get_dynamic_size()
    layout = ir.StridedLayoutAttr.get(dynamic, [dynamic] * len(sizes))
    minimum = -(2**63)
    return ir.Operation.create(
        "memref.reinterpret_cast",
        results=[ir.MemRefType.get([dynamic] * len(sizes), element, layout)],
        operands=[base, begin, *shape, *steps],
        attributes={
            "static_offsets": ir.DenseI64ArrayAttr.get([minimum]),
            "static_sizes": ir.DenseI64ArrayAttr.get([minimum] * len(sizes)),
            "static_strides": ir.DenseI64ArrayAttr.get([minimum] * len(sizes)),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1, len(sizes), len(sizes)]),
        },
    ).results[0]


class Barrier:
    """An mbarrier at an address of shared memory."""

    def __init__(self, address: ir.Value) -> None:
        self.address = address

    def begin(self, arrivals: int) -> None:
        """Makes it one whose phases end when so many threads have arrived."""
        ir.Operation.create("nvvm.mbarrier.init", operands=[self.address, i32_constant(arrivals)])

    def expect(self, bytes_: int) -> None:
        """Arrives; the phase ends no sooner than so many bytes have come."""
        ir.Operation.create(
            "nvvm.mbarrier.arrive.expect_tx", operands=[self.address, i32_constant(bytes_)]
        )

    def arrive(self) -> None:
        """Arrives; it may be another block's of the cluster (see mapped).

        That tells of what was read, not of what was written: to release writes to the cluster would
        wait for all of the thread's.
        """
        if self.address.type == ir.Type.parse(f"!llvm.ptr<{_CLUSTER}>"):
            scope = ir.Attribute.parse("#nvvm.mem_scope<cluster>")
            attributes = {"scope": scope, "relaxed": ir.BoolAttr.get(True)}
            ir.Operation.create(
                "nvvm.mbarrier.arrive", operands=[self.address], attributes=attributes
            )
            return
        i64 = ir.IntegerType.get_signless(64)
        ir.Operation.create("nvvm.mbarrier.arrive", results=[i64], operands=[self.address])

    def arrive_where(self, holds: ir.Value) -> None:
        """Arrives in the threads for which a condition holds."""
        guard = scf.IfOp(holds)
        with ir.InsertionPoint(guard.then_block):
            self.arrive()
            scf.YieldOp([])

    def wait(self, parity: ir.Value) -> None:
        """Waits for the end of the phase of this parity (i32); a new one has one of 1 behind it."""
        ir.Operation.create(
            "nvvm.mbarrier.try_wait.parity", operands=[self.address, parity, i32_constant(_TICKS)]
        )


def begin_copies_and_barriers(
    thread: ir.Value, maps: Sequence[ir.Value], barriers: Callable[[], None]
) -> None:
    """Makes one thread prefetch descriptors and initialize `barriers`, visible to all threads."""
    begins = scf.IfOp(arith.cmpi(arith.CmpIPredicate.eq, thread, i32_constant(0)))
    with ir.InsertionPoint(begins.then_block):
        for map_ in maps:
            ir.Operation.create(
                "nvvm.prefetch", operands=[map_], attributes={"tensormap": ir.UnitAttr.get()}
            )
        barriers()
        ir.Operation.create("nvvm.fence.mbarrier.init")
        order_copies_after()
        scf.YieldOp([])
    gpu.barrier()


def order_copies_after() -> None:
    """Orders what the thread did to shared memory, reads too, before copies that follow.

    These do not wait for loads that have begun.
    """
    ir.Operation.create(
        "nvvm.fence.proxy",
        attributes={
            "kind": ir.Attribute.parse("#nvvm.proxy_kind<async.shared>"),
            "space": ir.Attribute.parse("#nvvm.shared_space<cta>"),
        },
    )


class Sums:
    """The results of products of 64 rows by so many columns: numbers of a thread."""

    def __init__(self, columns: int, total: ir.Type) -> None:
        self.columns, self.total = columns, total
        self.count = columns // 2
        self.type = ir.Type.parse(f"!llvm.struct<({', '.join([str(total)] * self.count)})>")

    def zeros(self) -> ir.Value:
        """Those of no terms."""
        return self.of([constant(self.total, 0)] * self.count)

    def undefined(self) -> ir.Value:
        """Those of a product that is the first, which does not add to them."""
        return ir.Operation.create("llvm.mlir.undef", results=[self.type]).results[0]

    def of(self, numbers: Sequence[ir.Value]) -> ir.Value:
        """The sums of a thread's numbers."""
        found = self.undefined()
        for place, each in enumerate(numbers):
            found = ir.Operation.create(
                "llvm.insertvalue",
                results=[self.type],
                operands=[found, each],
                attributes={"position": ir.DenseI64ArrayAttr.get([place])},
            ).results[0]
        return found

    def multiply(
        self,
        sums: ir.Value,
        first: ir.Value,
        second: ir.Value,
        kinds: Kinds,
        *,
        along_terms: tuple[bool, bool],
        adds: bool = True,
    ) -> ir.Value:
        """Begins to add a product to `sums`; `first` and `second` are the operands' descriptors.

        `kinds` are PTX's names of their element types. `along_terms` says for each operand whether
        terms are neighbours in its rows; they must be, except for elements of 16 bits. Without
        `adds` the product replaces the sums.
        """
        depth = DEPTH_BYTES // KIND_BYTES[kinds[0]]
        a, b = (ir.Attribute.parse(f"#nvvm.wgmma_type<{kind}>") for kind in kinds)
        one = ir.Attribute.parse("#nvvm.wgmma_scale_in<one>")
        layouts = ("row" if along_terms[0] else "col", "col" if along_terms[1] else "row")
        return ir.Operation.create(
            "nvvm.wgmma.mma_async",
            results=[self.type],
            operands=[sums, first, second],
            attributes={
                "shape": ir.Attribute.parse(
                    f"#nvvm.shape<m = {ROWS}, n = {self.columns}, k = {depth}>"
                ),
                "typeA": a,
                "typeB": b,
                "typeD": ir.Attribute.parse(f"#nvvm.wgmma_type<{_total_kind(self.total)}>"),
                "scaleD": ir.Attribute.parse(f"#nvvm.wgmma_scale_out<{'one' if adds else 'zero'}>"),
                "scaleA": one,
                "scaleB": one,
                "layoutA": ir.Attribute.parse(f"#nvvm.mma_layout<{layouts[0]}>"),
                "layoutB": ir.Attribute.parse(f"#nvvm.mma_layout<{layouts[1]}>"),
            },
        ).results[0]

    def multiply_registers(
        self, sums: ir.Value, first: Sequence[ir.Value], second: ir.Value, element: ir.Type
    ) -> ir.Value:
        """Begins to add a product of a first operand in words of registers (warp_matrices.py).

        Of the second, columns are neighbours in its rows.
        """
        numbers = members(sums, self.total, self.count)
        count = len(numbers)
        registers = ", ".join(f"${place}" for place in range(count))
        words = ", ".join(f"${2 * count + place}" for place in range(len(first)))
        kinds = f"{self.total}.{element}.{element}"
        text = (
            "{ .reg .pred p; setp.ne.b32 p, 1, 0; "
            f"wgmma.mma_async.sync.aligned.m{ROWS}n{self.columns}k16.{kinds} "
            f"{{{registers}}}, {{{words}}}, ${2 * count + len(first)}, p, 1, 1, 1; }}"
        )
        tied = [str(place) for place in range(count)]
        constraints = ["=f"] * count + tied + ["r"] * len(first) + ["l"]
        return instructed(text, [*numbers, *first, second], ",".join(constraints), self.type)

    def complete(self, sums: Sequence[ir.Value], groups: int = 0) -> list[list[ir.Value]]:
        """Waits until at most so many groups are under way; the numbers of each of the sums.

        They pass through the instruction, so that nothing reads them before it.
        """
        numbers = [each for one in sums for each in members(one, self.total, self.count)]
        letter = "f" if isinstance(self.total, ir.FloatType) else "r"
        constraints = [f"={letter}"] * len(numbers) + [str(at) for at in range(len(numbers))]
        kinds = ", ".join([str(self.total)] * len(numbers))
        found = instructed(
            f"wgmma.wait_group.sync.aligned {groups};",
            numbers,
            ",".join(constraints),
            ir.Type.parse(f"!llvm.struct<({kinds})>"),
        )
        whole = members(found, self.total, len(numbers))
        return [whole[at : at + self.count] for at in range(0, len(whole), self.count)]


def _total_kind(total: ir.Type) -> str:
    return "s32" if isinstance(total, ir.IntegerType) else str(total)


def begin_products() -> None:
    """Orders what the warpgroup's threads did to registers before the products that follow."""
    ir.Operation.create("nvvm.wgmma.fence.aligned")


def commit_products() -> None:
    """Makes a group of the warpgroup's products since the last one."""
    ir.Operation.create("nvvm.wgmma.commit.group.sync.aligned")


def wait_for_products(groups: int) -> None:
    """Waits until at most so many groups are under way."""
    ir.Operation.create(
        "nvvm.wgmma.wait.group.sync.aligned",
        attributes={"group": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), groups)},
    )


def wait_for_threads(count: int) -> None:
    """Waits for so many of the block's threads, of which the calling warps are."""
    instruct(f"bar.sync 1, {count};", [], "~{memory}")


def wait_for_warp() -> None:
    """Waits for all of the warp's threads, whose reads and writes are then done."""
    ir.Operation.create("nvvm.bar.warp.sync", operands=[i32_constant(-1)])


def set_registers(count: int, action: str) -> None:
    """Makes the warpgroup's threads "increase" or "decrease" their registers to so many."""
    ir.Operation.create(
        "nvvm.setmaxregister",
        attributes={
            "regCount": ir.IntegerAttr.get(i32(), count),
            "action": ir.Attribute.parse(f"#nvvm<action {action}>"),
        },
    )


def mapped(start: ir.Value, block: ir.Value) -> ir.Value:
    """An address of shared memory as that of another block of the cluster."""
    return ir.Operation.create(
        "nvvm.mapa", results=[ir.Type.parse(f"!llvm.ptr<{_CLUSTER}>")], operands=[start, block]
    ).results[0]


def meet(*, tells: bool = True) -> None:
    """Waits for all threads of the cluster.

    If it `tells`, which takes until all writes are done, they see what each has written before.
    """
    ir.Operation.create("nvvm.cluster.arrive" if tells else "nvvm.cluster.arrive.relaxed")
    ir.Operation.create("nvvm.cluster.wait")


def matrix_descriptor(start: ir.Value, leading: int) -> ir.Value:
    """The descriptor (i64) of a matrix at an address of shared memory.

    `leading` are the bytes from 128 of one row to the next, where several tiles lie behind one
    another.
    """
    return _descriptor(start, max(leading, _UNIT), PATTERN_BYTES, _SWIZZLED)


def plain_matrix_descriptor(start: ir.Value, leading: int, stride: int) -> ir.Value:
    """The descriptor (i64) of a matrix that is not swizzled: 8 rows have 16 bytes each at `start`.

    `leading` are the bytes from these to the next 16 of each row, a multiple of 16 as are the
    `stride`, those to the next 8 rows.
    """
    return _descriptor(start, leading, stride)


def _descriptor(start: ir.Value, leading: int, stride: int, layout: int = 0) -> ir.Value:
    i64 = ir.IntegerType.get_signless(64)
    at = ir.Operation.create("llvm.ptrtoint", results=[i64], operands=[start]).results[0]
    at = arith.shrui(arith.andi(at, constant(i64, _ADDRESS_BITS)), constant(i64, 4))
    bits = layout | stride // _UNIT << 32 | leading // _UNIT << 16
    return arith.ori(at, constant(i64, bits)) if bits else at


def with_leading(descriptor: ir.Value, leading: int) -> ir.Value:
    """The descriptor of such a matrix of no leading bytes with so many."""
    i64 = ir.IntegerType.get_signless(64)
    return arith.addi(descriptor, constant(i64, leading // _UNIT << 16))


def with_leading_to(descriptor: ir.Value, other: ir.Value) -> ir.Value:
    """The same, where the next 16 bytes of each row lie where another matrix of no bytes begins,
    which is behind it.
    """
    i64 = ir.IntegerType.get_signless(64)
    units = constant(i64, _ADDRESS_BITS >> 4)
    far = arith.subi(other, arith.andi(descriptor, units))
    return arith.addi(descriptor, arith.shli(far, constant(i64, 16)))


def moved(descriptor: ir.Value, bytes_: ir.Value | int) -> ir.Value:
    """The descriptor of what lies so many bytes further, a multiple of 16."""
    i64 = ir.IntegerType.get_signless(64)
    if isinstance(bytes_, int):
        return arith.addi(descriptor, constant(i64, bytes_ // _UNIT)) if bytes_ else descriptor
    far = arith.shrui(bytes_, constant(bytes_.type, 4))
    return arith.addi(descriptor, far if far.type == i64 else arith.extui(i64, far))
