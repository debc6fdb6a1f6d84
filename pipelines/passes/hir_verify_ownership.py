"""hir-verify-ownership: the rules of ownership, checked before anything runs."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..hir.memory.alias_chains import alias_roots
from ..hir.memory.ownership import Ownership
from ..pass_base import Pass, PassFailure, register
from ..walking import operations_where


@register
@dataclass(frozen=True)
class HirVerifyOwnership(Pass):
    """Checks that memory is used while it lives, and ends once; changes nothing.

    Errors are: a use after the free (through views too, and on one path alone), a second free, a
    leak (neither freed on every path nor an output), an output or an operand that nothing was
    written to, an alias cycle, freeing an input or an output, freeing in a loop what was made
    before it, hir.reuse of what is still used, and a branch that gives a fresh buffer where the
    other gives one from outside.
    """

    name: ClassVar[str] = "hir-verify-ownership"
    makes: ClassVar[tuple[str, ...]] = ()

    def run(self, op: ir.Operation) -> None:
        is_kept = True
        for program in operations_where(op, lambda inner: inner.name == "hir.program"):
            alias_roots(program)
            is_kept = Ownership(program).is_kept and is_kept
        if not is_kept:
            raise PassFailure(self.name)
