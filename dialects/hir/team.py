"""Teams: the devices that communicate, by their numbers."""

from ..mlir import ir
from .refusal import numbers, refuse


def is_team(op: ir.OpView, name: str) -> bool:
    """Whether the attribute `name` is a team; says what is wrong where not."""
    devices = numbers(op.attributes[name])
    if not devices or min(devices) < 0 or len(set(devices)) != len(devices):
        return refuse(
            op,
            f"{op.operation.name} '{name}' is the numbers of the devices, each once, as "
            f"array<i64: 0, 1>; it is {op.attributes[name]}",
        )
    return True
