"""hir-decide-by-limits: what the limits of open sizes decide is not decided at run time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar

from ...dialects.mlir import arith, ir
from ...dialects.records import dataclass
from ..pass_base import Pass, register
from ..walking import host_operations_where

_MOST = (1 << 63) - 1
# The least and the greatest value of a number that is not negative; None where nothing is known.
_Span = tuple[int, int] | None
_SIZE = (0, _MOST)
_EITHER = (0, 1)
_IF = "hir.if"
_LAUNCH = "hir.launch"


@register
@dataclass(frozen=True)
class HirDecideByLimits(Pass):
    """Takes the branch of each hir.if whose condition follows from the limits of sizes.

    Limits are what a program asserts of its inputs' sizes before anything runs, and what arithmetic
    makes of them; a launcher's are those of all its calls. Kernels that nothing launches any more
    are erased.

      %n = memref.dim %x, %c0 : memref<?x4xf32>
      %few = arith.cmpi ule, %n, %c64 : index
      cf.assert %few, "..."
      %elements = arith.muli %n, %c4 : index
      %fits = arith.cmpi ule, %elements, %c2147483647 : index
      "hir.if"(%fits) ({ A }, { B }) : (i1) -> !hir.results_t
    becomes
      ...
      A
    """

    name: ClassVar[str] = "hir-decide-by-limits"

    def run(self, op: ir.Operation) -> None:
        children = [child.operation for child in op.regions[0].blocks[0]]
        calls: dict[str, list[list[_Span]]] = {}
        for program in children:
            if program.name == "hir.program":
                _Limits(calls).decide(program.regions[0].blocks[0], [])
        launched = _launched(op)
        for launcher in children:
            if launcher.name != "hir.launcher":
                continue
            name = ir.StringAttr(launcher.attributes["sym_name"]).value
            block = launcher.regions[0].blocks[0]
            spans = [_joined(each) for each in zip(*calls.get(name, []), strict=True)]
            _Limits(calls).decide(block, spans)
        _erase_kernels(op, launched - _launched(op))


class _Limits:
    """The limits of the values of one program or launcher."""

    def __init__(self, calls: dict[str, list[list[_Span]]]) -> None:
        self._calls = calls
        self._known: dict[ir.Value, _Span] = {}

    def decide(self, block: ir.Block, spans: Iterable[_Span]) -> None:
        """Decides what can be within a block, whose first arguments have these limits."""
        self._known.update(zip(block.arguments, spans, strict=False))
        self._visit(block, is_outermost=True)

    def _visit(self, block: ir.Block, *, is_outermost: bool = False) -> None:
        for child in list(block):
            op = child.operation
            if op.name == "cf.assert":
                if self.of(op.operands[0]) == (1, 1):
                    op.erase()
                elif is_outermost:
                    # Within a branch or a loop it says nothing of what comes after that.
                    self._narrow(op.operands[0])
                continue
            if op.name == "hir.run_launcher":
                self._note_call(op)
            elif op.name == _IF and self._take(op):
                continue
            elif op.name in _RULES or op.name == "memref.dim":
                for result in op.results:
                    self._known[result] = self._span_of(op)
            for region in op.regions:
                if not op.name.startswith("linalg."):
                    for inner in region.blocks:
                        self._visit(inner)

    def of(self, value: ir.Value) -> _Span:
        """Returns the limits of a value."""
        known = self._known.get(value)
        return _EITHER if known is None and _is_truth(value) else known

    def _span_of(self, op: ir.Operation) -> _Span:
        if op.name == "memref.dim":
            return self._dim(op)
        if op.name == "arith.constant":
            number = op.attributes["value"]
            if isinstance(number, ir.BoolAttr):
                truth = int(number.value)
                return truth, truth
            value = number.value if isinstance(number, ir.IntegerAttr) else -1
            return (value, value) if value >= 0 else None
        spans = [self.of(operand) for operand in op.operands]
        if op.name == "arith.cmpi":
            predicate = ir.IntegerAttr(op.attributes["predicate"]).value
            return _compared(predicate, spans[0], spans[1])
        if op.name in ("arith.andi", "arith.ori") and not _is_truth(op.results[0]):
            return None
        return _RULES[op.name](spans)

    def _dim(self, op: ir.Operation) -> _Span:
        """Returns the limits of a size: of an allocation those of its operand."""
        source, axis = op.operands[0], self.of(op.operands[1])
        if axis is None or axis[0] != axis[1] or isinstance(source.owner, ir.Block):
            return _SIZE
        made, number = source.owner.operation, axis[0]
        kind = ir.MemRefType(source.type)
        if number >= kind.rank or not kind.is_dynamic_dim(number):
            return _SIZE
        place = sum(kind.is_dynamic_dim(each) for each in range(number))
        if made.name == "hir.allocate":
            return self.of(made.operands[place]) or _SIZE
        if made.name == "memref.expand_shape":
            return self.of(made.operands[1 + place]) or _SIZE
        if made.name == "memref.collapse_shape":
            span: _Span = (1, 1)
            groups = ir.ArrayAttr(made.attributes["reassociation"])
            for part in ir.ArrayAttr(groups[number]):
                size = self._size_of(made.operands[0], ir.IntegerAttr(part).value)
                span = _product([span, size])
            return span or _SIZE
        return _SIZE

    def _size_of(self, buffer: ir.Value, axis: int) -> _Span:
        """Returns the limits of a size that its type or a memref.dim before says; else any size."""
        kind = ir.MemRefType(buffer.type)
        if not kind.is_dynamic_dim(axis):
            return kind.shape[axis], kind.shape[axis]
        for use in buffer.uses:
            op = use.owner.operation
            if op.name == "memref.dim" and self.of(op.operands[1]) == (axis, axis):
                known = self.of(op.results[0])
                if known is not None:
                    return known
        return _SIZE

    def _narrow(self, condition: ir.Value) -> None:
        """Takes over what an assertion says of a value and a constant."""
        if isinstance(condition.owner, ir.Block):
            return
        op = condition.owner.operation
        if op.name != "arith.cmpi":
            return
        value, (low, high) = op.operands[0], self.of(op.operands[1]) or (None, None)
        known = self.of(value)
        if known is None or low is None or high is None:
            return
        predicate = ir.IntegerAttr(op.attributes["predicate"]).value
        if predicate in _AT_LEAST:
            self._known[value] = (max(known[0], low + _AT_LEAST[predicate]), known[1])
        elif predicate in _AT_MOST:
            self._known[value] = (known[0], min(known[1], high - _AT_MOST[predicate]))

    def _note_call(self, op: ir.Operation) -> None:
        name = ir.FlatSymbolRefAttr(op.attributes["launcher"]).value
        given = [each.operation.operands[0] for each in op.regions[0].blocks[0]]
        self._calls.setdefault(name, []).append([self.of(value) for value in given])

    def _take(self, op: ir.Operation) -> bool:
        """Puts the branch that is taken in the place of a hir.if without results."""
        condition = self.of(op.operands[0])
        if condition is None or condition[0] != condition[1] or len(list(op.results[0].uses)):
            return False
        region = op.regions[0 if condition[0] else 1]
        inner = [each.operation for each in region.blocks[0]] if len(region.blocks) else []
        if any(each.name == "hir.output" for each in inner):
            return False
        if inner:
            self._visit(region.blocks[0])
        for each in [each.operation for each in region.blocks[0]] if inner else []:
            each.move_before(op)
        op.erase()
        return True


_IS = arith.CmpIPredicate
_EQ, _NE = int(_IS.eq), int(_IS.ne)
# By how much more a value is at least, or less at most, than what it is compared with.
_AT_LEAST = {int(_IS.sge): 0, int(_IS.uge): 0, int(_IS.sgt): 1, int(_IS.ugt): 1}
_AT_MOST = {int(_IS.sle): 0, int(_IS.ule): 0, int(_IS.slt): 1, int(_IS.ult): 1}


def _is_truth(value: ir.Value) -> bool:
    return isinstance(value.type, ir.IntegerType) and value.type.width == 1


def _compared(predicate: int, left: _Span, right: _Span) -> _Span:
    """Returns the limits of a comparison of two numbers, as 0 or 1."""
    if left is None or right is None:
        return _EITHER
    if predicate in (_EQ, _NE):
        is_same = left == right and left[0] == left[1]
        is_apart = left[1] < right[0] or right[1] < left[0]
        if not is_same and not is_apart:
            return _EITHER
        truth = int(is_same == (predicate == _EQ))
        return truth, truth
    if predicate in _AT_LEAST:
        return _compared_at_most(right, left, _AT_LEAST[predicate])
    return _compared_at_most(left, right, _AT_MOST[predicate])


def _compared_at_most(small: tuple[int, int], large: tuple[int, int], less: int) -> _Span:
    if small[1] <= large[0] - less:
        return (1, 1)
    return (0, 0) if small[0] > large[1] - less else _EITHER


def _monotonous(compute: Callable[[int, int], int]) -> Callable[[list[_Span]], _Span]:
    """Returns the rule of an operation that grows with both operands."""

    def rule(spans: list[_Span]) -> _Span:
        left, right = spans
        if left is None or right is None:
            return None
        high = compute(left[1], right[1])
        return (compute(left[0], right[0]), high) if high <= _MOST else None

    return rule


def _quotient(*, up: bool) -> Callable[[list[_Span]], _Span]:
    def rule(spans: list[_Span]) -> _Span:
        left, right = spans
        if left is None or right is None or right[0] < 1:
            return None
        low, high = (-(-a // b) if up else a // b for a, b in zip(left, right[::-1], strict=True))
        return low, high

    return rule


def _difference(spans: list[_Span]) -> _Span:
    left, right = spans
    if left is None or right is None or left[0] < right[1]:
        return None
    return left[0] - right[1], left[1] - right[0]


def _remainder(spans: list[_Span]) -> _Span:
    left, right = spans
    if left is None or right is None or right[0] < 1:
        return None
    return 0, min(left[1], right[1] - 1)


def _chosen(spans: list[_Span]) -> _Span:
    return _joined(spans[1:])


def _joined(spans: Iterable[_Span]) -> _Span:
    given = list(spans)
    known = [span for span in given if span is not None]
    if not known or len(known) < len(given):
        return None
    return min(low for low, _ in known), max(high for _, high in known)


_product = _monotonous(lambda a, b: a * b)
_RULES: Mapping[str, Callable[[list[_Span]], _Span]] = {
    "arith.constant": lambda _: None,
    "arith.cmpi": lambda _: None,
    "arith.addi": _monotonous(lambda a, b: a + b),
    "arith.andi": _monotonous(min),
    "arith.ceildivsi": _quotient(up=True),
    "arith.ceildivui": _quotient(up=True),
    "arith.divsi": _quotient(up=False),
    "arith.divui": _quotient(up=False),
    "arith.floordivsi": _quotient(up=False),
    "arith.index_cast": lambda spans: spans[0],
    "arith.maxsi": _monotonous(max),
    "arith.maxui": _monotonous(max),
    "arith.minsi": _monotonous(min),
    "arith.minui": _monotonous(min),
    "arith.muli": _product,
    "arith.ori": _monotonous(max),
    "arith.remsi": _remainder,
    "arith.remui": _remainder,
    "arith.select": _chosen,
    "arith.subi": _difference,
}


def _launched(module: ir.Operation) -> set[str]:
    """Returns the kernels that are launched, as references."""
    return {
        str(op.attributes["kernel"])
        for op in host_operations_where(module, lambda op: op.name == _LAUNCH)
    }


def _erase_kernels(module: ir.Operation, references: set[str]) -> None:
    """Erases kernels by their references."""
    for child in module.regions[0].blocks[0]:
        if child.operation.name != "gpu.module" or not references:
            continue
        holder = ir.StringAttr(child.operation.attributes["sym_name"]).value
        for kernel in list(child.operation.regions[0].blocks[0]):
            if kernel.operation.name != "gpu.func":
                continue
            name = ir.StringAttr(kernel.operation.attributes["sym_name"]).value
            if f"@{holder}::@{name}" in references:
                kernel.operation.erase()
