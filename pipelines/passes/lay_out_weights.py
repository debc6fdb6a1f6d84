"""lay-out-weights: where each weight of a module lies in the memory that they share."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..pass_base import Pass, fail, register
from ..weights import WeightFault, declared_weights, lay_out, read_layout
from .select_host_programs import host_programs


@register
@dataclass(frozen=True)
class LayOutWeights(Pass):
    """Notes at the module where its weights lie, unless that was decided for it.

      func.func @main(%x: tensor<4xf32>, %w: tensor<4xf32> {hirc.weight = "w"}) -> tensor<4xf32>
    gives the module the attribute
      hirc.weights = {bytes = 256, file = "", header = '{"w":{"dtype":"F32","shape":[4],
                      "data_offsets":[0,16]}}'}
    The header is that of a safetensors file; its offsets are those on the device.
    """

    name: ClassVar[str] = "lay-out-weights"
    entry: str = "main"
    executable: bool = True

    def run(self, op: ir.Operation) -> None:
        try:
            programs = host_programs(op, self.entry if self.executable else None)
            declared = declared_weights(op, programs)
        except WeightFault as fault:
            fail(fault.op, fault.message)
        if read_layout(op) is None:
            lay_out(declared).write(op)
