"""What the collective operations in a linalg.generic's region share: kinds and loops."""

from ..mlir import ir
from .refusal import numbers, refuse

GENERIC = "linalg.generic"
COLLECTIVES = ("hir.find_loops", "hir.reduce_loops", "hir.scan_loop")

# The operations of arith that combine two values into one, by the types they take.
FLOAT_KINDS = ("addf", "mulf", "maximumf", "minimumf", "maxnumf", "minnumf")
# Those of scans: a running logarithm of a sum of powers can be made of no others.
FLOAT_SCANS = (*FLOAT_KINDS, "logaddexp")
INTEGER_KINDS = ("addi", "muli", "maxsi", "maxui", "minsi", "minui", "andi", "ori", "xori")


def kind_of(op: ir.Operation) -> str:
    """Returns the kind of a verified collective operation: `addf`."""
    return ir.StringAttr(op.attributes["kind"]).value


def loops_of(op: ir.Operation) -> list[int]:
    """Returns the loops of a verified hir.reduce_loops, hir.find_loops or hir.scan_loop."""
    if "loop" in op.attributes:
        return [ir.IntegerAttr(op.attributes["loop"]).value]
    return list(ir.DenseI64ArrayAttr(op.attributes["loops"]))


def has_kind(op: ir.OpView, value: ir.Value, among: tuple[str, ...] = ()) -> bool:
    """Returns whether `kind` is one for the type of `value`; only those of `among`, where it is
    given.
    """
    is_float = isinstance(value.type, ir.FloatType)
    if not is_float and not isinstance(value.type, ir.IntegerType):
        return refuse(op, f"{op.operation.name} takes a float or an integer, not {value.type}")
    known = FLOAT_SCANS if is_float else INTEGER_KINDS
    kinds = [kind for kind in known if kind in (among or (*FLOAT_KINDS, *INTEGER_KINDS))]
    found = op.attributes.get("kind")
    if isinstance(found, ir.StringAttr) and found.value in kinds:
        return True
    return refuse(
        op,
        f"{op.operation.name} 'kind' of {value.type} is one of {', '.join(kinds)}, not {found}",
    )


def has_loops(op: ir.OpView) -> bool:
    """Returns whether `loops` names some loops of the linalg.generic around, each once and
    reducing.
    """
    loops = numbers(op.attributes["loops"]) if "loops" in op.attributes else None
    if not loops or len(set(loops)) != len(loops):
        return refuse(
            op,
            f"{op.operation.name} 'loops' is an array<i64: ...> of one loop at least, each once",
        )
    return are_loops(op, loops)


def are_loops(op: ir.OpView, loops: list[int]) -> bool:
    """Returns whether the operation stands in a linalg.generic that has these loops,
    as reductions.
    """
    parent = op.operation.parent
    if parent is None or parent.name != GENERIC:
        return refuse(op, f"{op.operation.name} stands in the region of a {GENERIC}")
    kinds = [str(kind) for kind in ir.ArrayAttr(parent.attributes["iterator_types"])]
    for loop in loops:
        if not 0 <= loop < len(kinds):
            return refuse(op, f"the {GENERIC} has loops 0 to {len(kinds) - 1}, and no loop {loop}")
        if "reduction" not in kinds[loop]:
            return refuse(
                op, f"loop {loop} is parallel; what {op.operation.name} goes along is a reduction"
            )
    return True


def gives(op: ir.OpView, types: list[ir.Type]) -> bool:
    """Returns whether the results have these types."""
    found = [result.type for result in op.operation.results]
    if found == types:
        return True
    wanted = ", ".join(map(str, types))
    there = ", ".join(map(str, found))
    return refuse(op, f"{op.operation.name} of this operand gives {wanted}, not {there}")
