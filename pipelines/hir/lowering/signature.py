"""The function that a program becomes, and what describes it to callers."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.hir.layout import DYNAMIC, any_layout
from ....dialects.hir.program_inputs import input_name
from ....dialects.mlir import ir
from ....dialects.records import dataclass
from ...attributes import entries_of, function_type, i64_attribute
from ...body_names import BODY_PREFIX
from ..extents import extent_of
from ..memory.owners import outputs_of
from .origins import Origin
from .stored_types import stored_type


@dataclass(frozen=True)
class Signature:
    """The types of a program's inputs and outputs as its function has them, and their names.

    `size_names` holds a name for each dim of each input, "" for none.
    """

    function: str
    inputs: list[ir.Type]
    outputs: list[ir.Type]
    input_names: list[str]
    output_names: list[str]
    size_names: list[list[str]]

    @property
    def buffer_outputs(self) -> list[int]:
        """The numbers of the outputs that the function has an argument for."""
        return [
            number for number, kind in enumerate(self.outputs) if isinstance(kind, ir.MemRefType)
        ]


def signature_of(program: ir.Operation) -> Signature:
    """Returns the signature of a hir.program: inputs as declared, buffer outputs of open layout."""
    name = ir.StringAttr(program.attributes["sym_name"]).value
    declared, described = function_type(program), input_descriptions(program)
    return Signature(
        BODY_PREFIX + name,
        [stored_type(kind) for kind in declared.inputs],
        [_opened(stored_type(kind)) for kind in declared.results],
        [ir.StringAttr(item["name"]).value for item in described],
        _output_names(program),
        [_size_names(item) for item in described],
    )


def input_descriptions(program: ir.Operation) -> list[ir.DictAttr]:
    """For each input a dictionary of name, type, sizes and alignment, all filled in."""
    given: Sequence[ir.Attribute] = (
        list(ir.ArrayAttr(program.attributes["inputs"])) if "inputs" in program.attributes else []
    )
    descriptions: list[ir.DictAttr] = []
    for number, kind in enumerate(function_type(program).inputs):
        entry = entries_of(given[number]) if number < len(given) else {}
        full = {
            "name": ir.StringAttr.get(input_name(program, number)),
            "alignment": i64_attribute(1),
            **({"sizes": _sizes(kind)} if isinstance(kind, ir.MemRefType) else {}),
            **entry,
            "type": ir.TypeAttr.get(kind),
        }
        descriptions.append(ir.DictAttr.get(full))
    return descriptions


def output_descriptions(program: ir.Operation, origins: Sequence[Origin]) -> list[ir.DictAttr]:
    """For each output a dictionary of name, type, origin, and names of sizes that inputs have."""
    kinds = function_type(program).results
    outputs = outputs_of(program.regions[0].blocks[0])
    values = [op.operands[0] for op in outputs]
    descriptions: list[ir.DictAttr] = []
    for name, kind, origin, value, output in zip(
        _output_names(program), kinds, origins, values, outputs, strict=True
    ):
        entry: dict[str, ir.Attribute] = {
            "name": ir.StringAttr.get(name),
            "type": ir.TypeAttr.get(kind),
        }
        if "unsigned" in output.attributes:
            entry["unsigned"] = ir.UnitAttr.get()
        if isinstance(kind, ir.MemRefType):
            entry["origin"] = ir.StringAttr.get(origin.kind)
            if kind.rank:
                entry["sizes"] = _output_sizes(kind, value)
            if origin.kind == "input":
                entry["input"] = i64_attribute(origin.input)
        descriptions.append(ir.DictAttr.get(entry))
    return descriptions


def _output_names(program: ir.Operation) -> list[str]:
    outputs = [
        op.operation for op in program.regions[0].blocks[0] if op.operation.name == "hir.output"
    ]
    return [
        ir.StringAttr(op.attributes["name"]).value if "name" in op.attributes else f"output{number}"
        for number, op in enumerate(outputs)
    ]


def _opened(kind: ir.Type) -> ir.Type:
    return any_layout(kind) if isinstance(kind, ir.MemRefType) else kind


def _sizes(kind: ir.MemRefType) -> ir.ArrayAttr:
    return ir.ArrayAttr.get(
        [ir.StringAttr.get("") if size == DYNAMIC else i64_attribute(size) for size in kind.shape]
    )


def _output_sizes(kind: ir.MemRefType, value: ir.Value) -> ir.ArrayAttr:
    """Returns the sizes of an output; one that an input's named size says has that name."""
    sizes = list(_sizes(kind))
    for axis, size in enumerate(kind.shape):
        extent = extent_of(value, axis)
        if size == DYNAMIC and isinstance(extent, tuple) and extent[0] == "name":
            sizes[axis] = ir.StringAttr.get(str(extent[1]))
    return ir.ArrayAttr.get(sizes)


def _size_names(description: ir.DictAttr) -> list[str]:
    if "sizes" not in description:
        return []
    sizes: Sequence[ir.Attribute] = list(ir.ArrayAttr(description["sizes"]))
    return [size.value if isinstance(size, ir.StringAttr) else "" for size in sizes]
