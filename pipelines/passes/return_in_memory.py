"""return-in-memory: functions of many results write them where the caller says."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from typing import ClassVar, cast

from ...dialects import llvm
from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..pass_base import Pass, register
from ..walking import host_operations_where

# As many results LLVM returns in registers and on the stack; over more of them it takes time that
# grows with their square.
_FEW = 8
# Bytes that any scalar result fits into, and the alignment of each.
_SLOT = 16
_INSERTION = "llvm.insertvalue"
_USES = ("llvm.call", "llvm.mlir.addressof")


@register
@dataclass(frozen=True)
class ReturnInMemory(Pass):
    """Gives private functions of more than eight results an argument that points to memory.

      llvm.func @f(%x: i64) -> !llvm.struct<(i64, ptr, ...)>
      %all = llvm.call @f(%x)
      %y = llvm.extractvalue %all[1]
    becomes
      llvm.func @f(%x: i64, %results: !llvm.ptr)
      %results = llvm.alloca %bytes x i8
      llvm.call @f(%x, %results)
      %at = llvm.getelementptr %results[16]
      %y = llvm.load %at
    """

    name: ClassVar[str] = "return-in-memory"

    def run(self, op: ir.Operation) -> None:
        functions = [
            child.operation
            for child in op.regions[0].blocks[0]
            if child.operation.name == "llvm.func"
        ]
        found = {
            ir.StringAttr(function.attributes["sym_name"]).value: members
            for function in functions
            if (members := _many_results(function)) is not None
        }
        if not found:
            return
        calls = _calls(op, found)
        for function in functions:
            name = ir.StringAttr(function.attributes["sym_name"]).value
            if name in found:
                _store_results(function, found[name])
        for call in calls:
            _load_results(call, found[_callee(call)])


def _calls(module: ir.Operation, found: dict[str, list[ir.Type]]) -> list[ir.Operation]:
    """The calls of the functions found; those whose address is taken are found no more."""
    calls: list[ir.Operation] = []
    for use in host_operations_where(module, lambda op: op.name in _USES):
        if use.name == "llvm.call":
            calls.append(use)
        else:
            found.pop(ir.FlatSymbolRefAttr(use.attributes["global_name"]).value, None)
    return [call for call in calls if _callee(call) in found]


def _many_results(function: ir.Operation) -> list[ir.Type] | None:
    """Returns the results of a private function that has many."""
    if function.name != "llvm.func" or not len(function.regions[0].blocks):
        return None
    visibility = function.attributes.get("sym_visibility", None)
    if visibility is None or ir.StringAttr(visibility).value != "private":
        return None
    result = _function_type(function).return_type
    if not isinstance(result, llvm.StructType):
        return None
    members = _members(result)
    return members if len(members) > _FEW else None


def _members(kind: llvm.StructType) -> list[ir.Type]:
    # The bindings do not say what the list holds.
    return list(cast(Iterable[ir.Type], kind.body))


def _function_type(function: ir.Operation) -> llvm.FunctionType:
    return llvm.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)


def _callee(call: ir.Operation) -> str:
    callee = call.attributes.get("callee", None)
    return "" if callee is None else ir.FlatSymbolRefAttr(callee).value


def _bytes(kind: ir.Type) -> int:
    """Bytes that are enough for a value: what structs hold is at most as large as a number."""
    if isinstance(kind, llvm.StructType):
        return sum(map(_bytes, _members(kind)))
    if isinstance(kind, llvm.ArrayType):
        return kind.num_elements * _bytes(kind.element_type)
    return _SLOT


def _places(members: list[ir.Type]) -> list[int]:
    """Where each member lies, and behind them the number of bytes."""
    return [0, *accumulate(map(_bytes, members))]


def _store_results(function: ir.Operation, members: list[ir.Type]) -> None:
    blocks = list(function.regions[0].blocks)
    memory = blocks[0].add_argument(llvm.PointerType.get(), function.location)
    kinds = ", ".join(str(argument.type) for argument in blocks[0].arguments)
    kind = ir.Type.parse(f"!llvm.func<void ({kinds})>")
    function.attributes["function_type"] = ir.TypeAttr.get(kind)
    if "arg_attrs" in function.attributes:
        given = list(ir.ArrayAttr(function.attributes["arg_attrs"]))
        function.attributes["arg_attrs"] = ir.ArrayAttr.get([*given, ir.DictAttr.get({})])
    for block in blocks:
        end = list(block.operations)[-1].operation
        if end.name != "llvm.return":
            continue
        with end.location, ir.InsertionPoint(end):
            _store(end.operands[0], memory, members)
            llvm.end()
        end.erase()


def _store(whole: ir.Value, memory: ir.Value, members: list[ir.Type]) -> None:
    """Stores each member of a struct, mostly one that was made for the return."""
    made: dict[int, ir.Value] = {}
    value = whole
    while not isinstance(value.owner, ir.Block) and value.owner.operation.name == _INSERTION:
        op = value.owner.operation
        position = list(ir.DenseI64ArrayAttr(op.attributes["position"]))
        if len(position) != 1:
            break
        made.setdefault(position[0], op.operands[1])
        value = op.operands[0]
    for number, (kind, place) in enumerate(zip(members, _places(members), strict=False)):
        member = made.get(number)
        if member is None:
            member = llvm.extract(kind, value, [number])
        llvm.store(member, _at(memory, place))


def _load_results(call: ir.Operation, members: list[ir.Type]) -> None:
    places = _places(members)
    function = call
    while function.name != "llvm.func":
        assert function.parent is not None
        function = function.parent
    i64, i8 = (ir.IntegerType.get_signless(bits) for bits in (64, 8))
    with call.location:
        with ir.InsertionPoint.at_block_begin(function.regions[0].blocks[0]):
            size = llvm.constant(i64, ir.IntegerAttr.get(i64, places[-1]))
            memory = llvm.allocate(i8, size, alignment=_SLOT)
        with ir.InsertionPoint(call):
            callee = call.attributes["callee"]
            llvm.call(None, callee, [*call.operands, memory])
            read: dict[int, ir.Value] = {}
            for user in reversed([use.owner.operation for use in call.results[0].uses]):
                _read_member(user, memory, members, places, read)
    call.erase()


def _read_member(
    op: ir.Operation,
    memory: ir.Value,
    members: list[ir.Type],
    places: list[int],
    read: dict[int, ir.Value],
) -> None:
    """Replaces a member of what a call gave by what it wrote, loaded once."""
    number, *inner = list(ir.DenseI64ArrayAttr(op.attributes["position"]))
    if number not in read:
        read[number] = llvm.load(members[number], _at(memory, places[number]))
    value = read[number]
    if inner:
        value = llvm.extract(op.results[0].type, value, inner)
    op.results[0].replace_all_uses_with(value)
    op.erase()


def _at(memory: ir.Value, offset: int) -> ir.Value:
    return llvm.element_address(memory, ir.IntegerType.get_signless(8), offset)
