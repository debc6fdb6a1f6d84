"""The common parts of dividing a program and a function over the devices of a mesh."""

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

    def _spreads_of(self, value: ir.Value) -> Spreads:
        return self._spreads.get(value, self.whole_spreads)

    def _note(self, value: ir.Value, whole: _Shaped, spreads: Spreads) -> None:
        self._whole[value] = whole
        self._spreads[value] = spreads

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
        uses = [(use.owner.operation, use.operand_number) for use in result.uses]
        with ir.InsertionPoint.after(op):
            whole = arith.muli(result, index_constant(parts))
        for user, number in uses:
            user.operands[number] = whole
