"""run-async-in-order: the async dialect's regions are executed where they stand."""

from __future__ import annotations

import re
from typing import ClassVar

from ...dialects.mlir import arith, ir
from ...dialects.records import dataclass
from ..pass_base import Pass, fail, register
from ..walking import host_operations_where, is_used

_VALUE = re.compile(r"!async\.value<(.*)>$", re.DOTALL)
_PLAIN = ("!async.token", "!async.group")
_CALLS = {"async.call": "func.call", "async.return": "func.return", "async.func": "func.func"}
_TAKEN = (
    *("async.execute", "async.await", "async.await_all", "async.yield"),
    *("async.create_group", "async.add_to_group", *_CALLS),
)


@register
@dataclass(frozen=True)
class RunAsyncInOrder(Pass):
    """Puts what async.execute would run elsewhere where it stands, which is one of its orders.

    Whatever a region waits for comes before it in the program, so that nothing is left to wait for.
    An `!async.value<T>` is a T then; tokens and groups are i1 that nobody looks at.

      %token, %value = async.execute [%before] (%given as %x : !async.value<f32>)
          -> !async.value<f32> {
        %y = arith.addf %x, %x : f32
        async.yield %y : f32
      }
      %z = async.await %value : !async.value<f32>
    becomes
      %y = arith.addf %given, %given : f32
    with %y for %z.
    """

    name: ClassVar[str] = "run-async-in-order"

    def run(self, op: ir.Operation) -> None:
        found = async_operations(op)
        for inner in found:
            if inner.name not in _TAKEN:
                fail(inner, f"'{inner.name}' is of the async dialect's own lowering, and not taken")
        if found:
            _retype_all(op)
        # An async.yield goes with its async.execute.
        for inner in [each for each in found if each.name in _LOWERINGS]:
            with inner.location, ir.InsertionPoint(inner):
                _LOWERINGS[inner.name](inner)


def async_operations(module: ir.Operation) -> list[ir.Operation]:
    """Returns the async dialect's operations on a module's host side."""
    return host_operations_where(module, lambda op: op.name.startswith("async."))


def has_async(module: ir.Operation) -> bool:
    """Returns whether a module's host side has any."""
    return bool(async_operations(module))


def _lowered(kind: ir.Type) -> ir.Type:
    text = str(kind)
    if text in _PLAIN:
        return ir.IntegerType.get_signless(1)
    value = _VALUE.match(text)
    return ir.Type.parse(value[1]) if value is not None else kind


def _retype_all(module: ir.Operation) -> None:
    for op in host_operations_where(module, lambda op: True):
        for value in op.results:
            _retype(value)
        for region in op.regions:
            for block in region:
                for argument in block.arguments:
                    _retype(argument)
        if "function_type" in op.attributes:
            kind = ir.TypeAttr(op.attributes["function_type"]).value
            if isinstance(kind, ir.FunctionType):
                inputs, results = map(_lowered, kind.inputs), map(_lowered, kind.results)
                function = ir.FunctionType.get(list(inputs), list(results))
                op.attributes["function_type"] = ir.TypeAttr.get(function)


def _retype(value: ir.Value) -> None:
    kind = _lowered(value.type)
    if kind != value.type:
        value.set_type(kind)


def _done() -> ir.Value:
    return arith.constant(ir.IntegerType.get_signless(1), 1)


def _execute(op: ir.Operation) -> None:
    body = op.regions[0].blocks[0]
    dependencies = ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])[0]
    for argument, given in zip(body.arguments, list(op.operands)[dependencies:], strict=True):
        argument.replace_all_uses_with(given)
    *inner, end = (each.operation for each in body)
    for each in inner:
        each.move_before(op)
    if is_used(op.results[0]):
        op.results[0].replace_all_uses_with(_done())
    for result, value in zip(list(op.results)[1:], list(end.operands), strict=True):
        result.replace_all_uses_with(value)
    op.erase()


def _await(op: ir.Operation) -> None:
    for result in op.results:
        result.replace_all_uses_with(op.operands[0])
    op.erase()


def _create_group(op: ir.Operation) -> None:
    op.results[0].replace_all_uses_with(_done())
    op.erase()


def _add_to_group(op: ir.Operation) -> None:
    if is_used(op.results[0]):
        fail(op, "the place of a token in its group is not known where regions run in order")
    op.erase()


def _function(op: ir.Operation) -> None:
    """The same operation of the func dialect."""
    again = ir.Operation.create(
        _CALLS[op.name],
        results=[result.type for result in op.results],
        operands=list(op.operands),
        attributes={name: op.attributes[name] for name in op.attributes},
        regions=len(op.regions),
    )
    for old, new in zip(op.regions, again.regions, strict=True):
        for block in list(old):
            block.append_to(new)
    for old, new in zip(op.results, again.results, strict=True):
        old.replace_all_uses_with(new)
    op.erase()


def _return(op: ir.Operation) -> None:
    """A return of an async.func, which gives a token before the values where its type has one."""
    function = op.parent
    assert function is not None
    kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    missing = len(kind.results) - len(op.operands)
    ir.Operation.create("func.return", operands=[*(_done() for _ in range(missing)), *op.operands])
    op.erase()


_LOWERINGS = {
    "async.execute": _execute,
    "async.await": _await,
    "async.await_all": _await,
    "async.create_group": _create_group,
    "async.add_to_group": _add_to_group,
    "async.call": _function,
    "async.func": _function,
    "async.return": _return,
}
