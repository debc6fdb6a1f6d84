"""The dialect object the offload operations register with."""

from ..mlir import ext


class Offload(ext.Dialect, name="offload"):
    """Offload entries and device images of a host module."""
