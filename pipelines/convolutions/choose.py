"""Which convolutions cuDNN is called for."""

from __future__ import annotations

from math import prod

from ...dialects.hir.layout import DYNAMIC
from ..schedules.device import Device
from ..schedules.tables import ConvolutionLibraryTable
from .convolution import Convolution
from .options import ConvolutionOptions


def is_for_library(convolution: Convolution, options: ConvolutionOptions, device: Device) -> bool:
    """Returns whether a convolution that the library can compute is to be a call of it."""
    return options.is_for_all or is_faster(convolution, device.tables.convolution_library)


def is_faster(convolution: Convolution, table: ConvolutionLibraryTable) -> bool:
    """Returns whether the library is known to take less time than hirc's kernel."""
    if not convolution.is_gradient or convolution.element != "f32" or convolution.is_tf32:
        return False
    share = inside_share(convolution)
    return share is not None and share <= table.most_inside


def inside_share(convolution: Convolution) -> float | None:
    """Returns which part of the products that a transposed convolution's windows would have lies
    within its image; None where sizes are open.

    For each result one place of a window in `stride` has an element, or would without an edge.
    """
    images, windows, results = map(convolution.sizes, convolution.operands)
    if DYNAMIC in (*images, *windows, *results):
        return None
    shares: list[float] = []
    for place, image, window, result in zip(
        convolution.places, images, windows, results, strict=True
    ):
        inside = sum(
            0 <= at * place.stride - place.padding + step * place.dilation < result
            for at in range(image)
            for step in range(window)
        )
        shares.append(inside * place.stride / (result * window) if result * window else 1.0)
    return prod(shares)
