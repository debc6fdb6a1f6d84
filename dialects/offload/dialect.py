"""The dialect object the offload operations register with."""

from ..mlir import ext, ir


class Offload(ext.Dialect, name="offload"):
    """Offload entries and device images of a host module."""


def has_attributes(op: ir.OpView, **kinds: type) -> bool:
    """Returns whether an operation has attributes of these kinds; MLIR says which are missing or
    wrong.
    """
    attributes = op.operation.attributes
    return all(name in attributes and isinstance(attributes[name], kinds[name]) for name in kinds)
