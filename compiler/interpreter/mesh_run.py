"""Running a program over a mesh: on the whole, which every device makes of the parts of all.

Each device computes everything, and takes of the outputs what is its own. That is what the program
says, and nothing of how it is divided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...dialects.hir.element_types import ELEMENT_TYPES
from ...dialects.hir.layout import DYNAMIC
from ...dialects.hir.mesh import Mesh, Spreads
from ...dialects.hir.program_mesh import input_spreads, mesh_of, spreads_of
from ...dialects.mlir import ir
from ..errors import InputError
from . import fault
from .mesh_parts import assemble, part_of
from .outline import Outline
from .team import Exchanges, Place
from .torch_import import torch


@dataclass(frozen=True)
class MeshRun:
    """A device's part in a run."""

    outline: Outline
    mesh: Mesh
    place: Place

    @staticmethod
    def of(outline: Outline, place: Place | None) -> MeshRun | None:
        """That of the device that stands at `place`; None where the program has no mesh."""
        mesh = mesh_of(outline.op)
        if mesh is None:
            return None
        number = len(mesh.devices)
        running = 1 if place is None else place.exchanges.size
        if number > running:
            raise InputError(
                f"@{outline.name} is over a mesh of {number} devices, and {running} "
                f"run{'s' if running == 1 else ''} it",
                stage=fault.STAGE,
                hint=f"start it as a team: hirc-run --interpret --devices={number}",
            )
        return MeshRun(outline, mesh, place or Place(0, Exchanges(1)))

    @property
    def _own(self) -> tuple[int, ...] | None:
        """The device's place in the mesh; None where it is beyond it."""
        rank = self.place.rank
        return self.mesh.places[rank] if rank < len(self.mesh.devices) else None

    def wholes(self, values: Sequence[Any]) -> list[Any]:
        """Returns the inputs, each made of what all devices were given of it."""
        if self._own is None:
            raise InputError(
                f"device {self.place.rank} is none of the mesh of @{self.outline.name}",
                stage=fault.STAGE,
            )
        wholes: list[Any] = []
        # Of weights and state the values are the wholes.
        described = self.outline.op.attributes.get("inputs")
        held = {
            number
            for number, each in enumerate(ir.ArrayAttr(described) if described else ())
            if "weight" in ir.DictAttr(each) or "state" in ir.DictAttr(each)
        }
        for number, (value, named) in enumerate(zip(values, self.outline.inputs, strict=True)):
            spreads = input_spreads(self.outline.op, self.mesh, number)
            is_part = isinstance(value, torch.Tensor) and number not in held
            if all(each.is_whole for each in spreads) or not is_part:
                wholes.append(value)
                continue
            where = f"input '{named.name}'"
            given = self.place.exchange(self.mesh.devices, value, where)
            given_shapes = self._given_shapes(ir.MemRefType(named.type), spreads, value)
            for device, other in enumerate(given):
                if tuple(other.shape) != given_shapes[device]:
                    raise InputError(
                        f"{where}: {tuple(other.shape)} on device {device}, whose part is "
                        f"{given_shapes[device]}",
                        stage=fault.STAGE,
                        hint="parts of an open size are as large on all devices; a size that the "
                        "type says may be divided unevenly"
                        if DYNAMIC in ir.MemRefType(named.type).shape
                        else None,
                    )
                if other.dtype != value.dtype:
                    raise InputError(
                        f"{where}: {tuple(value.shape)} of {value.dtype} on device "
                        f"{self.place.rank}, {tuple(other.shape)} of {other.dtype} on {device}",
                        stage=fault.STAGE,
                    )
            parts = dict(zip(self.mesh.places, given, strict=True))
            element = ELEMENT_TYPES[str(ir.MemRefType(named.type).element_type)]
            wholes.append(assemble(self.mesh, spreads, parts, element, {}))
        return wholes

    def _given_shapes(
        self, whole: ir.MemRefType, spreads: Spreads, value: Any
    ) -> list[tuple[int, ...]]:
        """The sizes of the parts of all devices, those that are open as of this one's part."""
        if value.dim() != whole.rank:
            raise InputError(
                f"an input of {whole.rank} dims is {tuple(value.shape)}", stage=fault.STAGE
            )
        stand_in = torch.empty(()).expand(
            [
                part * self.mesh.parts(spreads, dim) if size < 0 else size
                for dim, (size, part) in enumerate(zip(whole.shape, value.shape, strict=True))
            ]
        )
        return [
            tuple(part_of(self.mesh, spreads, stand_in, place).shape) for place in self.mesh.places
        ]

    def own(self, results: Sequence[Any], wanted: Sequence[Any]) -> list[Any]:
        """Returns the device's parts of the outputs, in the tensors that were handed
        in for them.
        """
        assert self._own is not None
        found: list[Any] = []
        for op, result, target in zip(self.outline.outputs, results, wanted, strict=True):
            if not isinstance(result, torch.Tensor) or not isinstance(
                op.operands[0].type, ir.MemRefType
            ):
                found.append(result)
                continue
            rank = op.operands[0].type.rank
            spreads = spreads_of(op.attributes.get("spread"), rank, self.mesh)
            declared = ir.MemRefType(op.operands[0].type).shape
            for dim, size in enumerate(result.shape):
                if declared[dim] < 0 and not self.mesh.is_even(spreads, dim, size):
                    raise InputError(
                        f"an output: {self.mesh.uneven_text(spreads, dim, size)}",
                        stage=fault.STAGE,
                        hint="a size that the type says may be divided into different parts",
                    )
            part = part_of(self.mesh, spreads, result, self._own).contiguous()
            if target is not None:
                if target.shape != part.shape or target.dtype != part.dtype:
                    raise InputError(
                        f"an output is {tuple(part.shape)} of {part.dtype}, and the tensor for it "
                        f"{tuple(target.shape)} of {target.dtype}",
                        stage=fault.STAGE,
                    )
                part = target.copy_(part)
            found.append(part)
        return found
