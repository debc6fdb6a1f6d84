"""fence-ordered-atomics: the orderings of llvm.atomicrmw, which the code generator drops."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..pass_base import Pass, fail, register
from ..walking import operations_where

# The scopes that LLVM's user guide for the NVPTX back-end names, and LLVM's own two.
_SCOPES = ("", "singlethread", "block", "cluster", "device")
# llvm::AtomicOrdering.
_MONOTONIC, _ACQUIRE, _RELEASE, _ACQ_REL, _SEQ_CST = 2, 4, 5, 6, 7
# What goes before and after an operation of an ordering.
_BEFORE = {_RELEASE: _RELEASE, _ACQ_REL: _RELEASE, _SEQ_CST: _SEQ_CST}
_AFTER = {_ACQUIRE: _ACQUIRE, _ACQ_REL: _ACQUIRE, _SEQ_CST: _ACQUIRE}


@register
@dataclass(frozen=True)
class FenceOrderedAtomics(Pass):
    """Puts fences around each llvm.atomicrmw of an ordering stronger than monotonic.

    LLVM's NVPTX code generator makes a relaxed instruction of every llvm.atomicrmw, whatever its
    ordering; it honours those of llvm.cmpxchg, of loads and stores, and of fences. It also takes
    any name for a scope: one that it does not know is refused.

      llvm.atomicrmw fadd %p, %v syncscope("block") acq_rel : !llvm.ptr, f32
    becomes
      llvm.fence syncscope("block") release
      llvm.atomicrmw fadd %p, %v syncscope("block") monotonic : !llvm.ptr, f32
      llvm.fence syncscope("block") acquire

    Sequential consistency is a seq_cst fence before and an acquire fence after (PTX ISA, memory
    consistency model: fence.sc is a release fence as well). memref's atomics, which have no
    ordering, are not llvm operations yet where this runs.
    """

    name: ClassVar[str] = "fence-ordered-atomics"
    subjects: ClassVar[tuple[str, ...]] = ("llvm.",)

    def run(self, op: ir.Operation) -> bool:
        found = operations_where(op, lambda inner: inner.name.startswith("llvm."))
        for inner in found:
            if "syncscope" not in inner.attributes:
                continue
            scope = ir.StringAttr(inner.attributes["syncscope"]).value
            if scope not in _SCOPES:
                known = ", ".join(f"'{name}'" for name in _SCOPES if name)
                fail(
                    inner,
                    f"'{inner.name}' has the unknown scope '{scope}'; device code has {known}, "
                    "and the whole system where none is given",
                )
        atomics = [inner for inner in found if inner.name == "llvm.atomicrmw"]
        for atomic in atomics:
            _fence(atomic)
        return bool(atomics)


def _fence(atomic: ir.Operation) -> None:
    ordering = ir.IntegerAttr(atomic.attributes["ordering"])
    scope = atomic.attributes.get("syncscope")
    with atomic.location:
        if ordering.value in _BEFORE:
            _add_fence(_BEFORE[ordering.value], scope, ir.InsertionPoint(atomic))
        if ordering.value in _AFTER:
            _add_fence(_AFTER[ordering.value], scope, ir.InsertionPoint.after(atomic))
    if ordering.value > _MONOTONIC:
        atomic.attributes["ordering"] = ir.IntegerAttr.get(ordering.type, _MONOTONIC)


def _add_fence(ordering: int, scope: ir.Attribute | None, where: ir.InsertionPoint) -> None:
    attributes: dict[str, ir.Attribute] = {
        "ordering": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), ordering)
    }
    if scope is not None:
        attributes["syncscope"] = scope
    ir.Operation.create("llvm.fence", attributes=attributes, ip=where)
