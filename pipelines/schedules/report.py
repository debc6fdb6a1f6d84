"""What was decided of each kernel: lines for people."""

from __future__ import annotations

from ...dialects.mlir import ir
from ..fusion.generic import CONFIGURATION
from ..locations import file_position, location_text
from ..walking import operations_where
from .configuration import FAMILY, values_of


def schedule_lines(module: ir.Operation) -> list[str]:
    """Returns a line for each kernel of a module, with its place in the source."""
    return [_line(each) for each in operations_where(module, lambda op: op.name == "gpu.func")]


def _line(kernel: ir.Operation) -> str:
    position = file_position(kernel.location)
    where = f"{position[0]}:{position[1]}" if position else location_text(kernel.location)
    name = ir.StringAttr(kernel.attributes["sym_name"]).value
    if CONFIGURATION not in kernel.attributes:
        return f"kernel {name} at {where}: has no configuration"
    values = values_of(ir.DictAttr(kernel.attributes[CONFIGURATION]))
    family = values.pop(FAMILY)
    fields = ", ".join(f"{key} = {str(each).lower()}" for key, each in values.items())
    return f"kernel {name} at {where}: {family}, {fields}"
