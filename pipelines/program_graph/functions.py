"""The host functions of GPU programs as graphs: launches, copies, calls, and their memory."""

from __future__ import annotations

from itertools import accumulate

from ...dialects.hir.element_types import find_element_type
from ...dialects.hir.layout import DYNAMIC
from ...dialects.hir.symbols import lookup, path_of
from ...dialects.mlir import ir
from ..constants import constant_value
from ..hir.memory.owners import is_buffer
from ..walking import defining_op, operations_where
from .graph import Buffer, GraphProgram, Kernel, Number, Step, place_of, work_of

_KINDS = {
    "gpu.launch": "kernel",
    "gpu.launch_func": "kernel",
    "gpu.memcpy": "copy",
    "gpu.memset": "copy",
    "memref.copy": "copy",
    "gpu.wait": "stream",
    "scf.for": "loop",
    "scf.while": "loop",
    "scf.forall": "loop",
    "scf.parallel": "loop",
    "affine.for": "loop",
    "scf.if": "branch",
    "scf.index_switch": "branch",
    "affine.if": "branch",
    "memref.load": "host",
    "memref.store": "host",
    "cf.assert": "check",
}
_CALLS = ("func.call", "llvm.call", "vector.print", "gpu.printf")
_ALLOCATIONS = ("memref.alloc", "memref.alloca", "gpu.alloc")
_DEALLOCATIONS = ("memref.dealloc", "gpu.dealloc")


def read_functions(module: ir.Operation) -> list[GraphProgram]:
    """Returns the graphs of a module's functions on the host, of those that do anything."""
    functions = [
        op.operation
        for op in module.regions[0].blocks[0]
        if op.operation.name in ("func.func", "llvm.func") and len(op.operation.regions[0].blocks)
    ]
    graphs = [_Reader(function).graph for function in functions]
    return [graph for graph in graphs if graph.steps]


class _Reader:
    """Reads one function; its blocks in the order of their text."""

    def __init__(self, function: ir.Operation) -> None:
        self.graph = GraphProgram(ir.StringAttr(function.attributes["sym_name"]).value)
        self._buffers: dict[ir.Value, int] = {}
        self._globals: dict[str, int] = {}
        self._streams: dict[ir.Value, str] = {}
        for number, argument in enumerate(function.regions[0].blocks[0].arguments):
            if is_buffer(argument):
                self._begin(argument, "input", f"argument {number}", "")
        self._region(function.regions[0], -1, "")
        for buffer in self.graph.buffers:
            if buffer.end is None:
                buffer.end = max(0, len(self.graph.steps) - 1)
        self._hold()
        # A kernel or a copy may write a part of a buffer.
        self.graph.connect([set(step.writes) for step in self.graph.steps])

    def _hold(self) -> None:
        """Adds up what is allocated at each step, where all sizes are known."""
        made = [buffer for buffer in self.graph.buffers if buffer.kind == "buffer"]
        changes = [0] * (len(self.graph.steps) + 2)
        for buffer in made:
            if not isinstance(buffer.bytes, int) or buffer.end is None:
                return
            changes[buffer.begin] += buffer.bytes
            changes[max(buffer.begin, buffer.end) + 1] -= buffer.bytes
        for step, held in zip(self.graph.steps, accumulate(changes), strict=False):
            step.held = [held]

    def _region(self, region: ir.Region, parent: int, part: str) -> None:
        for block in region:
            for view in block:
                op = view.operation
                if op.name == "memref.get_global":
                    name = path_of(op.attributes["name"])[0]
                    if name not in self._globals:
                        self._begin(op.results[0], "global", name, place_of(op.location))
                        self._globals[name] = self._buffers[op.results[0]]
                    self._buffers[op.results[0]] = self._globals[name]
                elif op.name in _ALLOCATIONS:
                    name = f"buffer {len(self.graph.buffers)}"
                    self._begin(op.results[0], "buffer", name, place_of(op.location))
                elif op.name in _DEALLOCATIONS:
                    for value in filter(is_buffer, op.operands):
                        for number in self._roots(value):
                            self.graph.buffers[number].end = max(0, len(self.graph.steps) - 1)
                elif op.name in _KINDS or op.name in _CALLS:
                    self._step(op, parent, part)

    def _step(self, op: ir.Operation, parent: int, part: str) -> None:
        kind = _KINDS.get(op.name, "call")
        step = Step(kind, _name(op), place_of(op.location), parent=parent, part=part)
        number = len(self.graph.steps)
        self.graph.steps.append(step)
        if op.name.startswith("gpu."):
            step.stream = self._stream(op)
        if kind in ("loop", "branch"):
            names = ("body", "body") if kind == "loop" else ("then", "else")
            for place, region in enumerate(op.regions):
                part = names[place] if place < len(names) else f"case {place}"
                self._region(region, number, part)
            return
        for value in self._used(op):
            for buffer in self._roots(value):
                reads, writes = _access(op, value)
                if reads and buffer not in step.reads:
                    step.reads.append(buffer)
                if writes and buffer not in step.writes:
                    step.writes.append(buffer)
        if op.name == "gpu.launch":
            step.work = work_of(op)
            step.kernels = [Kernel(step.name, _threads(list(op.operands)[-_block_sizes(op) :]))]
        elif op.name == "gpu.launch_func":
            kernel = lookup(op.opview, path_of(op.attributes["kernel"]))
            step.work = work_of(kernel) if kernel is not None else []
            step.kernels = [Kernel(step.name)]

    def _used(self, op: ir.Operation) -> list[ir.Value]:
        """Returns the buffers that an operation, or one within it, takes."""
        inner = operations_where(op, lambda _: True)
        found = {value: None for each in inner for value in each.operands if is_buffer(value)}
        return [value for value in found if self._roots(value)]

    def _stream(self, op: ir.Operation) -> str:
        """Operations that depend on one another's tokens are in one stream."""
        tokens = [each for each in op.operands if str(each.type) == "!gpu.async.token"]
        text = next((self._streams[each] for each in tokens if each in self._streams), None)
        made = [each for each in op.results if str(each.type) == "!gpu.async.token"]
        if text is None and not made:
            return "default"
        if text is None:
            text = f"number {len(set(self._streams.values()))}"
        self._streams.update(dict.fromkeys(made, text))
        return text

    def _begin(self, value: ir.Value, kind: str, name: str, place: str) -> None:
        self._buffers[value] = len(self.graph.buffers)
        element = ir.MemRefType(value.type)
        text = str(element).removeprefix("memref<").removesuffix(">")
        begin = len(self.graph.steps)
        self.graph.buffers.append(Buffer(kind, name, text, _bytes(value), begin, place=place))

    def _roots(self, value: ir.Value) -> list[int]:
        """Returns the buffer that a value is, or is a view of."""
        while value not in self._buffers:
            op = defining_op(value)
            if op is None or not len(op.operands) or not is_buffer(op.operands[0]):
                return []
            value = op.operands[0]
        return [self._buffers[value]]


