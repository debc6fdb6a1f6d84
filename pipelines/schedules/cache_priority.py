"""What is read once stays in the cache longer than what is written, where data is large.

On an H200 a kernel that writes about as much as it reads moves more if lines that were read are
evicted last: written ones then leave the cache earlier and together, and the memory changes less
often between reading and writing (copies 4315 GB/s as against 4250, layer norm 4294 and 4129, each
over inputs in turn of which nothing is in the cache). Later kernels find up to a fifth less of
the cache free, so that it is worth it for data that does not fit the cache alone.
"""

from __future__ import annotations

from ...dialects.mlir import arith, ir
from ..rewriting import constant, index_constant
from .elements import element_bytes
from .parameters import Parameters
from .ptx import instructed
from .size import ONE, ZERO, Size, product
from .work import Operand, Work

# The first chips whose loads take a policy (PTX ISA, "createpolicy").
_FIRST_CAPABILITY = 80
# The first whose policies are known as numbers: what the assembler makes of all of an access by
# "evict_last", which is CUTLASS's `CacheHintSm90::EVICT_LAST`, and by "evict_normal".
_KNOWN_CAPABILITY = 90
_EVICT_LAST, _EVICT_NORMAL = 0x14F0 << 48, 0x16F0 << 48
# An operand of fewer bytes than so many caches is not large.
_CACHES = 2


def read_policy(work: Work, operand: Operand, parameters: Parameters) -> ir.Value | None:
    """The policy (i64) that an input's loads take in a kernel, or None.

    For inputs that have an element of their own for each iteration, of kernels that write one.
    """
    if operand.is_output or not any(_is_whole(work, each) for each in work.outputs):
        return None
    if not _is_whole(work, operand):
        return None
    return policy_of(work, product(work.extents) * Size(element_bytes(operand.element)), parameters)


def policy_of(work: Work, bytes_: Size, parameters: Parameters) -> ir.Value | None:
    """The policy for loads of so many bytes, each of which is read once; or None."""
    device = work.device
    if device is None or device.capability < _FIRST_CAPABILITY:
        return None
    least = _CACHES * device.cache_bytes
    if bytes_.is_known:
        if bytes_.known < least:
            return None
        return parameters.once("evict last", lambda: policy("evict_last"))

    def chosen(last: ir.Value, other: ir.Value) -> ir.Value:
        size = work.open.value(bytes_)
        is_large = arith.cmpi(arith.CmpIPredicate.uge, size, index_constant(least))
        return arith.select(is_large, last, other)

    if device.capability >= _KNOWN_CAPABILITY:
        i64 = ir.IntegerType.get_signless(64)
        return parameters.computed(
            ("evict last", bytes_),
            i64,
            lambda _: chosen(constant(i64, _EVICT_LAST), constant(i64, _EVICT_NORMAL)),
        )
    i32 = ir.IntegerType.get_signless(32)
    flag = parameters.computed(
        ("is large", bytes_), i32, lambda _: chosen(constant(i32, 1), constant(i32, 0))
    )

    def choose() -> ir.Value:
        last, normal = policy("evict_last"), policy("evict_normal")
        return arith.select(
            arith.cmpi(arith.CmpIPredicate.ne, flag, constant(i32, 0)), last, normal
        )

    return parameters.once(("evict last", bytes_), choose)


def _is_whole(work: Work, operand: Operand) -> bool:
    """Returns whether each iteration has an element of its own."""
    pairs = zip(operand.strides, work.extents, strict=True)
    return all(stride != ZERO or extent == ONE for stride, extent in pairs)


def policy(priority: str) -> ir.Value:
    """Makes a policy (i64) of this priority, in a kernel."""
    text = f"createpolicy.fractional.L2::{priority}.b64 $0;"
    return instructed(text, [], "=l", ir.IntegerType.get_signless(64), has_effects=False)
