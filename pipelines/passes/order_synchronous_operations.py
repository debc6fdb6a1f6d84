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


@register
@dataclass(frozen=True)
class OrderSynchronousOperations(Pass):
    """Inserts a gpu.wait before a copy, fill or launch that is not async, for the tokens of earlier
    operations of the function that may still write what it uses, or use what it writes.

      %t = gpu.memcpy async [%s] %device, %host : memref<8xf32>, memref<8xf32>
      gpu.launch_func @kernels::@scale ... args(%device : memref<8xf32>)
    gets gpu.wait [%t] before the launch. Buffers are told apart by what allocates them; async
    operations of inner blocks are not looked at, as their tokens end there.
    """

    name: ClassVar[str] = "order-synchronous-operations"
    subjects: ClassVar[tuple[str, ...]] = (_COPY, _FILL, _LAUNCH)

    def run(self, op: ir.Operation) -> None:
        for function in host_operations_where(op, lambda inner: inner.name == "func.func"):
            for block in function.regions[0].blocks:
                _order(block, {}, {})


@dataclass(frozen=True)
class _Use:
    """The buffers that an operation writes and reads, by what allocates them."""

    writes: frozenset[ir.Value]
    reads: frozenset[ir.Value]

    def conflicts(self, other: _Use) -> bool:
        return bool(self.writes & (other.writes | other.reads) or self.reads & other.writes)


# Of what the host has not waited for, by tokens: what it uses, and the tokens that one follows.
_Pending = dict[ir.Value, _Use]
_Before = dict[ir.Value, list[ir.Value]]


def _order(block: ir.Block, pending: _Pending, before: _Before) -> None:
    """Orders a block's operations after what is pending around it."""
    pending, before = dict(pending), dict(before)
    for op in [each.operation for each in block]:
        for region in op.regions:
            for inner in region.blocks:
                _order(inner, pending, before)
        if not op.name.startswith("gpu."):
            continue
        given = [each for each in op.operands if _is_token(each)]
        token = next((each for each in op.results if _is_token(each)), None)
        use = _use(op)
        if token is not None:
            before[token] = given
            if use is not None:
                pending[token] = use
        elif _waits(op):
            follows = _up_to(given, before)
            late = [
                each
                for each, other in pending.items()
                if use is not None and each not in follows and use.conflicts(other)
            ]
            if late:
                # What others of them follow comes with these.
                earlier = _up_to([one for each in late for one in before[each]], before)
                late = [each for each in late if each not in earlier]
                with op.location, ir.InsertionPoint(op):
                    gpu.WaitOp(None, late)
            for done in follows | _up_to(late, before):
                pending.pop(done, None)
                before.pop(done, None)


def _waits(op: ir.Operation) -> bool:
    """Returns whether the host waits for an operation without a token."""
    view = op.opview
    if isinstance(view, gpu.LaunchFuncOp):
        return view.asyncObject is None
    return op.name in (_COPY, _FILL, _WAIT)


def _up_to(tokens: Iterable[ir.Value], before: _Before) -> set[ir.Value]:
    """Returns tokens, and all that they follow and the host has not waited for."""
    found: set[ir.Value] = set()
    waiting = [*tokens]
    while waiting:
        token = waiting.pop()
        if token not in found and token in before:
            found.add(token)
            waiting += before[token]
    return found


def _is_token(value: ir.Value) -> bool:
    return str(value.type) == "!gpu.async.token"


def _use(op: ir.Operation) -> _Use | None:
    """Returns what an operation of the device uses; None of others."""
    view, none = op.opview, frozenset[ir.Value]()
    if isinstance(view, gpu.MemcpyOp):
        return _Use(_roots([view.dst]), _roots([view.src]))
    if isinstance(view, gpu.MemsetOp):
        return _Use(_roots([view.dst]), none)
    if isinstance(view, gpu.LaunchFuncOp):
        return _Use(_roots(view.kernelOperands), none)
    if isinstance(view, gpu.AllocOp):
        return _Use(frozenset({view.memref}), none)
    return None


def _roots(values: Iterable[ir.Value]) -> frozenset[ir.Value]:
    """Returns what allocates the buffers that values are views of, or are made of."""
    found: set[ir.Value] = set()
    seen: set[ir.Value] = set()
    waiting = [*values]
    while waiting:
        value = waiting.pop()
        if value in seen:
            continue
        seen.add(value)
        op = defining_op(value)
        made_of = [] if op is None or len(op.regions) else [*op.operands]
        if isinstance(value.type, _BUFFERS):
            made_of = [each for each in made_of if isinstance(each.type, _BUFFERS)]
            if not made_of or op is None or op.name == "func.call":
                found.add(value)
                continue
        elif op is not None and op.name in _NUMBERS:
            continue
        waiting += made_of
    return frozenset(found)
