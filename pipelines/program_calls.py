"""The calls of functions that become host programs: programs call programs, and do not recurse."""

from __future__ import annotations

from collections.abc import Sequence

from ..dialects.mlir import ir
from .pass_base import fail
from .symbols import symbol_name
from .walking import operations_where


def check_calls(programs: Sequence[ir.Operation]) -> None:
    """Fails at a call of what is no program, and at one by which a program calls itself."""
    calls = {symbol_name(each): _calls(each) for each in programs}
    for found in calls.values():
        for callee, call in found:
            if callee not in calls:
                fail(
                    call,
                    f"@{callee} is no host program: a function on tensors calls functions with a "
                    "body that no other kind of function calls; C functions are called by "
                    "hir.host_call of a hir.program",
                )
    ended: set[str] = set()
    for name in calls:
        _end(name, calls, ended)


def _end(start: str, calls: dict[str, list[tuple[str, ir.Operation]]], ended: set[str]) -> None:
    """Follows the calls from a program until all it calls is in `ended`."""
    way = [start]
    left = [iter(calls[start])]
    while way:
        step = next(left[-1], None)
        if step is None:
            ended.add(way.pop())
            left.pop()
            continue
        callee, call = step
        if callee in way:
            chain = " -> ".join(f"@{each}" for each in [*way[way.index(callee) :], callee])
            fail(call, f"@{callee} calls itself ({chain}); programs do not recurse: use scf.for")
        if callee not in ended:
            way.append(callee)
            left.append(iter(calls[callee]))


def _calls(function: ir.Operation) -> list[tuple[str, ir.Operation]]:
    return [
        (ir.FlatSymbolRefAttr(call.attributes["callee"]).value, call)
        for call in operations_where(function, lambda inner: inner.name == "func.call")
    ]
