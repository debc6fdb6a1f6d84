"""What rewriting a program over a mesh and rewriting a function over one have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from ....dialects.hir.mesh import Mesh, Spreads, spreads_attribute
from ....dialects.hir.spread import Spread
from ....dialects.mlir import arith, ir
from ...rewriting import index_constant
from ...walking import operations_where
from ..communication.ops import communicator

_Shaped = TypeVar("_Shaped", ir.MemRefType, ir.RankedTensorType)
_OF_TEAMS = ("hir.reshard", "hir.communicator")


class MeshRewriting(Generic[_Shaped]):
    """A program or a function over a mesh while it becomes what each device does of it."""

    def __init__(self, owner: ir.Operation, mesh: Mesh) -> None:
        self.owner = owner
        self.mesh = mesh
        self.block = owner.regions[0].blocks[0]
        self.whole_spreads: Spreads = (Spread(),) * len(mesh.shape)
        # Of each value that was visited, what the whole's type is and how it is spread.
        self._whole: dict[ir.Value, _Shaped] = {}
        self._spreads: dict[ir.Value, Spreads] = {}
        self._resharded: dict[tuple[ir.Value, Spreads], ir.Value] = {}

    def _spreads_of(self, value: ir.Value) -> Spreads:
        return self._spreads.get(value, self.whole_spreads)

    def _note(self, value: ir.Value, whole: _Shaped, spreads: Spreads) -> None:
        self._whole[value] = whole
        self._spreads[value] = spreads

    def _finish(self, mesh_name: str, results: Sequence[ir.Type]) -> None:
        """Declares what is left, which has no mesh any more."""
        arguments = [argument.type for argument in self.block.arguments]
        declared = ir.FunctionType.get(arguments, list(results))
        self.owner.attributes["function_type"] = ir.TypeAttr.get(declared)
        del self.owner.attributes[mesh_name]
        if not operations_where(self.owner, lambda op: op.name in _OF_TEAMS):
            # It is run by as many processes nonetheless, each with a device and a part of its own.
            with ir.InsertionPoint.at_block_begin(self.block), self.owner.location:
                communicator([[device] for device in self.mesh.devices])

    def _part_sizes(self, sizes: ir.Attribute, whole: _Shaped, spreads: Spreads) -> ir.Attribute:
        """Returns what is said of an input's sizes as those of a part."""
        found: list[ir.Attribute] = []
        for dim, size in enumerate(ir.ArrayAttr(sizes)):
            parts = self.mesh.parts(spreads, dim)
            if parts > 1 and isinstance(size, ir.StringAttr):
                size = ir.StringAttr.get(f"{size.value}/{parts}")
            elif parts > 1:
                i64 = ir.IntegerType.get_signless(64)
                size = ir.IntegerAttr.get(i64, whole.shape[dim] // parts)
            found.append(size)
        return ir.ArrayAttr.get(found)

    def _resharding(
        self, buffer: ir.Value, now: Spreads, spreads: Spreads, part: ir.MemRefType
    ) -> ir.Value:
        """Returns a hir.reshard of a buffer, within the mesh."""
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
        """A size that the program asks for is that of the whole."""
        parts = self.mesh.parts(self._spreads_of(op.operands[0]), dim)
        if parts == 1:
            return
        result = op.results[0]
        uses = [(use.owner.operation, use.operand_number) for use in result.uses]
        with ir.InsertionPoint.after(op):
            whole = arith.muli(result, index_constant(parts))
        for user, number in uses:
            user.operands[number] = whole
