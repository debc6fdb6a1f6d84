"""What is wrong with a program whatever is done with it, though MLIR's verifiers take it: types
that no memory holds, dims that a type does not have, and Host IR where nothing compiles it.
"""

from __future__ import annotations

import re
from functools import cached_property
from math import prod

from ..dialects import hir
from ..dialects.hir.layout import DYNAMIC, LayoutError, strides_and_offset
from ..dialects.hir.loop_operation import COLLECTIVES
from ..dialects.mlir import ir
from ..dialects.records import dataclass
from .dim_axis import axis_fault
from .fusion.access import reassociation
from .fusion.generic import CONFIGURATION
from .passes.select_host_programs import host_programs

# User space has half of what 57 bits address. Sums and paddings of such sizes fit into 64 bits.
_ADDRESSED = 2**56
# So many elements of a constant overflow the vectors that LLVM makes of them.
_HELD = 2**32
# The text of an array type of LLVM, or of one in it.
_ARRAY = re.compile(r"(!llvm\.)?array<(?P<count>\d+) x (?P<element>.*)>")
_DIMS = ("tensor.dim", "memref.dim")
_RESHAPES = ("tensor.collapse_shape", "tensor.expand_shape")
_PROGRAMS = ("hir.program", "hir.launcher")
_OF_REGIONS = (*COLLECTIVES, hir.MatrixElementOp.OPERATION_NAME)
_AT_TOP = (*_PROGRAMS, "hir.kernel")
# What an operation of Host IR may stand in, and what ends the search for it.
_ENDS = (*_PROGRAMS, "func.func", "gpu.launch", "gpu.module")
# What may ask for a configuration, and what may have one.
_CONFIGURED = ("linalg.generic", "gpu.func")
_IN_REGIONS = ("linalg.yield", "linalg.index")


@dataclass(frozen=True)
class Fault:
    """What is wrong, and the operation that is at fault."""

    op: ir.Operation
    message: str


def find_fault(module: ir.Operation, entry: str | None = None) -> Fault | None:
    """Returns the first fault of a module, or None; the function `entry` may take buffers."""
    types: dict[ir.Type, str | None] = {}
    places_of_maps: dict[ir.Attribute, list[_FixedPlace]] = {}
    found: list[Fault] = []
    places = _Places(module, entry)

    def check_type(op: ir.Operation, kind: ir.Type) -> None:
        if kind not in types:
            types[kind] = _fault_of_type(kind)
        message = types[kind]
        if message is not None:
            found.append(Fault(op, message))

    def visit(op: ir.Operation) -> ir.WalkResult:
        for result in op.results:
            check_type(op, result.type)
        for region in op.regions:
            for block in region:
                for argument in block.arguments:
                    check_type(op, argument.type)
        if CONFIGURATION in op.attributes and op.name not in _CONFIGURED:
            message = f"{CONFIGURATION} stands on linalg.generic alone; write the operation as one"
        elif op.name == "memref.global":
            message = _fault_of_global(op)
        elif op.name == "llvm.mlir.global":
            message = _fault_of_array(ir.TypeAttr(op.attributes["global_type"]).value)
        elif op.name in _DIMS:
            message = axis_fault(op)
        elif op.name in _RESHAPES:
            message = _fault_of_groups(op)
        elif op.name == "offload.entry":
            message = places.fault_of_entry(op)
        elif op.name.startswith(("hir.", "linalg.")) and op.name not in _IN_REGIONS:
            message = places.fault_of(op)
        else:
            message = None
        if message is None and op.name == "linalg.generic":
            maps = op.attributes["indexing_maps"]
            if maps not in places_of_maps:
                places_of_maps[maps] = _fixed_places(ir.ArrayAttr(maps))
            message = _beyond(op, places_of_maps[maps])
        if message is not None:
            found.append(Fault(op, message))
        return ir.WalkResult.INTERRUPT if found else ir.WalkResult.ADVANCE

    module.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found[0] if found else None


@dataclass(frozen=True)
class _FixedPlace:
    """An operand's dim of which an operation sees one place, whatever its loops do."""

    operand: int
    dim: int
    place: int


def _fixed_places(maps: ir.ArrayAttr) -> list[_FixedPlace]:
    return [
        _FixedPlace(operand, dim, ir.AffineConstantExpr(expression).value)
        for operand, attribute in enumerate(maps)
        for dim, expression in enumerate(ir.AffineMapAttr(attribute).value.results)
        if isinstance(expression, ir.AffineConstantExpr)
    ]


def _beyond(op: ir.Operation, places: list[_FixedPlace]) -> str | None:
    """Which place no dim has, that upstream's verifier passes over where another size is open."""
    for each in places:
        kind = ir.ShapedType(op.operands[each.operand].type)
        is_open = kind.is_dynamic_dim(each.dim)
        if each.place < 0 or (not is_open and each.place >= kind.get_dim_size(each.dim)):
            return (
                f"the indexing map of operand {each.operand} asks for place {each.place} of dim "
                f"{each.dim}, which is beyond it"
            )
    return None


