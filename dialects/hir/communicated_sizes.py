"""Whether the buffers of a communication have the sizes that its kind needs."""

from ..mlir import ir
from .layout import is_packed
from .refusal import refuse
from .values import element_count, not_a_buffer

_OUTPUT_IS_LARGER = ("gather", "allgather")
_INPUT_IS_LARGER = ("scatter", "reduce-scatter")


def sizes_fit(op: ir.OpView, kind: str, given: ir.Type, taken: ir.Type, team: int) -> bool:
    """Returns whether input and output of a communication in a team of that size
    fit; says why not.
    """
    for what, buffer in (("input", given), ("output", taken)):
        reason = not_a_buffer(buffer)
        if reason is not None:
            return refuse(op, f"the {what} of a communication is a buffer; {buffer} {reason}")
        if not is_packed(ir.MemRefType(buffer)):
            return refuse(
                op,
                f"the {what} of a communication is packed; {buffer} has strides of its own or "
                "leaves them open: copy it with hir.set",
            )
    source, target = ir.MemRefType(given), ir.MemRefType(taken)
    if source.element_type != target.element_type:
        return refuse(
            op,
            f"input and output of a communication have one element type, not {source.element_type} "
            f"and {target.element_type}: convert with hir.set",
        )
    # What is received from a peer is as much as that one sends.
    has_peers = kind == "send-recv" and len(list(op.operation.operands)) > 3
    return has_peers or _counts_fit(op, kind, source, target, team)


def _counts_fit(
    op: ir.OpView, kind: str, source: ir.MemRefType, target: ir.MemRefType, team: int
) -> bool:
    here, there = element_count(source), element_count(target)
    if here is None or there is None:
        return True
    if kind in _OUTPUT_IS_LARGER and there != here * team:
        wanted = f"an output of {team} times the input, {here * team} elements, not {there}"
    elif kind in _INPUT_IS_LARGER and here != there * team:
        wanted = f"an input of {team} times the output, {there * team} elements, not {here}"
    elif kind not in _OUTPUT_IS_LARGER + _INPUT_IS_LARGER and here != there:
        wanted = f"input and output of one size, not {here} and {there} elements"
    elif kind == "all-to-all" and here % team:
        wanted = f"as many elements for each of {team} devices; {here} do not divide evenly"
    else:
        return True
    return refuse(op, f"{kind} within a team of {team} has {wanted}")
