"""Copies of boxes of tensors by a tensor map: runtime/operations/tensor_copy.c."""

from __future__ import annotations

import re

from ...errors import UnsupportedError
from .model import Constant, Operation, constant, function_call, nothing

_REDUCTIONS = ("add", "min", "max", "inc", "dec", "and", "or", "xor")
_MOST_DIMENSIONS = 5
_LOAD = re.compile(r"g2s(?P<cta>\.cta)?\.tile\.(?P<rank>[1-5])d")
_STORE = re.compile(r"s2g\.tile\.(?P<rank>[1-5])d")
_REDUCE = re.compile(r"reduce\.(?P<what>\w+)\.tile\.(?P<rank>[1-5])d")
_PREFIX = "cp.async.bulk.tensor."


def lookup(name: str) -> Operation | None:
    """Returns an operation of this family by its name without `llvm.nvvm.`."""
    if name.startswith("tensormap.replace."):
        raise UnsupportedError(f"{name}: the CPU device cannot change tensor maps in kernels")
    if not name.startswith(_PREFIX):
        return None
    form = name.removeprefix(_PREFIX)
    if form.startswith("prefetch."):
        return nothing("cp.async.bulk.prefetch.tensor")
    if match := _LOAD.fullmatch(form):
        # destination, mbarrier, map, coordinates, mask, cache hint, whether there is a mask
        rank = int(match["rank"])
        multicast = (constant(0),) * 2 if match["cta"] else (3 + rank, 5 + rank)
        operands = (0, 1, 2, *_coordinates(3, rank), constant(rank), *multicast)
        return function_call("cp.async.bulk.tensor", "hirc_tensor_load", *operands, context=True)
    if match := _STORE.fullmatch(form):
        rank = int(match["rank"])
        operands = (0, 1, *_coordinates(2, rank), constant(rank))
        return function_call("cp.async.bulk.tensor", "hirc_tensor_store", *operands, context=True)
    if match := _REDUCE.fullmatch(form):
        rank = int(match["rank"])
        reduction = constant(_REDUCTIONS.index(match["what"]))
        operands = (0, 1, *_coordinates(2, rank), constant(rank), reduction)
        return function_call(
            "cp.reduce.async.bulk.tensor", "hirc_tensor_reduce", *operands, context=True
        )
    raise UnsupportedError(f"{name}: the CPU device copies boxes (.tile) only")


def _coordinates(first: int, rank: int) -> tuple[int | Constant, ...]:
    return (*range(first, first + rank), *(constant(0),) * (_MOST_DIMENSIONS - rank))
