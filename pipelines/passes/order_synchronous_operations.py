"""order-synchronous-operations: the host waits for what a synchronous operation's buffers await."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from ...dialects.mlir import gpu, ir
from ...dialects.records import dataclass
from ..pass_base import Pass, register
from ..walking import defining_op, host_operations_where

_COPY, _FILL, _LAUNCH, _WAIT = "gpu.memcpy", "gpu.memset", "gpu.launch_func", "gpu.wait"
# Of numbers from a buffer, other operations make no views of it.
_NUMBERS = ("memref.dim", "memref.load")
_BUFFERS = (ir.MemRefType, ir.UnrankedMemRefType)
# What allocates a buffer, a global's name, or this: it may be any.
_ANY = "any"
_Root = ir.Value | str


@register
@dataclass(frozen=True)
class OrderSynchronousOperations(Pass):
    """Inserts a gpu.wait before a copy, fill or launch that is not async, for the tokens of earlier
    operations that may still write what it uses, or use what it writes.

      %t = gpu.memcpy async [%s] %device, %host : memref<8xf32>, memref<8xf32>
      gpu.launch_func @kernels::@scale ... args(%device : memref<8xf32>)
    gets gpu.wait [%t] before the launch. Buffers are told apart by what allocates them; one that
    loops or branches give may be any. Earlier are those of the same block, of blocks around it, and
    of the function's first block.
    """

    name: ClassVar[str] = "order-synchronous-operations"
    subjects: ClassVar[tuple[str, ...]] = (_COPY, _FILL, _LAUNCH)

    def run(self, op: ir.Operation) -> None:
        for function in host_operations_where(op, lambda inner: inner.name == "func.func"):
            blocks = list(function.regions[0].blocks)
            if blocks:
                roots = _Roots(list(blocks[0].arguments))
                first = _order(blocks[0], _Pending(), roots)
                for block in blocks[1:]:
                    _order(block, first.copy(), roots)


@dataclass(frozen=True)
class _Use:
    """The buffers that an operation writes, and those that it reads."""

    writes: frozenset[_Root]
    reads: frozenset[_Root]


class _Pending:
    """What the host has begun and not waited for, by tokens."""

    def __init__(self) -> None:
        # The tokens that each follows, and those of what writes and what uses each buffer.
        self._before: dict[ir.Value, list[ir.Value]] = {}
        self._uses: dict[ir.Value, _Use] = {}
        self._writers: dict[_Root, dict[ir.Value, None]] = {}
        self._users: dict[_Root, dict[ir.Value, None]] = {}

    def copy(self) -> _Pending:
        made = _Pending()
        for token, before in self._before.items():
            made.begin(token, before, self._uses.get(token))
        return made

    def begin(self, token: ir.Value, before: list[ir.Value], use: _Use | None) -> None:
        """Takes note of an operation that follows others."""
        self._before[token] = before
        if use is not None:
            self._uses[token] = use
            for root in use.writes:
                self._writers.setdefault(root, {})[token] = None
            for root in use.writes | use.reads:
                self._users.setdefault(root, {})[token] = None

    def end(self, tokens: Iterable[ir.Value]) -> None:
        """Takes note that the host has waited for these, and so for all that they follow."""
        for token in self.up_to(tokens):
            del self._before[token]
            use = self._uses.pop(token, None)
            for root in () if use is None else use.writes | use.reads:
                self._writers.get(root, {}).pop(token, None)
                self._users[root].pop(token, None)

    def up_to(self, tokens: Iterable[ir.Value]) -> set[ir.Value]:
        """Returns tokens, and all that they follow, of what is pending."""
        found: set[ir.Value] = set()
        waiting = [*tokens]
        while waiting:
            token = waiting.pop()
            if token not in found and token in self._before:
                found.add(token)
                waiting += self._before[token]
        return found

    def late(self, use: _Use, given: Iterable[ir.Value]) -> list[ir.Value]:
        """Returns the tokens that an operation is to wait for besides those that it is given."""
        found: dict[ir.Value, None] = {}
        for roots, others in ((use.writes, self._users), (use.reads, self._writers)):
            for root in others if _ANY in roots else {*roots, _ANY} if roots else ():
                found |= others.get(root, {})
        if not found:
            return []
        # What these follow comes with them.
        known = self.up_to(given) | self.up_to(
            before for token in found for before in self._before[token]
        )
        return [token for token in found if token not in known]


def _order(block: ir.Block, pending: _Pending, roots: _Roots) -> _Pending:
    """Orders a block's operations after what is pending around it; returns what is pending then."""
    for op in [each.operation for each in block]:
        for region in op.regions:
            for inner in region.blocks:
                _order(inner, pending.copy(), roots)
        if not op.name.startswith("gpu.") and not len(op.regions):
            continue
        given = [each for each in op.operands if _is_token(each)]
        tokens = [each for each in op.results if _is_token(each)]
        use = roots.use(op)
        for token in tokens:
            pending.begin(token, given, use)
        if not tokens and _waits(op):
            late = [] if use is None else pending.late(use, given)
            if late:
                with op.location, ir.InsertionPoint(op):
                    gpu.WaitOp(None, late)
            pending.end([*given, *late])
    return pending


