"""Asynchronous copies without tensor maps.

They are made at once, which is one of the orders PTX allows: groups are always complete.
"""

from __future__ import annotations

import re

from .model import Constant, Operation, constant, function_call, nothing

_COPY = re.compile(r"cp\.async\.(?:ca|cg)\.shared\.global\.(?P<bytes>4|8|16)(?P<source>\.s)?")
_NO_EFFECT = re.compile(
    r"cp\.async\.(commit\.group|wait\.group|wait\.all)"
    r"|cp\.async\.bulk\.(commit\.group|wait\.group(\.read)?|prefetch\.L2)"
    r"|prefetch\.tensormap(\.p\d+)?"
)


def lookup(name: str) -> Operation | None:
    """Returns an operation of this family by its name without `llvm.nvvm.`."""
    if match := _COPY.fullmatch(name):
        size = constant(int(match["bytes"]))
        read: int | Constant = 2 if match["source"] else size
        return function_call("cp.async", "hirc_copy_async", 0, 1, size, read)
    if _NO_EFFECT.fullmatch(name):
        return nothing(name)
    match name.removesuffix(".shared"):
        # Counts its own arrival first, and so changes nothing once the copies are made.
        case "cp.async.mbarrier.arrive":
            return nothing(name)
        case "cp.async.mbarrier.arrive.noinc":
            return function_call(
                "cp.async.mbarrier.arrive.noinc", "hirc_mbarrier_arrive", 0, constant(1)
            )
        case _:
            return _bulk(name)


def _bulk(name: str) -> Operation | None:
    function = "hirc_copy_bulk_to_shared"
    zero = constant(0)
    match name:
        case "cp.async.bulk.global.to.shared.cluster":
            # destination, mbarrier, source, bytes, mask, cache hint, whether there is a mask
            return function_call("cp.async.bulk", function, 0, 1, 2, 3, 4, 6, context=True)
        case "cp.async.bulk.global.to.shared.cta" | "cp.async.bulk.shared.cta.to.cluster":
            return function_call("cp.async.bulk", function, 0, 1, 2, 3, zero, zero, context=True)
        case "cp.async.bulk.shared.cta.to.global":
            return function_call("cp.async.bulk", "hirc_copy_bulk", 0, 1, 2)
        case "cp.async.bulk.shared.cta.to.global.bytemask":
            return function_call("cp.async.bulk", "hirc_copy_bulk_masked", 0, 1, 2, 5)
        case _:
            return None
