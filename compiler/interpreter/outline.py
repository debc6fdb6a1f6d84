"""What is known of a program before it runs: names, aliases, and where its outputs come from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ...dialects.hir.program_inputs import input_name
from ...dialects.mlir import ir
from . import fault
from .nested import operations_in

VIEWS = frozenset(
    {
        "hir.select",
        "hir.slice",
        "hir.permute",
        "hir.reshape",
        "hir.expand",
        "memref.subview",
        "memref.cast",
        "memref.collapse_shape",
        "memref.expand_shape",
        "memref.extract_strided_metadata",
        "memref.reinterpret_cast",
        "builtin.unrealized_conversion_cast",
    }
)


@dataclass(frozen=True)
class Named:
    """An input as `inputs` declares it: sizes are numbers, names, or None where open."""

    name: str
    type: ir.Type
    sizes: tuple[int | str | None, ...] = ()
    alignment: int = 1


@dataclass(eq=False)
class Outline:
    """A program, read once."""

    op: ir.Operation
    name: str = ""
    inputs: list[Named] = field(default_factory=list[Named])
    output_names: list[str] = field(default_factory=list[str])
    output_types: list[ir.Type] = field(default_factory=list[ir.Type])
    outputs: list[ir.Operation] = field(default_factory=list[ir.Operation])
    # The values that are freed somewhere in the program, by what made them.
    freed: set[ir.Value] = field(default_factory=set[ir.Value])

    def _named(self, name: str) -> list[ir.Operation]:
        return [op for op in operations_in(self.op) if op.name == name]

    def __post_init__(self) -> None:
        self.name = ir.StringAttr(self.op.attributes["sym_name"]).value
        self._aliases: dict[ir.Value, ir.Value] = {}
        self._outputs: dict[ir.Value, int] = {}
        function_type = ir.FunctionType(ir.TypeAttr(self.op.attributes["function_type"]).value)
        self.output_types = list(function_type.results)
        self.inputs = _inputs_of(self.op, self.block)
        for op in self._named("hir.alias"):
            self._aliases[op.operands[0]] = op.operands[1]
        self._read_outputs()
        for op in self._named("hir.deallocate"):
            self.freed.update(self.roots(op.operands[0]))

    @property
    def block(self) -> ir.Block:
        return self.op.regions[0].blocks[0]

    def alias_target(self, value: ir.Value) -> ir.Value | None:
        """The buffer at the end of the chain of aliases that starts at `value`."""
        target, seen = self._aliases.get(value), [value]
        while target is not None and target in self._aliases:
            if target in seen:
                owner = value.owner
                assert isinstance(owner, (ir.Operation, ir.OpView))
                fault.fail(owner, "hir.alias makes this buffer an alias of itself")
            seen.append(target)
            target = self._aliases[target]
        return target

    def output_of(self, value: ir.Value) -> int | None:
        """Returns the number of the output that `value`, a fresh buffer, is."""
        return self._outputs.get(value)

    def roots(self, value: ir.Value) -> Iterator[ir.Value]:
        """Yields what made the memory of a buffer: through views, aliases and branches."""
        alias = self.alias_target(value)
        if alias is not None:
            yield from self.roots(alias)
            return
        owner = _defining(value)
        if owner is None:
            yield value
        elif owner.name in VIEWS:
            yield from self.roots(owner.operands[0])
        elif owner.name == "hir.result" and (branch := _defining(owner.operands[0])) is not None:
            if branch.name != "hir.if":
                yield value
                return
            number = ir.IntegerAttr(owner.attributes["index"]).value
            for region in branch.regions:
                outputs = [op for op in region.blocks[0].operations if _is_output(op.operation)]
                yield from self.roots(outputs[number].operands[0])
        else:
            yield value

    def is_input(self, value: ir.Value) -> bool:
        """Returns whether a buffer is in the memory of an input."""
        return any(isinstance(root.owner, ir.Block) for root in self.roots(value))

    def input_of(self, number: int) -> int | None:
        """Returns the number of the input that an output is; None where it is none, or a part."""
        value = self.outputs[number].operands[0]
        if not isinstance(value.type, ir.MemRefType) or self.is_view(value):
            return None
        (root, *others) = self.roots(value)
        is_one = not others and isinstance(root.owner, ir.Block)
        return ir.BlockArgument(root).arg_number if is_one else None

    def is_view(self, value: ir.Value) -> bool:
        """Returns whether a buffer is a view of another, and so cannot be handed in."""
        owner = _defining(value)
        return owner is not None and owner.name in VIEWS and self.alias_target(value) is None

    def _read_outputs(self) -> None:
        self.outputs = [op.operation for op in self.block.operations if _is_output(op.operation)]
        for number, op in enumerate(self.outputs):
            named = "name" in op.attributes
            self.output_names.append(
                ir.StringAttr(op.attributes["name"]).value if named else f"output{number}"
            )
            value = op.operands[0]
            if isinstance(value.type, ir.MemRefType) and not self.is_view(value):
                for root in self.roots(value):
                    self._outputs.setdefault(root, number)
        for op in [op for op in operations_in(self.op) if "output" in op.attributes]:
            if op.name == "hir.allocate":
                self._outputs[op.results[0]] = ir.IntegerAttr(op.attributes["output"]).value


def _is_output(op: ir.Operation) -> bool:
    return op.name == "hir.output"


def _defining(value: ir.Value) -> ir.Operation | None:
    owner = value.owner
    return None if isinstance(owner, ir.Block) else owner.operation


def _inputs_of(op: ir.Operation, block: ir.Block) -> list[Named]:
    described: list[ir.DictAttr] = []
    if "inputs" in op.attributes:
        described = [ir.DictAttr(item) for item in ir.ArrayAttr(op.attributes["inputs"])]
    inputs: list[Named] = []
    for number, argument in enumerate(block.arguments):
        entry = described[number] if number < len(described) else ir.DictAttr.get({}, op.context)
        rank = argument.type.rank if isinstance(argument.type, ir.MemRefType) else 0
        sizes: tuple[int | str | None, ...] = (None,) * rank
        if "sizes" in entry:
            sizes = tuple(_size(item) for item in ir.ArrayAttr(entry["sizes"]))
        inputs.append(
            Named(
                input_name(op, number),
                argument.type,
                sizes,
                ir.IntegerAttr(entry["alignment"]).value if "alignment" in entry else 1,
            )
        )
    return inputs


def _size(item: ir.Attribute) -> int | str:
    if isinstance(item, ir.StringAttr):
        return item.value
    return ir.IntegerAttr(item).value
