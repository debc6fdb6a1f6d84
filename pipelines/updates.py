"""Results of functions on tensors that are what an argument becomes, which nobody is given.

  func.func @main(%x: tensor<4xf32>, %sum: tensor<4xf32> {hirc.state = "sum"})
      -> (tensor<4xf32> {hirc.updates = 1})
The result is written to where argument 1 is. Any argument of a tensor can be updated but a weight:
one that the caller passes then holds the result after the call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..dialects.mlir import ir
from .pass_base import fail
from .symbols import symbol_name
from .walking import operations_where
from .weights import MARK as WEIGHT

UPDATES = "hirc.updates"


def updates_of(function: ir.Operation) -> dict[int, int]:
    """Returns the argument that each result updates, by the result's number. What is
    wrong fails.
    """
    found: dict[int, int] = {}
    for place, entries in enumerate(attributes_of(function, "res_attrs")):
        if UPDATES in entries:
            found[place] = _argument(function, place, entries[UPDATES], found)
    return found


def check_updates(module: ir.Operation, programs: Sequence[ir.Operation]) -> None:
    """Fails where a result of a function that is no program of its own is an update."""
    own = {symbol_name(each) for each in programs if "sym_visibility" not in each.attributes}
    updating: set[str] = set()
    for child in module.regions[0].blocks[0]:
        function = child.operation
        if function.name == "func.func" and updates_of(function):
            updating.add(symbol_name(function))
            if symbol_name(function) not in own:
                fail(
                    function,
                    f"@{symbol_name(function)} is no public function on tensors, and its results "
                    f"cannot be {UPDATES}: return them, for the caller to update with",
                )
    for call in operations_where(module, lambda op: op.name == "func.call") if updating else ():
        callee = ir.FlatSymbolRefAttr(call.attributes["callee"]).value
        if callee in updating:
            fail(
                call,
                f"@{callee} updates its arguments in place, and is called from outside alone: "
                "call a private function that returns what they become",
            )


def attributes_of(function: ir.Operation, name: str) -> list[Mapping[str, ir.Attribute]]:
    """Returns the attributes of each argument (arg_attrs) or result (res_attrs) that has any."""
    if name not in function.attributes:
        return []
    given = ir.ArrayAttr(function.attributes[name])
    return [{item.name: item.attr for item in ir.DictAttr(each)} for each in given]


def _argument(
    function: ir.Operation, place: int, given: ir.Attribute, others: Mapping[int, int]
) -> int:
    kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    what = f"{UPDATES} of result {place}"
    count = len(kind.inputs)
    number = given.value if isinstance(given, ir.IntegerAttr) else -1
    if not 0 <= number < count:
        fail(function, f"{what} is the number of an argument, from 0 to {count - 1}, not {given}")
    old, new = kind.inputs[number], kind.results[place]
    if not isinstance(old, ir.RankedTensorType) or not isinstance(new, ir.RankedTensorType):
        fail(function, f"{what}: argument {number} is {old}, and what updates it {new}: no tensors")
    if old.element_type != new.element_type or not _can_be_one(old, new):
        fail(function, f"{what}: argument {number} is {old}, and cannot become {new}")
    arguments = attributes_of(function, "arg_attrs")
    if number < len(arguments) and WEIGHT in arguments[number]:
        fail(function, f"{what}: argument {number} is a weight, which is read only: use hirc.state")
    for other, taken in others.items():
        if taken == number:
            fail(function, f"results {other} and {place} both update argument {number}")
    return number


def _can_be_one(old: ir.RankedTensorType, new: ir.RankedTensorType) -> bool:
    dynamic = ir.ShapedType.get_dynamic_size()
    return old.rank == new.rank and all(
        one == other or dynamic in (one, other)
        for one, other in zip(old.shape, new.shape, strict=True)
    )
