"""Programs that call themselves, which hir.program refuses."""

from ..mlir import ir
from .refusal import refuse
from .symbols import lookup


def calls_itself(program: ir.OpView) -> bool:
    """Returns whether a program calls itself, through others or not; says by which way where it
    does.
    """
    name = _name(program.operation)
    seen: set[str] = set()
    # Calls to look into, each with the programs that lead to it.
    waiting = [(call, [name]) for call in _calls(program.operation)]
    while waiting:
        call, way = waiting.pop()
        callee = ir.FlatSymbolRefAttr(call.attributes["callee"]).value
        if callee == name:
            chain = " -> ".join(f"@{step}" for step in [*way, callee])
            refuse(
                call,
                f"@{name} calls itself ({chain}); programs do not recurse: repeat with hir.for",
            )
            return True
        found = None if callee in seen else lookup(program, [callee])
        seen.add(callee)
        if found is not None and found.name == "hir.program":
            waiting += [(inner, [*way, callee]) for inner in _calls(found)]
    return False


def _calls(program: ir.Operation) -> list[ir.Operation]:
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name == "hir.call" and isinstance(
            op.attributes.get("callee", None), ir.FlatSymbolRefAttr
        ):
            found.append(op)
        return ir.WalkResult.ADVANCE

    program.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def _name(op: ir.Operation) -> str:
    return ir.StringAttr(op.attributes["sym_name"]).value
