"""Barriers of a block and of a cluster, and fences."""

from __future__ import annotations

import re

from .model import Constant, Operation, StopKind, constant, function_call

_REDUCTIONS = ("popc", "and", "or")
_SYNC = re.compile(r"barrier\.cta\.sync(?P<aligned>\.aligned)?\.(?P<who>all|count)")
_ARRIVE = re.compile(r"barrier\.cta\.arrive(?:\.aligned)?\.count")
_REDUCE = re.compile(
    r"barrier\.cta\.red\.(?P<what>popc|and|or)(?P<aligned>\.aligned)?\.(?P<who>all|count)"
)
_CLUSTER_ARRIVE = re.compile(r"barrier\.cluster\.arrive(\.relaxed|\.release)?(\.aligned)?")
_CLUSTER_WAIT = re.compile(r"barrier\.cluster\.wait(\.acquire)?(\.aligned)?")

_ALL = constant(0)

# What older IR says: (operands, aligned).
_OLDER: dict[str, tuple[tuple[int | Constant, ...], int]] = {
    "barrier0": ((constant(0), _ALL), 1),
    "bar.sync": ((0, _ALL), 1),
    "barrier.n": ((0, _ALL), 1),
    "barrier": ((0, 1), 1),
    "barrier.sync": ((0, _ALL), 0),
    "barrier.sync.cnt": ((0, 1), 0),
}
# Memory is one here, and operations are done in the program's order: the compiler only must not
# move accesses over them, which a call it cannot see through prevents.
_FENCE = re.compile(r"fence\.(proxy\.|mbarrier_init|sc\.cluster|acquire\.|release\.).*")


def lookup(name: str) -> Operation | None:
    """Returns an operation of this family by its name without `llvm.nvvm.`."""
    if match := _SYNC.fullmatch(name):
        operands = (0, 1 if match["who"] == "count" else _ALL)
        return _barrier(operands, aligned=int(bool(match["aligned"])))
    if match := _REDUCE.fullmatch(name):
        operands = (0, 1, 2) if match["who"] == "count" else (0, _ALL, 1)
        parameters = (_REDUCTIONS.index(match["what"]), int(bool(match["aligned"])))
        display = f"bar.red.{match['what']}"
        return Operation(display, StopKind.BARRIER_REDUCE, "", parameters, operands)
    if _ARRIVE.fullmatch(name):
        return function_call("bar.arrive", "hirc_barrier_arrive", 0, 1, context=True)
    if _CLUSTER_ARRIVE.fullmatch(name):
        return function_call("barrier.cluster.arrive", "hirc_cluster_arrive", context=True)
    if _CLUSTER_WAIT.fullmatch(name):
        return Operation("barrier.cluster.wait", StopKind.CLUSTER_WAIT, operands=())
    if name in _OLDER:
        operands, aligned = _OLDER[name]
        return _barrier(operands, aligned)
    if _FENCE.fullmatch(name):
        return function_call("fence", "hirc_fence")
    return _shared_ranks(name)


def _barrier(operands: tuple[int | Constant, ...], aligned: int) -> Operation:
    return Operation("bar.sync", StopKind.BARRIER, "", (aligned,), operands)


def _shared_ranks(name: str) -> Operation | None:
    match name.removesuffix(".shared.cluster"):
        case "mapa":
            return function_call("mapa", "hirc_map_shared_rank", 0, 1, context=True)
        case "getctarank":
            return function_call("getctarank", "hirc_shared_rank", 0, context=True)
        case _:
            return None
