"""select-host-programs: finds the functions that are host programs of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...dialects.mlir import ir
from ..pass_base import Pass, register
from ..walking import operations_where

MARK = "hir.program"
_READ_ONLY = "bufferization.writable"
_ARGUMENT_ATTRIBUTES = "arg_attrs"


@register
@dataclass(frozen=True)
class SelectHostPrograms(Pass):
    """Marks the functions that convert-func-to-hir is to take.

    They are those that take or return tensors and, for an `executable`, the `entry` where it takes
    buffers and has no gpu operation of its own. Bufferization may not write to what callers from
    outside hand to them.
    """

    name: ClassVar[str] = "select-host-programs"
    entry: str = "main"
    executable: bool = True

    def run(self, op: ir.Operation) -> None:
        for function in host_programs(op, self.entry if self.executable else None):
            function.attributes[MARK] = ir.UnitAttr.get()
            if "sym_visibility" not in function.attributes:
                _keep_inputs(function)


def host_programs(module: ir.Operation, entry: str | None) -> list[ir.Operation]:
    """The functions of a module that are host programs; `entry` may take buffers."""
    return [
        op.operation
        for op in module.regions[0].blocks[0]
        if op.operation.name == "func.func"
        and list(op.operation.regions[0].blocks)
        and (_has_tensors(op.operation) or _is_buffer_entry(op.operation, entry))
    ]


def _kind(function: ir.Operation) -> ir.FunctionType:
    return ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)


def _has_tensors(function: ir.Operation) -> bool:
    kind = _kind(function)
    return any(isinstance(item, ir.RankedTensorType) for item in [*kind.inputs, *kind.results])


def _is_buffer_entry(function: ir.Operation, entry: str | None) -> bool:
    if ir.StringAttr(function.attributes["sym_name"]).value != entry:
        return False
    takes_buffers = any(isinstance(item, ir.MemRefType) for item in _kind(function).inputs)
    return takes_buffers and not operations_where(function, lambda op: op.name.startswith("gpu."))


def _keep_inputs(function: ir.Operation) -> None:
    """Marks the tensors among a function's arguments as not to be written."""
    kinds = list(_kind(function).inputs)
    given = function.attributes
    old = (
        list(ir.ArrayAttr(given[_ARGUMENT_ATTRIBUTES]))
        if _ARGUMENT_ATTRIBUTES in given
        else [ir.DictAttr.get({}) for _ in kinds]
    )
    new: list[ir.Attribute] = []
    for kind, attribute in zip(kinds, old, strict=True):
        entries = {item.name: item.attr for item in ir.DictAttr(attribute)}
        if isinstance(kind, ir.RankedTensorType):
            entries.setdefault(_READ_ONLY, ir.BoolAttr.get(False))
        new.append(ir.DictAttr.get(entries))
    given[_ARGUMENT_ATTRIBUTES] = ir.ArrayAttr.get(new)
