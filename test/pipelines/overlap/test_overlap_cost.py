"""In how many steps communications and products go, by the figures of the chip."""

from __future__ import annotations

import pytest

from hirc.pipelines.overlap.cost import (
    CommunicationWork,
    ProductWork,
    by_peers,
    choose_steps,
    is_worth,
    reckon,
)
from hirc.pipelines.schedules.device import device_of

# The product of 16384 x 8192 x 8192 bf16 of docs/results.md and its rows, over so many devices.
_ROWS, _WIDTH = 16384, 8192


@pytest.mark.parametrize(
    ("devices", "steps", "measured"),
    [(2, 1, 2051e-6), (4, 1, 1388e-6), (4, 2, 1245e-6), (4, 4, 1312e-6), (4, 8, 1559e-6)],
)
def test_what_steps_take(devices: int, steps: int, measured: float) -> None:
    gathered = CommunicationWork(_ROWS * _WIDTH, "bf16", devices)
    product = ProductWork(_ROWS, _WIDTH // devices, _WIDTH, "bf16")
    reckoned = reckon(device_of(["sm_90"]), gathered, [product], steps)
    assert reckoned.seconds == pytest.approx(measured, rel=0.1)


@pytest.mark.parametrize("devices", [2, 4, 8])
@pytest.mark.parametrize("arrives", [True, False])
def test_copy_engines_hide_most_of_large_communications(devices: int, arrives: bool) -> None:
    device = device_of(["sm_90a"])
    columns, depth = (_WIDTH // devices, _WIDTH) if arrives else (_WIDTH, _WIDTH // devices)
    communication = CommunicationWork(_ROWS * _WIDTH, "bf16", devices)
    product = ProductWork(_ROWS, columns, depth, "bf16")
    one = reckon(device, communication, [product], 1).seconds
    rows = None if arrives else _ROWS // devices
    found = by_peers(device, communication, [product], rows)
    # The last sums of the device before are on their way while others are multiplied.
    assert found.pieces == (1 if arrives else 2)
    seconds = found.seconds
    assert product.seconds(device, 1) < seconds
    assert is_worth(seconds, one)
    steps = choose_steps(device, communication, [product], _ROWS // devices)
    assert seconds < steps.seconds


@pytest.mark.parametrize(("rows", "pieces"), [(8191, 1), (2 * 4095, 2)])
def test_pieces_divide_the_rows(rows: int, pieces: int) -> None:
    communication = CommunicationWork(2 * rows * _WIDTH, "bf16", 2)
    product = ProductWork(2 * rows, _WIDTH, _WIDTH // 2, "bf16")
    found = by_peers(device_of(["sm_90a"]), communication, [product], rows)
    assert found.pieces == pieces


def test_small_sums_go_in_one_piece() -> None:
    communication = CommunicationWork(256 * 128, "bf16", 2)
    product = ProductWork(256, 128, 128, "bf16")
    assert by_peers(device_of(["sm_90a"]), communication, [product], 128).pieces == 1


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
