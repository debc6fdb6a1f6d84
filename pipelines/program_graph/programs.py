"""Host programs as graphs: read where their memory is known, and again where they have kernels."""

from __future__ import annotations

import re
from itertools import count

from ...dialects.hir.program_inputs import input_name, is_weight
from ...dialects.hir.symbols import lookup, path_of
from ...dialects.mlir import ir
from ..constants import constant_value
from ..hir.memory.effects import effects_of
from ..hir.memory.formula import Formula
from ..hir.memory.owners import Owners, Root, is_buffer, outputs_of
from ..hir.memory.peak_memory import follow_memory
from ..hir.memory.scratch_memory import scratch_of_runs
from ..hir.memory.size_formulas import SizeFormulas
from ..hir.streams.order import CALLER, Stream, StreamOrder
from ..schedules.launchers import OPERATION_NUMBER
from ..walking import is_used, operations_where
from .graph import Buffer, GraphProgram, Kernel, Step, place_of, work_of

_KINDS = {
    "hir.launch": "kernel",
    "hir.library_convolution": "library",
    "hir.library_matmul": "library",
    "hir.for": "loop",
    "hir.if": "branch",
    "hir.call": "call",
    "hir.host_call": "call",
    "hir.communicate": "communication",
    "hir.coalesce": "communication",
    "hir.put": "communication",
    "hir.get": "communication",
    "hir.barrier": "communication",
    "hir.wait_signal": "communication",
    "hir.wait": "communication",
    "hir.wait_stream": "stream",
    "hir.record": "stream",
    "hir.wait_event": "stream",
    "hir.synchronize": "stream",
    "memref.load": "host",
    "memref.store": "host",
    "memref.copy": "host",
    "cf.assert": "check",
}


def read_programs(module: ir.Operation) -> list[GraphProgram]:
    """Returns the graphs of a module's host programs, when all of their memory is explicit."""
    numbers = count()
    return [
        _Reader(op.operation, numbers).graph
        for op in module.regions[0].blocks[0]
        if op.operation.name == "hir.program"
    ]


def add_kernels(programs: list[GraphProgram], module: ir.Operation) -> None:
    """Adds what the operations of the programs became: kernels, and memory of their own."""
    by_number = {
        step.number: (program, step)
        for program in programs
        for step in program.steps
        if isinstance(step, _Work)
    }
    children = [op.operation for op in module.regions[0].blocks[0]]
    launchers = {
        op.attributes["sym_name"].value: operations_where(op, lambda one: one.name == "hir.launch")
        for op in children
        if op.name == "hir.launcher"
    }
    for op in children:
        if op.name != "hir.program":
            continue
        scratch = scratch_of_runs(op)
        for run in operations_where(op, lambda one: OPERATION_NUMBER in one.attributes):
            program, step = by_number[ir.IntegerAttr(run.attributes[OPERATION_NUMBER]).value]
            launches = launchers[path_of(run.attributes["launcher"])[0]]
            step.kernels += [_kernel(launch) for launch in launches]
            if step.kernels:
                step.name = re.sub(r"_\d+$", "", step.kernels[0].name)
            step.scratch = [program.number(peak) for peak in scratch.get(run, [])]


class _Work(Step):
    """A step that becomes kernels; `number` is that of its operation, of all in the module."""

    number: int = -1


