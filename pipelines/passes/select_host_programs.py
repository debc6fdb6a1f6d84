"""select-host-programs: finds the functions that are host programs of their own."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.hir.element_types import ELEMENT_TYPES, find_element_type
from ...dialects.hir.values import not_a_buffer
from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..attributes import function_type
from ..pass_base import Pass, fail, register
from ..program_calls import check_calls
from ..symbols import symbol_name
from ..updates import check_updates, updates_of
from ..walking import operations_where

MARK = "hir.program"
_READ_ONLY = "bufferization.writable"
_ARGUMENT_ATTRIBUTES = "arg_attrs"


@register
@dataclass(frozen=True)
class SelectHostPrograms(Pass):
    """Marks the functions that convert-func-to-hir is to take.

    They are those that take or return tensors, what only they call, and, for an `executable`, the
    `entry` where it takes buffers and has no gpu operation of its own. Bufferization may not write
    to what a hir.program or callers from outside hand to them, but where a result updates that.
    """

    name: ClassVar[str] = "select-host-programs"
    entry: str = "main"
    executable: bool = True

    def run(self, op: ir.Operation) -> None:
        programs = host_programs(op, self.entry if self.executable else None)
        check_calls(programs)
        check_updates(op, programs)
        called = _called_by_programs(op)
        for function in programs:
            _check_types(function)
            function.attributes[MARK] = ir.UnitAttr.get()
            if "sym_visibility" not in function.attributes or symbol_name(function) in called:
                _keep_inputs(function)


def host_programs(module: ir.Operation, entry: str | None) -> list[ir.Operation]:
    """Returns the functions of a module that are host programs; `entry` may take buffers."""
    functions = [
        op.operation for op in module.regions[0].blocks[0] if op.operation.name == "func.func"
    ]
    chosen = [
        function
        for function in functions
        if list(function.regions[0].blocks)
        and (_has_tensors(function) or _is_buffer_entry(function, entry))
    ]
    return [*chosen, *_called_only_by(chosen, functions)] if chosen else []


def _called_by_programs(module: ir.Operation) -> set[str]:
    """Returns the names of the functions and programs that programs of hir call."""
    return {
        ir.FlatSymbolRefAttr(call.attributes["callee"]).value
        for program in module.regions[0].blocks[0]
        if program.operation.name == "hir.program"
        for call in operations_where(program.operation, lambda inner: inner.name == "hir.call")
    }


def _called_only_by(
    chosen: list[ir.Operation], functions: list[ir.Operation]
) -> list[ir.Operation]:
    """Returns the other functions that `chosen`, or these, call, and no other function does."""
    callers: dict[str, set[str]] = {}
    for function in functions:
        for call in operations_where(function, lambda inner: inner.name == "func.call"):
            callee = ir.FlatSymbolRefAttr(call.attributes["callee"]).value
            callers.setdefault(callee, set()).add(symbol_name(function))
    names = {symbol_name(function) for function in chosen}
    found: list[ir.Operation] = []
    is_growing = True
    while is_growing:
        is_growing = False
        for function in functions:
            name = symbol_name(function)
            has_callers = name in callers and callers[name] <= names | {name}
            if name not in names and has_callers and list(function.regions[0].blocks):
                found.append(function)
                names.add(name)
                is_growing = True
    return found


def _check_types(function: ir.Operation) -> None:
    """Refuses values that no host program can hold."""
    name = symbol_name(function)
    kind = function_type(function)
    for role, kinds in (("argument", kind.inputs), ("result", kind.results)):
        for place, each in enumerate(kinds):
            _check_type(function, f"{role} {place} of @{name}", each)
    for op in operations_where(function, lambda inner: len(inner.results) > 0):
        for result in op.results:
            _check_type(op, f"a result of {op.name}", result.type)


def _check_type(op: ir.Operation, what: str, kind: ir.Type) -> None:
    if isinstance(kind, ir.MemRefType):
        reason = not_a_buffer(kind)
        if reason is not None:
            fail(op, f"{what} is {kind}, which {reason}")
    if isinstance(kind, ir.UnrankedTensorType | ir.UnrankedMemRefType):
        fail(op, f"{what} is {kind}, of open rank: give it a rank; its sizes may stay open")
    if not isinstance(kind, ir.RankedTensorType):
        return
    if kind.encoding is not None:
        fail(op, f"{what} is {kind}: tensors of a program are dense and have no encoding")
    if find_element_type(kind.element_type) is None:
        way_out = "; use i64" if isinstance(kind.element_type, ir.IndexType) else ""
        fail(
            op,
            f"{what} is {kind}, whose elements buffers cannot hold{way_out} "
            f"(they hold {', '.join(ELEMENT_TYPES)})",
        )


def _has_tensors(function: ir.Operation) -> bool:
    kind = function_type(function)
    tensors = (ir.RankedTensorType, ir.UnrankedTensorType)
    return any(isinstance(item, tensors) for item in [*kind.inputs, *kind.results])


def _is_buffer_entry(function: ir.Operation, entry: str | None) -> bool:
    if symbol_name(function) != entry:
        return False
    takes_buffers = any(isinstance(item, ir.MemRefType) for item in function_type(function).inputs)
    return takes_buffers and not operations_where(function, lambda op: op.name.startswith("gpu."))


def _keep_inputs(function: ir.Operation) -> None:
    """Marks the tensors among a function's arguments as not to be written, but for updates."""
    updated = updates_of(function).values()
    kinds = list(function_type(function).inputs)
    given = function.attributes
    old = (
        list(ir.ArrayAttr(given[_ARGUMENT_ATTRIBUTES]))
        if _ARGUMENT_ATTRIBUTES in given
        else [ir.DictAttr.get({}) for _ in kinds]
    )
    new: list[ir.Attribute] = []
    for place, (kind, attribute) in enumerate(zip(kinds, old, strict=True)):
        entries = {item.name: item.attr for item in ir.DictAttr(attribute)}
        if isinstance(kind, ir.RankedTensorType) and place not in updated:
            entries.setdefault(_READ_ONLY, ir.BoolAttr.get(False))
        new.append(ir.DictAttr.get(entries))
    given[_ARGUMENT_ATTRIBUTES] = ir.ArrayAttr.get(new)
