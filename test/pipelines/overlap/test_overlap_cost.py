"""In how many steps communications and products go, by the figures of the chip."""

from __future__ import annotations

import pytest

from hirc.pipelines.overlap.cost import (
    CommunicationWork,
    ProductWork,
    choose_steps,
)
from hirc.pipelines.schedules.device import device_of

# The product of 16384 x 8192 x 8192 bf16 of docs/results.md and its rows, over so many devices.
_ROWS, _WIDTH = 16384, 8192


@pytest.mark.parametrize(("devices", "measured"), [(2, 2051e-6), (4, 1370e-6)])
def test_large_products_take_several_steps(devices: int, measured: float) -> None:
    """What one step is reckoned to take is near what it took, and several take less."""
    gathered = CommunicationWork(_ROWS * _WIDTH, "bf16", devices)
    product = ProductWork(_ROWS, _WIDTH // devices, _WIDTH, "bf16")
    steps = choose_steps(device_of(["sm_90"]), gathered, [product], _ROWS // devices)
    assert steps.in_one == pytest.approx(measured, rel=0.15)
    assert steps.number > 1
    assert steps.seconds < 0.9 * steps.in_one


@pytest.mark.parametrize(
    ("chip", "rows", "width"),
    [
        ("sm_90", 128, 128),  # the beginnings of steps cost more than they save
        ("sm_90", 2 * 8191, 8192),  # no step divides the rows of a device
        ("sm_87", _ROWS, _WIDTH),  # a device of its own
    ],
)
def test_one_step_where_more_save_nothing(chip: str, rows: int, width: int) -> None:
    gathered = CommunicationWork(rows * width, "bf16", 2)
    product = ProductWork(rows, width, width, "bf16")
    assert choose_steps(device_of([chip]), gathered, [product], rows // 2).number == 1
