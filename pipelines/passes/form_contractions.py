"""form-contractions: convolutions and other sums of products become operations of one form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...dialects.mlir import ir
from ..contractions.convolutions import generalize_convolutions
from ..contractions.finish import fuse_neighbours
from ..contractions.reads import read_behind
from ..contractions.tiles import TILES, is_for_tiles, is_for_windows
from ..fusion.generic import outs_of
from ..fusion.normalize import SMALL_PRODUCT, normalize, reduces_nothing
from ..fusion.sizes import Sizes
from ..pass_base import Pass, register


@register
@dataclass(frozen=True)
class FormContractions(Pass):
    """Makes convolutions linalg.generics that sum in their region, with what is done around them.

    That is the value that sums begin with, the elementwise operation that alone reads the result,
    and zeros around what is read: these are no longer written to memory.

      %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] { ... %zero }
      %y = linalg.conv_2d_nchw_fchw ins(%p, %w : ...) outs(%bias : ...)
      %r = linalg.generic {...} ins(%y : ...) { maximumf }
    becomes
      %r = linalg.generic {...} ins(%w, %b : ...) outs(%empty : ...) {
        tensor.extract %x in scf.if, mulf, hir.reduce_loops addf, addf, maximumf
      }
    """

    name: ClassVar[str] = "form-contractions"

    def run(self, op: ir.Operation) -> None:
        sizes: dict[ir.Block, Sizes] = {}
        for found in generalize_convolutions(op):
            if reduces_nothing(found):
                found.results[0].replace_all_uses_with(outs_of(found)[0])
                found.erase()
                continue
            found.attributes[SMALL_PRODUCT] = ir.UnitAttr.get()
            new = normalize(found, set())
            if new is None:
                del found.attributes[SMALL_PRODUCT]
                continue
            found.erase()
            if new.block not in sizes:
                sizes[new.block] = Sizes(new.block)
            new = fuse_neighbours(new, sizes[new.block])
            if is_for_tiles(new):
                read_behind(new).attributes[TILES] = ir.UnitAttr.get()
            elif is_for_windows(new):
                read_behind(new, apart=False)
