"""The `offload` dialect: what a host module says about the device code that goes with it.

`offload.entry` is a kernel or device variable the host may name; `offload.image` is device code
for one chip. They become clang's offload entries and embedded objects when the host module is
translated (compiler/offload_annotations).
"""

from ..mlir import ir, load_dialect
from .dialect import Offload
from .entry import EntryKind, EntryOp
from .image import ImageFormat, ImageOp

__all__ = ["EntryKind", "EntryOp", "ImageFormat", "ImageOp", "Offload", "load"]


def load(context: ir.Context) -> None:
    """Makes the dialect known to `context`; does nothing the second time."""
    load_dialect(Offload, context)
