"""Where the memory of buffers comes from, found in programs as they are before the lowering."""

from __future__ import annotations

from ....dialects.hir.region_arguments import arguments_of, destination_of
from ....dialects.mlir import ir
from ....dialects.records import dataclass
from ...pass_base import fail
from ...walking import operations_where
from ..memory.owners import callee_of, is_shared_memory

# The support library's numbers of the kinds of memory.
MEMORY_KINDS = {"device": 0, "pinned": 1, "managed": 2, "symmetric": 3}
# What stands for memory that a team shares, which has functions of its own.
OF_A_TEAM = 4

# Where the kind of memory is noted at a hir.deallocate.
_FREED = "hirc.freed_memory"

# Operations whose result lies in the memory of their first operand.
_SAME_MEMORY = (
    "hir.select",
    "hir.slice",
    "hir.permute",
    "hir.reshape",
    "hir.expand",
    "hir.reuse",
    "memref.cast",
    "memref.collapse_shape",
    "memref.expand_shape",
    "memref.reinterpret_cast",
    "memref.subview",
    "memref.transpose",
    "builtin.unrealized_conversion_cast",
)


@dataclass(frozen=True)
class Origin:
    """Where an output's memory comes from.

    "allocated": the caller may hand it in; "input": it is input number `input`; "view": neither, it
    is there when the program returns.
    """

    kind: str
    input: int = 0


class Origins:
    """Follows buffers to their memory. All is found when it is made.

    What a hir.deallocate frees is noted at the operation.
    """

    def __init__(self, module: ir.Operation) -> None:
        self._outputs: dict[str, list[Origin]] = {}
        self._output_of: dict[ir.Value, int] = {}
        self._pending: set[str] = set()
        programs = [
            op.operation for op in module.regions[0].blocks[0] if op.operation.name == "hir.program"
        ]
        for program in programs:
            self._outputs_of(program)
        for child in module.regions[0].blocks[0]:
            if child.operation.name in ("hir.program", "hir.launcher"):
                for op in operations_where(child.operation, _is_deallocation):
                    self._note_deallocation(op)

    def outputs(self, program: str) -> list[Origin]:
        """Returns the origins of a program's outputs."""
        return self._outputs[program]

    def output_of(self, buffer: ir.Value) -> int | None:
        """Returns the output that a hir.allocate or hir.result gives the buffer for; else None."""
        return self._output_of.get(buffer)

    @staticmethod
    def memory_kind(deallocation: ir.Operation) -> int | None:
        """Returns the kind of memory that a hir.deallocate frees; None where it is the caller's."""
        noted = deallocation.attributes
        return ir.IntegerAttr(noted[_FREED]).value if _FREED in noted else None

    def _note_deallocation(self, op: ir.Operation) -> None:
        kind = self._kind(op.operands[0])
        if kind is not None:
            number = ir.IntegerType.get_signless(32, op.context)
            op.attributes[_FREED] = ir.IntegerAttr.get(number, kind)

    def _outputs_of(self, program: ir.Operation) -> list[Origin]:
        name = ir.StringAttr(program.attributes["sym_name"]).value
        if name in self._pending:  # calls itself
            return []
        if name not in self._outputs:
            self._pending.add(name)
            outputs = [
                op.operation.operands[0]
                for op in program.regions[0].blocks[0]
                if op.operation.name == "hir.output"
            ]
            self._outputs[name] = [
                self._origin(value, number, program) for number, value in enumerate(outputs)
            ]
            self._pending.discard(name)
        return self._outputs[name]

    def _origin(self, value: ir.Value, number: int, program: ir.Operation) -> Origin:
        if isinstance(value, ir.BlockArgument):
            return Origin("input", value.arg_number)
        op = value.owner
        assert not isinstance(op, ir.Block)
        op = op.operation
        if op.parent == program and value not in self._output_of and self._can_be_given(op):
            self._output_of[value] = number
            return Origin("allocated")
        return Origin("view")

    def _can_be_given(self, op: ir.Operation) -> bool:
        """Returns whether the operation's result may lie in a caller's buffer."""
        if op.name == "hir.allocate":
            return True
        source = op.operands[0].owner if op.name == "hir.result" else None
        if source is None or isinstance(source, ir.Block) or source.operation.name != "hir.call":
            return False
        index = ir.IntegerAttr(op.attributes["index"]).value
        callee = callee_of(source.operation)
        if callee is None or _destination(source.operation, index) is not None:
            return False
        origins = self._outputs_of(callee)
        return index < len(origins) and origins[index].kind == "allocated"

    def _kind(self, value: ir.Value) -> int | None:
        value = _first(value)
        op = value.owner
        if isinstance(op, ir.Block):
            return None
        op = op.operation
        if op.name == "hir.allocate":
            if value in self._output_of:
                return None
            return memory_number(op)
        if op.name == "hir.result":
            return None if value in self._output_of else self._kind_of_result(op)
        if not op.name.startswith("hir."):  # those are found when they are to be lowered
            fail(op, f"memory that '{op.name}' gives cannot be freed by hir.deallocate")
        return None

    def _kind_of_result(self, op: ir.Operation) -> int | None:
        source = op.operands[0].owner
        assert not isinstance(source, ir.Block)
        source = source.operation
        index = ir.IntegerAttr(op.attributes["index"]).value
        if source.name == "hir.if":
            return self._kind_of_branches(source, index)
        callee = callee_of(source) if source.name == "hir.call" else None
        if callee is None:
            return None
        destination = _destination(source, index)
        if destination is not None:
            return self._kind(destination)
        value = _outputs(callee.regions[0].blocks[0])[index]
        if isinstance(value, ir.BlockArgument):
            return self._kind(arguments_of(source.regions[0])[value.arg_number].operands[0])
        if self._outputs_of(callee)[index].kind == "allocated":
            memory = value.owner
            assert not isinstance(memory, ir.Block)
            return self._kind_when_allocated(memory.operation)
        return self._kind(value)

    def _kind_of_branches(self, op: ir.Operation, index: int) -> int | None:
        kinds = [self._kind(_outputs(region.blocks[0])[index]) for region in op.regions]
        if kinds[0] != kinds[1]:
            fail(
                op,
                f"output {index} of the branches lies in different kinds of memory; let both "
                "allocate the same kind, or neither",
            )
        return kinds[0]

    def _kind_when_allocated(self, op: ir.Operation) -> int | None:
        """Returns the kind of memory of a program's output where no buffer was handed in."""
        if op.name == "hir.result":
            return self._kind_of_result(op)
        return memory_number(op)


def _is_deallocation(op: ir.Operation) -> bool:
    return op.name == "hir.deallocate"


def _first(value: ir.Value) -> ir.Value:
    """Returns the value whose memory is reused, or viewed, step by step as this one."""
    while not isinstance(value.owner, ir.Block) and value.owner.operation.name in _SAME_MEMORY:
        value = value.owner.operation.operands[0]
    return value


def memory_number(op: ir.Operation | ir.OpView) -> int:
    """Returns the kind of memory that a hir.allocate asks for."""
    if is_shared_memory(op):
        return OF_A_TEAM
    name = ir.StringAttr(op.attributes["memory"]).value if "memory" in op.attributes else "device"
    return MEMORY_KINDS[name]


def _destination(call: ir.Operation, index: int) -> ir.Value | None:
    for argument in arguments_of(call.regions[0]):
        if destination_of(argument) == index:
            return argument.operands[0]
    return None


def _outputs(block: ir.Block) -> list[ir.Value]:
    return [op.operation.operands[0] for op in block if op.operation.name == "hir.output"]
