"""The dialect object that operations and types register with."""

from ..mlir import ext


class Hir(ext.Dialect, name="hir"):
    """Host IR: the host side of a tensor program (see docs/host-ir.md)."""
