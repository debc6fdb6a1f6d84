"""Finds loops that do nothing but wait for an mbarrier: they become one stop.

LAB_WAIT: mbarrier.try_wait.parity.shared.b64 P1, [$0], $1, $2;
@P1 bra.uni DONE;
bra.uni LAB_WAIT;
DONE:
"""

from __future__ import annotations

from .syntax import Label, PtxInstruction, Statement
from .threads import is_wait


def with_waits(statements: list[Statement]) -> list[Statement]:
    """Returns the statements with such loops replaced by an instruction `hirc.mbarrier.wait`."""
    found: list[Statement] = []
    at = 0
    while at < len(statements):
        length = _loop_at(statements, at)
        if length:
            wait = statements[at + 1]
            assert isinstance(wait, PtxInstruction)
            parity = ".parity" if ".parity" in wait.opcode else ""
            found.append(PtxInstruction(f"hirc.mbarrier.wait{parity}", wait.operands))
        else:
            found.append(statements[at])
        at += max(length, 1)
    return found


def _loop_at(statements: list[Statement], at: int) -> int:
    """Returns the number of statements of a loop that begins here, 0 where there is none."""
    if at + 2 >= len(statements):
        return 0
    label, wait, branch = statements[at : at + 3]
    if not isinstance(label, Label) or not isinstance(wait, PtxInstruction):
        return 0
    if not is_wait(wait.opcode) or wait.predicate or not _is_branch(branch, wait.operands[0]):
        return 0
    assert isinstance(branch, PtxInstruction)
    if branch.negated:
        return 3 if branch.operands[0] == label.name else 0
    rest = statements[at + 3 : at + 5]
    back, done = rest if len(rest) == 2 else (None, None)
    if not isinstance(back, PtxInstruction) or not isinstance(done, Label):
        return 0
    goes_back = back.opcode.startswith("bra") and not back.predicate
    if goes_back and back.operands[0] == label.name and branch.operands[0] == done.name:
        return 4  # the last label stays: others may go there
    return 0


def _is_branch(statement: Statement, predicate: str) -> bool:
    return (
        isinstance(statement, PtxInstruction)
        and statement.opcode.startswith("bra")
        and statement.predicate == predicate
    )
