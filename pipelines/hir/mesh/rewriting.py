"""The common parts of dividing a program and a function over the devices of a mesh."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from ....dialects.hir.layout import DYNAMIC
from ....dialects.hir.mesh import Mesh, Spreads, spreads_attribute
from ....dialects.hir.spread import Spread
from ....dialects.mlir import arith, ir
from ...rewriting import index_constant
from ...walking import operations_where
from ..communication.ops import communicator, place_in
from ..host_checks import check

_Shaped = TypeVar("_Shaped", ir.MemRefType, ir.RankedTensorType)
_OF_TEAMS = ("hir.reshard", "hir.communicator")


class MeshRewriting(Generic[_Shaped]):
    """Rewrites a program or a function over a mesh to what each device does of it."""

    def __init__(self, owner: ir.Operation, mesh: Mesh) -> None:
        self.owner = owner
        self.mesh = mesh
        self.block = owner.regions[0].blocks[0]
        self.whole_spreads: Spreads = (Spread(),) * len(mesh.shape)
        # For each visited value, the type of the whole and how it is spread.
        self._whole: dict[ir.Value, _Shaped] = {}
        self._spreads: dict[ir.Value, Spreads] = {}
        self._resharded: dict[tuple[ir.Value, Spreads], ir.Value] = {}
        self._places: dict[int, ir.Value] = {}

    def _spreads_of(self, value: ir.Value) -> Spreads:
        return self._spreads.get(value, self.whole_spreads)

    def _note(self, value: ir.Value, whole: _Shaped, spreads: Spreads) -> None:
        self._whole[value] = whole
        self._spreads[value] = spreads

    def _place(self, axis: int) -> ir.Value:
        """The device's place along an axis of the mesh, which is there from the beginning."""
        if axis not in self._places:
            with ir.InsertionPoint.at_block_begin(self.block), self.owner.location:
                self._places[axis] = place_in(communicator(self.mesh.teams(axis)))
        return self._places[axis]

    def _bounds(self, spreads: Spreads, dim: int, size: int) -> tuple[ir.Value, ir.Value]:
        """Where the device's part of a dim that one axis divides begins, and how much it has."""
        axis = next(axis for axis, each in enumerate(spreads) if each.axis == dim)
        part, end = index_constant(self.mesh.part(spreads, dim, size)), index_constant(size)
        start = arith.minsi(arith.muli(self._place(axis), part), end)
        return start, arith.minsi(arith.subi(end, start), part)

    def _given_type(self, part: list[int], whole: Sequence[int], spreads: Spreads) -> list[int]:
        """Returns the sizes of a part as it is given: open where devices have different ones."""
        uneven = self.mesh.uneven(spreads, whole)
        return [DYNAMIC if dim in uneven else size for dim, size in enumerate(part)]

    def _check_given(
        self, what: str, whole: Sequence[int], spreads: Spreads, size_of: Callable[[int], ir.Value]
    ) -> None:
        """The program checks that a device is given the part that it is to have."""
        for dim in self.mesh.uneven(spreads, whole):
            _, number = self._bounds(spreads, dim, whole[dim])
            fits = arith.cmpi(arith.CmpIPredicate.eq, size_of(dim), number)
            parts, size = self.mesh.parts(spreads, dim), self.mesh.part(spreads, dim, whole[dim])
            check(
                fits,
                f"{what}: of the {whole[dim]} elements of dim {dim} the first of {parts} devices "
                f"have {size} each, the next what is left; this one is given another number",
            )

    def _stop(self, now: Spreads, after: Spreads, whole: Sequence[int]) -> Spreads:
        """Returns how to spread a buffer first, where what it is spread as divides a dim otherwise
        than it is to be, and unevenly: there it is whole in between.
        """
        bad: set[int] = set()
        for dim, size in enumerate(whole):
            given, wanted = (self.mesh.parts(spreads, dim) for spreads in (now, after))
            if min(given, wanted) > 1 and given != wanted:
                uneven = (self.mesh.is_even(each, dim, size) for each in (now, after))
                bad.update(() if all(uneven) else (dim,))
        return tuple(Spread() if each.axis in bad else each for each in now)

    def _padding(
        self, now: Spreads, after: Spreads, whole: Sequence[int]
    ) -> tuple[list[int], list[int]]:
        """Returns the sizes of a part before a hir.reshard, and after it: of equal parts, of which
        the last ones' ends belong to no element.
        """
        before: list[int] = []
        then: list[int] = []
        for dim, size in enumerate(whole):
            part, wanted = (self.mesh.part(spreads, dim, size) for spreads in (now, after))
            given, parts = (self.mesh.parts(spreads, dim) for spreads in (now, after))
            if size != DYNAMIC and given == 1:
                part = wanted * parts
            elif size != DYNAMIC and parts == 1:
                wanted = part * given
            before.append(part)
            then.append(wanted)
        return before, then

    def _finish(self, mesh_name: str, results: Sequence[ir.Type]) -> None:
        """Sets the function's new type, and removes its mesh."""
        arguments = [argument.type for argument in self.block.arguments]
        declared = ir.FunctionType.get(arguments, list(results))
        self.owner.attributes["function_type"] = ir.TypeAttr.get(declared)
        del self.owner.attributes[mesh_name]
        if not operations_where(self.owner, lambda op: op.name in _OF_TEAMS):
            # As many processes run it nonetheless, each with its own device and part.
            with ir.InsertionPoint.at_block_begin(self.block), self.owner.location:
                communicator([[device] for device in self.mesh.devices])

    def _part_sizes(self, sizes: ir.Attribute, whole: _Shaped, spreads: Spreads) -> ir.Attribute:
        """Returns the description of an input's sizes for the part of a device."""
        found: list[ir.Attribute] = []
        for dim, size in enumerate(ir.ArrayAttr(sizes)):
            parts = self.mesh.parts(spreads, dim)
            if parts > 1 and isinstance(size, ir.StringAttr):
                size = ir.StringAttr.get(f"{size.value}/{parts}")
            elif not self.mesh.is_even(spreads, dim, whole.shape[dim]):
                # Devices along different axes have different numbers of as many elements.
                axis = next(axis for axis, each in enumerate(spreads) if each.axis == dim)
                which = f":{axis}" if sum(each > 1 for each in self.mesh.shape) > 1 else ""
                size = ir.StringAttr.get(f"{whole.shape[dim]}/{parts}{which}")
            elif parts > 1:
                i64 = ir.IntegerType.get_signless(64)
                size = ir.IntegerAttr.get(i64, whole.shape[dim] // parts)
            found.append(size)
        return ir.ArrayAttr.get(found)

    def _resharding(
        self, buffer: ir.Value, now: Spreads, spreads: Spreads, part: ir.MemRefType
    ) -> ir.Value:
        """Emits a hir.reshard of a buffer within the mesh, and returns its result."""
        team = ir.DenseI64ArrayAttr.get(list(self.mesh.devices))
        return ir.Operation.create(
            "hir.reshard",
            [part],
            [buffer],
            {
                "from": spreads_attribute(now),
                "to": spreads_attribute(spreads),
                "from_team": team,
                "to_team": team,
                "mesh": ir.DenseI64ArrayAttr.get(list(self.mesh.shape)),
            },
        ).results[0]

    def _multiply_size(self, op: ir.Operation, dim: int) -> None:
        """Multiplies a size that the program reads, so that it is that of the whole."""
        parts = self.mesh.parts(self._spreads_of(op.operands[0]), dim)
        if parts == 1:
            return
        result = op.results[0]
        size = self._whole[op.operands[0]].shape[dim]
        uses = [(use.owner.operation, use.operand_number) for use in result.uses]
        with ir.InsertionPoint.after(op):
            whole = (
                arith.muli(result, index_constant(parts))
                if size == DYNAMIC
                else index_constant(size)
            )
        for user, number in uses:
            user.operands[number] = whole