def _waits(op: ir.Operation) -> bool:
    """Returns whether the host waits for an operation without a token."""
    view = op.opview
    if isinstance(view, gpu.LaunchFuncOp):
        return view.asyncObject is None
    return op.name in (_COPY, _FILL, _WAIT)


def _is_token(value: ir.Value) -> bool:
    return str(value.type) == "!gpu.async.token"


class _Roots:
    """Which buffers values are views of, or made of."""

    def __init__(self, arguments: Iterable[ir.Value]) -> None:
        self._known: dict[ir.Value, frozenset[_Root]] = {
            each: frozenset({each}) for each in arguments if isinstance(each.type, _BUFFERS)
        }

    def use(self, op: ir.Operation) -> _Use | None:
        """Returns what an operation of the device uses; of others with a region, it may be any."""
        view = op.opview
        if isinstance(view, gpu.MemcpyOp):
            return _Use(self._of([view.dst]), self._of([view.src]))
        if isinstance(view, gpu.MemsetOp):
            return _Use(self._of([view.dst]), frozenset())
        if isinstance(view, gpu.LaunchFuncOp):
            return _Use(self._of(view.kernelOperands), frozenset())
        if isinstance(view, gpu.AllocOp):
            return _Use(frozenset({view.memref}), frozenset())
        return _Use(frozenset({_ANY}), frozenset()) if len(op.regions) else None

    def _of(self, values: Iterable[ir.Value]) -> frozenset[_Root]:
        """Returns the roots of values. Those of views of views are found once."""
        waiting = [*values]
        wanted = list(waiting)
        while waiting:
            value = waiting[-1]
            op = defining_op(value)
            sources = [] if op is None else self._sources(op, value)
            unknown = [each for each in sources if each not in self._known]
            if value in self._known or not unknown:
                waiting.pop()
                self._known.setdefault(value, self._found(op, value, sources))
            else:
                waiting += unknown
        return frozenset().union(*(self._known[each] for each in wanted))

    def _sources(self, op: ir.Operation, value: ir.Value) -> list[ir.Value]:
        """Returns what a value is a view of, or made of."""
        if len(op.regions) or op.name in (*_NUMBERS, "func.call"):
            return []
        if isinstance(value.type, _BUFFERS):
            return [each for each in op.operands if isinstance(each.type, _BUFFERS)]
        return [*op.operands]

    def _found(
        self, op: ir.Operation | None, value: ir.Value, sources: list[ir.Value]
    ) -> frozenset[_Root]:
        if sources:
            return frozenset().union(*(self._known[each] for each in sources))
        if not isinstance(value.type, _BUFFERS):
            return frozenset()
        if op is None or len(op.regions):
            return frozenset({_ANY})
        if op.name == "memref.get_global":
            return frozenset({ir.FlatSymbolRefAttr(op.attributes["name"]).value})
        return frozenset({value})