class _Reader:
    """Reads one program."""

    def __init__(self, program: ir.Operation, numbers: count[int]) -> None:
        self.graph = GraphProgram(ir.StringAttr(program.attributes["sym_name"]).value)
        self._numbers = numbers
        self._owners = Owners(program)
        self._order = StreamOrder(self._owners)
        self._memory = follow_memory(program)
        self._sizes = SizeFormulas()
        self._buffers: dict[Root, int] = {}
        self._partial: list[set[int]] = []
        self._outputs: dict[Root, str] = {}
        for place, op in enumerate(outputs_of(self._owners.block)):
            named = op.attributes.get("name")
            name = named.value if isinstance(named, ir.StringAttr) else f"output{place}"
            for root in self._owners.outputs()[place]:
                self._outputs.setdefault(root, name)
        for argument in self._owners.block.arguments:
            if is_buffer(argument):
                kind = "weight" if is_weight(argument) else "input"
                held = self._sizes.bytes_of_packed(argument)
                self._begin(Root(argument), kind, input_name(program, argument.arg_number), held)
        self._block(self._owners.block, -1, "")
        self.graph.connect(self._partial)

    def _block(self, block: ir.Block, parent: int, part: str) -> None:
        before = len(self.graph.buffers) if parent >= 0 else 0
        for view in block:
            op = view.operation
            if op.name in ("hir.allocate", "hir.reuse"):
                if op.name == "hir.reuse":
                    self._end(op.operands[0])
                self._made(op)
            elif op.name == "hir.deallocate":
                self._end(op.operands[0])
            elif op.name.startswith("linalg.") or op.name in _KINDS:
                self._step(op, parent, part)
        for buffer in self.graph.buffers[before:]:
            if buffer.end is None:
                buffer.end = len(self.graph.steps) - 1

    def _step(self, op: ir.Operation, parent: int, part: str) -> None:
        kind = _KINDS.get(op.name, "kernel")
        steps = self.graph.steps
        last = (steps[-1].kind, steps[-1].parent, steps[-1].part) if steps else None
        if kind == "check" and last == (kind, parent, part):
            steps[-1].notes.append(ir.StringAttr(op.attributes["msg"]).value)
            return
        make = _Work if op.name.startswith("linalg.") else Step
        step = make(kind, _name(op), place_of(op.location), parent=parent, part=part)
        if isinstance(step, _Work):
            step.number = next(self._numbers)
            step.work = work_of(op)
        if kind not in ("check", "host"):
            step.stream = _stream_text(self._order.work_stream(op))
        step.held = [self.graph.number(held) for held in self._memory.at[op]]
        number = len(steps)
        steps.append(step)
        self._partial.append(set())
        effects = effects_of(op)
        reads = (*effects.reads, *_accumulated(op))
        for values, found in ((reads, step.reads), (effects.writes, step.writes)):
            for value in values:
                roots = self._owners.roots(value)
                found += [each for root in roots for each in [self._of(root)] if each not in found]
                if found is step.writes and (len(roots) > 1 or Root(value) not in roots):
                    self._partial[number].update(self._of(root) for root in roots)
        match op.name:
            case "hir.launch":
                step.kernels = [_kernel(op)]
                step.work = _kernel_work(op)
            case "cf.assert":
                step.notes.append(ir.StringAttr(op.attributes["msg"]).value)
            case "hir.wait_stream":
                waiter, other = (_stream_text(self._order.stream(each)) for each in op.operands)
                step.stream = waiter
                step.notes.append(f"waits for stream: {other}")
            case "hir.for":
                bounds = [str(self._sizes.index(operand)) for operand in list(op.operands)[:3]]
                step.notes.append("from {} to {} by {}".format(*bounds))
                if any(view.operation.name == "hir.stop_loop" for view in op.regions[0].blocks[0]):
                    step.notes.append("until a condition is true")
                self._block(op.regions[0].blocks[0], number, "body")
            case "hir.if":
                for region, name in zip(op.regions, ("then", "else"), strict=True):
                    self._block(region.blocks[0], number, name)
            case _:
                pass
        self._made(op)

    def _made(self, op: ir.Operation) -> None:
        for root in self._owners.made_by(op):
            kind = "output" if root in self._outputs else "buffer"
            name = self._outputs.get(root, f"buffer {len(self.graph.buffers)}")
            self._begin(root, kind, name, self._memory.held.get(root, Formula()))
            if op.name == "hir.reuse":
                names = [self.graph.buffers[self._of(r)].name for r in self._roots_of(op)]
                self.graph.buffers[-1].note = f"in the memory of {', '.join(sorted(names))}"

    def _roots_of(self, op: ir.Operation) -> list[Root]:
        return list(self._owners.roots(op.operands[0]))

    def _begin(self, root: Root, kind: str, name: str, held: Formula) -> None:
        self._buffers[root] = len(self.graph.buffers)
        self.graph.buffers.append(
            Buffer(
                kind,
                name,
                self._type(root.value) if is_buffer(root.value) else "",
                self.graph.number(held),
                # What a hir.if or hir.call gives begins with it.
                max(0, len(self.graph.steps) - (root.index is not None)),
                place="" if root.is_input else place_of(root.maker.location),
            )
        )

    def _end(self, value: ir.Value) -> None:
        for root in self._owners.roots(value):
            buffer = self.graph.buffers[self._of(root)]
            buffer.end = max(len(self.graph.steps) - 1, buffer.begin)

    def _of(self, root: Root) -> int:
        if root not in self._buffers:
            self._begin(root, "buffer", f"buffer {len(self.graph.buffers)}", Formula())
        return self._buffers[root]

    def _type(self, value: ir.Value) -> str:
        kind = ir.MemRefType(value.type)
        dims = [str(self._sizes.dim(value, axis)) for axis in range(kind.rank)]
        return " ".join([" x ".join(dims), str(kind.element_type)]).strip()


def _accumulated(op: ir.Operation) -> list[ir.Value]:
    """Returns the results of a linalg operation that it reads as well."""
    if op.name != "linalg.generic":
        return []
    inputs, _ = ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])
    arguments = op.regions[0].blocks[0].arguments
    operands = list(op.operands)
    return [operands[n] for n in range(inputs, len(operands)) if is_used(arguments[n])]


def _name(op: ir.Operation) -> str:
    if op.name == "hir.library_matmul":
        return "cuBLASLt product"
    if op.name == "hir.library_convolution":
        return "cuDNN convolution"
    if op.name == "hir.launch":
        return path_of(op.attributes["kernel"])[-1]
    for key in ("callee", "kind"):
        if key in op.attributes:
            word = op.attributes[key]
            if isinstance(word, ir.FlatSymbolRefAttr | ir.StringAttr):
                return f"{op.name.partition('.')[2]} {word.value}"
    return op.name.partition(".")[2]


def _stream_text(stream: Stream) -> str:
    match stream:
        case ("name", str(name)):
            return name
        case ("value", ir.Value() as value):
            owner = value.owner
            number = None
            if not isinstance(owner, ir.Block) and owner.operation.name == "hir.stream":
                operands = list(owner.operation.operands)
                number = constant_value(operands[0]) if operands else None
            return "by number" if number is None else f"number {number}"
        case ("iteration", _):
            return "of the iteration"
        case _:
            assert stream == CALLER
            return "caller's"


def _kernel(launch: ir.Operation) -> Kernel:
    sizes = [constant_value(size) for size in list(launch.operands)[3:6]]
    known = [size for size in sizes if size is not None]
    return Kernel(path_of(launch.attributes["kernel"])[-1], known if len(known) == 3 else None)


def _kernel_work(launch: ir.Operation) -> list[tuple[str, list[str]]]:
    found = lookup(launch.opview, path_of(launch.attributes["kernel"]))
    if found is not None and found.name == "hir.kernel":
        found = lookup(found.opview, path_of(found.attributes["function"]))
    return work_of(found) if found is not None else []
