"""What was decided of each kernel: lines for people."""

from __future__ import annotations

from ...dialects.mlir import ir
from ..fusion.generic import CONFIGURATION
from ..locations import file_position, location_text
from ..walking import operations_where
from .configuration import FAMILY, values_of


def schedule_lines(module: ir.Operation) -> list[str]:
    """Returns a line for each kernel of a module, with its place in the source."""
    kernels = operations_where(module, lambda op: op.name == "gpu.func")
    return [line for each in kernels for line in _lines(each)]


def _lines(kernel: ir.Operation) -> list[str]:
    """One for each class of sizes, where it is for several."""
    position = file_position(kernel.location)
    where = f"{position[0]}:{position[1]}" if position else location_text(kernel.location)
    name = ir.StringAttr(kernel.attributes["sym_name"]).value
    if CONFIGURATION not in kernel.attributes:
        return [f"kernel {name} at {where}: has no configuration"]
    found = kernel.attributes[CONFIGURATION]
    made = list(found) if isinstance(found, ir.ArrayAttr) else [found]
    return [f"kernel {name} at {where}: {_described(ir.DictAttr(each))}" for each in made]


def _described(configuration: ir.DictAttr) -> str:
    values = values_of(configuration)
    family = values.pop(FAMILY)
    fields = ", ".join(f"{key} = {str(each).lower()}" for key, each in values.items())
    return f"{family}, {fields}"