@dataclass(frozen=True)
class _Places:
    """Where a module's hir operations are compiled: in programs, and functions that become some."""

    module: ir.Operation
    entry: str | None

    @cached_property
    def functions(self) -> set[str]:
        """The names of the functions that become programs."""
        found = host_programs(self.module, self.entry)
        return {ir.StringAttr(each.attributes["sym_name"]).value for each in found}

    @cached_property
    def symbols(self) -> set[str]:
        """The names of what the module defines or declares."""
        names = (
            op.operation.attributes.get("sym_name", None) for op in self.module.regions[0].blocks[0]
        )
        return {name.value for name in names if isinstance(name, ir.StringAttr)}

    def fault_of_entry(self, op: ir.Operation) -> str | None:
        """Why the symbol that stands for an offload.entry on the host is none of the module's."""
        host = op.attributes.get("host", None)
        if not isinstance(host, ir.FlatSymbolRefAttr) or host.value in self.symbols:
            return None
        return f"offload.entry names @{host.value}, which the module has no symbol of"

    def fault_of(self, op: ir.Operation) -> str | None:
        """Why nothing compiles an operation of hir or linalg where it stands; None where it is."""
        if op.name in _AT_TOP:
            return None
        parent, region = op.parent, None
        if op.name in _OF_REGIONS and parent is not None:
            # Its linalg.generic is what has to stand in the right place.
            parent = parent.parent
        while parent is not None and parent.name not in _ENDS:
            if parent.name.startswith("linalg."):
                region = region or parent.name
            parent = parent.parent
        if parent is not None and (
            parent.name in _PROGRAMS or self._name(parent) in self.functions
        ):
            return None if region is None else _too_deep(op, region)
        return _stray(op, parent) if op.name.startswith("hir.") else None

    def _name(self, parent: ir.Operation) -> str | None:
        name = parent.attributes.get("sym_name", None)
        return (
            name.value if parent.name == "func.func" and isinstance(name, ir.StringAttr) else None
        )


def _too_deep(op: ir.Operation, region: str) -> str:
    return (
        f"{op.name} stands in the region of a {region}, which computes single elements with arith "
        "and math: put it before that"
    )


def _stray(op: ir.Operation, parent: ir.Operation | None) -> str:
    where = parent.name if parent is not None else "builtin.module"
    return (
        f"{op.name} stands in a {where}, where nothing compiles it; put it into a hir.program, or "
        "a function that takes or returns tensors"
    )


def _fault_of_groups(op: ir.Operation) -> str | None:
    """Returns what is wrong with the dims of a reshape's groups: upstream looks at some of them."""
    groups = reassociation(op)
    apart = op.operands[0] if op.name == "tensor.collapse_shape" else op.results[0]
    rank = ir.RankedTensorType(apart.type).rank
    if not groups or [dim for group in groups for dim in group] == list(range(rank)):
        return None
    return f"the groups of 'reassociation' are not of the dims 0 to {rank - 1} in order"


def _fault_of_global(op: ir.Operation) -> str | None:
    kind = ir.MemRefType(ir.TypeAttr(op.attributes["type"]).value)
    message = _fault_of_type(kind)
    value = op.attributes.get("initial_value", None)
    has_values = value is not None and not isinstance(value, ir.UnitAttr)
    if message is None and has_values and prod(kind.shape) >= _HELD:
        return f"{kind} has 2^32 values or more, which LLVM does not hold; fill it where it is used"
    return message


def _fault_of_array(kind: ir.Type) -> str | None:
    """Returns what is wrong with the size of an array of LLVM, or of another type."""
    text, count = str(kind), 1
    while (found := _ARRAY.fullmatch(text)) is not None:
        count, text = count * int(found["count"]), found["element"]
    if text != str(kind) and text.startswith("vector<"):
        held = ir.VectorType(ir.Type.parse(text, kind.context))
        count *= prod(held.shape) * _bits(held.element_type) // 8
    if count >= _ADDRESSED:
        return f"{kind} takes {count} bytes or more; no machine addresses 2^56 or more"
    return _fault_of_type(kind)


def _fault_of_type(kind: ir.Type) -> str | None:
    if isinstance(kind, ir.FunctionType):
        faults = map(_fault_of_type, [*kind.inputs, *kind.results])
        return next((fault for fault in faults if fault is not None), None)
    if isinstance(kind, ir.NoneType | ir.TupleType | ir.OpaqueType):
        return f"nothing holds a value of type {kind}"
    if not isinstance(kind, ir.ShapedType) or not kind.has_rank:
        return None
    # Strides are those of sizes of at least 1.
    sizes = [1 if size == DYNAMIC else max(size, 1) for size in kind.shape]
    reached = prod(sizes)
    if isinstance(kind, ir.MemRefType):
        reached = max(reached, _reached(kind, sizes))
    bits = _bits(kind.element_type)
    if reached * bits < 8 * _ADDRESSED:
        return None
    return f"{kind} takes {reached * bits // 8} bytes; no machine addresses 2^56 or more"


def _reached(kind: ir.MemRefType, sizes: list[int]) -> int:
    """Returns how far a buffer's elements lie from its first address, in elements."""
    try:
        strides, offset = strides_and_offset(kind)
    except LayoutError:
        return 0  # Other layouts are refused where buffers are wanted.
    steps = zip(sizes, strides, strict=True)
    known = sum(max(size - 1, 1) * abs(stride) for size, stride in steps if stride != DYNAMIC)
    return known + (0 if offset == DYNAMIC else abs(offset))


def _bits(element: ir.Type) -> int:
    if isinstance(element, ir.ComplexType):
        return 2 * _bits(element.element_type)
    if isinstance(element, ir.VectorType):
        return prod(element.shape) * _bits(element.element_type)
    width = getattr(element, "width", 64)
    return max(width, 8)
