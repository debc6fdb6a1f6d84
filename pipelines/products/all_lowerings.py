"""Every lowering of a compute operation: importing their modules registers them."""

from ..hir.compute.all_lowerings import find_lowering
from . import linear, matmul

__all__ = ["find_lowering", "linear", "matmul"]
