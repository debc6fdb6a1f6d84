"""What operations of a program read and write: the buffers among their operands and arguments."""

from __future__ import annotations

from ....dialects.hir.region_arguments import arguments_of, destination_of
from ....dialects.hir.symbols import lookup, path_of
from ....dialects.mlir import ir
from ....dialects.records import dataclass
from ...walking import is_used, operations_where
from ..compute_ops import COMPUTE_OPS
from .owners import VIEWS, Owners, callee_of, is_buffer

# What has buffers as operands, and touches none of their elements.
_NO_ELEMENTS = VIEWS | {
    "hir.allocate",
    "hir.reuse",
    "hir.deallocate",
    "hir.alias",
    "hir.argument",
    "hir.for",
    "hir.if",
    "hir.result",
    "memref.dim",
    "memref.dealloc",
    "builtin.unrealized_conversion_cast",
}


@dataclass(frozen=True)
class Effects:
    """The buffers that an operation certainly reads, and those that it may write."""

    reads: tuple[ir.Value, ...] = ()
    writes: tuple[ir.Value, ...] = ()


def effects_of(op: ir.Operation) -> Effects:
    """Returns the effects of an operation; not those of the blocks of hir.for and hir.if."""
    name, operands = op.name, [each for each in op.operands if is_buffer(each)]
    if name in COMPUTE_OPS or name == "hir.reshard":
        written = [] if len(op.results) else [op.operands[len(op.operands) - 1]]
        reads = list(op.operands)[: len(op.operands) - len(written)]
        return _effects([each for each in reads if is_buffer(each)], written)
    if name == "hir.output":
        return _effects(operands, [])
    if name in ("hir.communicate", "hir.put", "hir.get"):
        return _effects(operands[:1], operands[1:2])
    if name == "hir.coalesce":
        inner = [effects_of(each.operation) for each in op.regions[0].blocks[0]]
        return _effects(
            [value for each in inner for value in each.reads],
            [value for each in inner for value in each.writes],
        )
    if name == "hir.launch":
        return _of_launch(op)
    if name == "hir.host_call":
        return _effects([], _buffers(op))
    if name == "hir.call":
        return _of_call(op)
    if name.startswith("linalg."):
        return _of_linalg(op)
    if name == "hir.library_matmul":
        return _effects([*operands[:2], *operands[3:]], operands[2:3])
    if name == "hir.library_convolution":
        return _effects(operands[:2], operands[2:])
    if name in _NO_ELEMENTS or (len(op.results) and is_buffer(op.results[0])):
        return Effects()
    if name == "memref.load":
        return _effects(operands, [])
    if name == "memref.copy":
        return _effects(operands[:1], operands[1:])
    return _effects([], operands)


def states_its_writes(op: ir.Operation) -> bool:
    """Returns whether an operation certainly writes what effects_of says it may."""
    if op.name == "hir.launch":
        kernel = lookup(op.opview, path_of(op.attributes["kernel"]))
        return kernel is None or kernel.name != "hir.kernel" or "writes" in kernel.attributes
    return op.name != "hir.host_call"


def _buffers(op: ir.Operation) -> list[ir.Value]:
    values = [argument.operands[0] for argument in arguments_of(op.regions[0])]
    return [value for value in values if is_buffer(value)]


def _of_launch(op: ir.Operation) -> Effects:
    """Returns a kernel that states what it writes reads its other buffers."""
    kernel = lookup(op.opview, path_of(op.attributes["kernel"]))
    if kernel is None or kernel.name != "hir.kernel" or "writes" not in kernel.attributes:
        return _effects([], _buffers(op))
    return _of_arguments(op, set(ir.DenseI64ArrayAttr(kernel.attributes["writes"])))


def _of_call(op: ir.Operation) -> Effects:
    """A program reads the inputs that nothing in it writes."""
    callee = callee_of(op)
    if callee is None:
        return _effects([], _buffers(op))
    arguments = enumerate(arguments_of(op.regions[0]))
    given = {number for number, each in arguments if destination_of(each) is not None}
    return _of_arguments(op, given | written_inputs(callee))


def _of_arguments(op: ir.Operation, written: set[int]) -> Effects:
    """Returns that the arguments of these numbers are written, and the others read."""
    reads: list[ir.Value] = []
    writes: list[ir.Value] = []
    for number, argument in enumerate(arguments_of(op.regions[0])):
        value = argument.operands[0]
        if is_buffer(value):
            (writes if number in written else reads).append(value)
    return _effects(reads, writes)


def written_inputs(program: ir.Operation) -> set[int]:
    """Returns the numbers of the inputs whose memory a program may write."""
    owners, found = Owners(program), set[int]()
    for op in operations_where(program, lambda inner: inner != program):
        for value in effects_of(op).writes:
            for root in owners.roots(value):
                if isinstance(root.value, ir.BlockArgument):
                    found.add(root.value.arg_number)
    return found


def _of_linalg(op: ir.Operation) -> Effects:
    """What goes in is read; what comes out is written, and may be read where the body uses it.

    So is what the region accesses itself; under an scf.if it does so for some elements at most.
    """
    if "operandSegmentSizes" not in op.attributes:
        return _effects([], [each for each in op.operands if is_buffer(each)])
    inputs, _ = ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])
    values = list(op.operands)
    reads = [each for place, each in enumerate(values[:inputs]) if _is_read(op, place)]
    writes = [each for each in values[inputs:] if is_buffer(each)]
    for inner in operations_where(op, lambda one: one != op):
        effects = effects_of(inner)
        reads += effects.reads if inner.parent == op else ()
        writes += effects.writes
    return _effects(reads, writes)


def _is_read(op: ir.Operation, place: int) -> bool:
    """Returns whether input `place` is a buffer whose elements count: not a pooling's window of
    sizes.
    """
    if not is_buffer(op.operands[place]):
        return False
    blocks = list(op.regions[0].blocks) if len(op.regions) else []
    if not blocks or place >= len(blocks[0].arguments):
        return True
    return is_used(blocks[0].arguments[place])


def _effects(reads: list[ir.Value], writes: list[ir.Value]) -> Effects:
    return Effects(tuple(reads), tuple(writes))
