"""`hir.output`: an output of a program or of a branch."""

from typing import Any

from ..mlir import ext
from .dialect import Hir
from .program_inputs import is_signless
from .refusal import is_text, refuse
from .symmetric import sharing_teams
from .values import not_a_value


class OutputOp(Hir.Operation, name="output"):
    """One output of the enclosing hir.program or branch of hir.if, in order; last in its block.

    With `unsigned` the caller has the signless integers of a program's output without a sign.

    Example:
      "hir.output"(%y) {name = "y"} : (memref<?xf32>) -> ()
    """

    value: ext.Operand[Any]

    @staticmethod
    def verify_invariants(op: "OutputOp") -> bool:
        parent = op.operation.parent
        if parent is None or parent.name not in ("hir.program", "hir.if"):
            return refuse(
                op,
                "hir.output ends a hir.program or a branch of hir.if; it stands in "
                f"{parent.name if parent is not None else 'nothing'}",
            )
        reason = not_a_value(op.value.type)
        if reason is not None:
            return refuse(op, f"the output, {op.value.type}, {reason}")
        if sharing_teams(op.value):
            return refuse(
                op,
                "the output lies in memory that a team shares, which is the program's: copy it "
                "with hir.set",
            )
        if "unsigned" in op.attributes and not is_signless(op.value.type):
            return refuse(op, f"'unsigned' is for signless integers, not for {op.value.type}")
        return is_text(op, "name", "the output's name")