def _name(op: ir.Operation) -> str:
    for key in ("kernel", "callee", "function"):
        if key in op.attributes:
            return path_of(op.attributes[key])[-1]
    return op.name.partition(".")[2] if op.name != "gpu.launch" else "launch"


def _access(op: ir.Operation, value: ir.Value) -> tuple[bool, bool]:
    """Returns whether an operation, or one within it, reads and writes a buffer; both where
    unknown.
    """
    reads = writes = False
    for use in value.uses:
        user, place = use.owner.operation, use.operand_number
        inside: ir.Operation | None = user
        while inside is not None and inside != op:
            inside = None if inside.name == "builtin.module" else inside.parent
        if inside is None:
            continue
        buffers = [n for n, each in enumerate(user.operands) if is_buffer(each)]
        if user.name in ("memref.load", "memref.store", "memref.dim", "gpu.memset"):
            reads |= user.name == "memref.load"
            writes |= user.name in ("memref.store", "gpu.memset")
        elif user.name in ("gpu.memcpy", "memref.copy"):
            is_target = (place == buffers[0]) == (user.name == "gpu.memcpy")
            reads, writes = reads or not is_target, writes or is_target
        else:
            reads = writes = True
    return reads, writes


def _block_sizes(op: ir.Operation) -> int:
    """Returns how many of the last operands begin with a gpu.launch's block sizes."""
    segments = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
    return sum(segments[4:])


def _threads(sizes: list[ir.Value]) -> list[int] | None:
    found = [constant_value(size) for size in sizes[:3]]
    known = [size for size in found if size is not None]
    return known if len(known) == 3 else None


def _bytes(value: ir.Value) -> Number | None:
    kind = ir.MemRefType(value.type)
    element = find_element_type(kind.element_type)
    if element is None or DYNAMIC in kind.shape:
        return None
    total = element.bytes
    for size in kind.shape:
        total *= size
    return total
