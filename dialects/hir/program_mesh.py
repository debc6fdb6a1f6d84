"""A program over a mesh: its `mesh`, and how inputs, outputs and results are spread over it."""

from __future__ import annotations

from ..mlir import ir
from .element_types import ELEMENT_TYPES
from .mesh import Mesh, Spreads, mesh_fault, mesh_of_shape, read_spreads
from .refusal import refuse
from .spread import Spread

_COMPUTE = ("set", "unary", "binary", "ternary", "reduce", "matmul", "linear")
_COMMUNICATES = (
    *("communicator", "communicate", "coalesce", "wait", "rank", "reshard", "call"),
    *("put", "get", "wait_signal", "barrier", "shares_memory"),
)
# The elements whose parts are combined between devices.
_COMBINED = frozenset(["f64", "f32", "f16", "bf16", "i64", "i32", "i8", "ui64", "ui32", "ui8"])


def mesh_of(program: ir.Operation) -> Mesh | None:
    """Returns the mesh of a program, whose devices are numbered row by row; None
    where it has none.
    """
    if "mesh" not in program.attributes:
        return None
    return mesh_of_shape(tuple(ir.DenseI64ArrayAttr(program.attributes["mesh"])))


def input_spreads(program: ir.Operation, mesh: Mesh, number: int) -> Spreads:
    """Returns how an input is spread: as its description says, else whole."""
    inputs = program.attributes.get("inputs")
    described = ir.DictAttr(ir.ArrayAttr(inputs)[number]) if inputs is not None else {}
    argument = program.regions[0].blocks[0].arguments[number].type
    rank = argument.rank if isinstance(argument, ir.MemRefType) else 0
    return spreads_of(described["spread"] if "spread" in described else None, rank, mesh)  # noqa: SIM401


def spreads_of(attribute: ir.Attribute | None, rank: int, mesh: Mesh) -> Spreads:
    """Returns the spreads of a `spread` that is well-formed; whole where there is none."""
    if attribute is None:
        return (Spread(),) * len(mesh.shape)
    found = read_spreads(attribute, rank, len(mesh.shape))
    assert not isinstance(found, str), "the verifier has seen to it"
    return mesh.normal(found)


def is_combined(element: ir.Type, reduction: str) -> bool:
    """Returns whether devices can combine parts of that element type."""
    name = str(element)
    if name not in _COMBINED:
        return False
    return reduction != "avg" or ELEMENT_TYPES[name].is_float


def has_its_spreads(op: ir.OpView) -> bool:
    """Returns whether what a hir.program says of its mesh is right; says what is
    wrong where not.
    """
    has_mesh = "mesh" in op.attributes
    if has_mesh:
        fault = mesh_fault(op.attributes["mesh"])
        if fault is not None:
            return refuse(op, fault)
    mesh = mesh_of(op.operation)
    return _inputs_fit(op, mesh) and _operations_fit(op, mesh)


def _inputs_fit(op: ir.OpView, mesh: Mesh | None) -> bool:
    described = op.attributes.get("inputs")
    arguments = op.operation.regions[0].blocks[0].arguments
    for number, attribute in enumerate(ir.ArrayAttr(described) if described else ()):
        description = ir.DictAttr(attribute)
        if "spread" not in description:
            continue
        what = f"'spread' of input {number}"
        if not _fits(op, what, description["spread"], arguments[number].type, mesh):
            return False
    return True


def _operations_fit(op: ir.OpView, mesh: Mesh | None) -> bool:
    for child in op.operation.regions[0].blocks[0]:
        name = child.operation.name.removeprefix("hir.")
        shares = name == "allocate" and ("team" in child.attributes or "teams" in child.attributes)
        if mesh is not None and (name in _COMMUNICATES or shares):
            return refuse(
                child,
                f"{child.operation.name} is for programs that say themselves what each device "
                "does; what a program over a mesh communicates follows from its spreads",
            )
        if "spread" not in child.attributes or not child.operation.name.startswith("hir."):
            continue
        if name == "output":
            value = child.operation.operands[0]
        elif name in _COMPUTE and len(child.operation.results):
            value = child.operation.results[0]
        else:
            return refuse(child, "'spread' is for outputs, and for results of compute operations")
        if not _fits(child, "'spread'", child.attributes["spread"], value.type, mesh):
            return False
    return True


def _fits(
    op: ir.OpView, what: str, spread: ir.Attribute, declared: ir.Type, mesh: Mesh | None
) -> bool:
    fault = spread_fault(spread, declared, mesh)
    return fault is None or refuse(op, f"{what} {fault}")


def spread_fault(spread: ir.Attribute, declared: ir.Type, mesh: Mesh | None) -> str | None:
    """Returns what is wrong with the `spread` of a value of that type, or None."""
    if mesh is None:
        return "is how it is divided over a 'mesh', which the program has not"
    if not isinstance(declared, ir.MemRefType):
        return f"is for buffers; {declared} is whole on every device"
    found = read_spreads(spread, declared.rank, len(mesh.shape))
    if isinstance(found, str):
        return f"is {spread}: {found}"
    if any(each.reduction for each in found):
        return f"is {spread}: what a program is given and gives is divided or whole"
    fault = mesh.division_fault(found, declared.shape)
    return None if fault is None else f"is {spread}: {fault}"
