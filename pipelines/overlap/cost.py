"""How communications and products beside them take the least time: in steps, or by peers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ...dialects.hir.element_types import ELEMENT_TYPES
from ...dialects.records import dataclass
from ..schedules.device import Device

# What communications and products reach of the data sheets' figures where they are large, and
# what the beginning of each costs, in seconds: two and four H200 (docs/results.md).
_OF_LINKS, _OF_PRODUCTS = 0.65, 0.8
_BEGINS_COMMUNICATION, _BEGINS_PRODUCT = 9e-6, 4e-6
# Of the time that a communication and a product take one after the other, what passes where both
# are under way: NCCL's kernels take multiprocessors. And what each step costs besides. Fitted to
# 1245, 1312 and 1559 us in 2, 4 and 8 steps of 690 and 678 us: four H200 (docs/results.md).
_TOGETHER, _STEP = 0.75, 50e-6
# What copy engines reach of the links' figure, what a copy and its signal cost besides, and what
# the devices' coming together takes.
_OF_COPIES, _BEGINS_COPY, _MEETS = 0.8, 6e-6, 15e-6
# How much of the time that memory takes for what a product adds to its sums is not hidden, and in
# how many pieces the sums for a device may be made.
_OF_ADDED, _PIECES = 0.5, (1, 2, 4)
# A block's part of a product's result, as the library mostly has it.
_TILE = (128, 256)
# Steps are worth their streams and buffers if they save so much of the time.
_WORTH = 0.9
_MOST_STEPS = 16
# Beside products of 16 bits.
_RATES = {"f8E4M3FN": 2.0, "f8E5M2": 2.0, "i8": 2.0, "f16": 1.0, "bf16": 1.0, "tf32": 0.5}
_RATE_OF_OTHERS = 1 / 16


def bytes_meanwhile(device: Device, element: str) -> Fraction:
    """Returns the bytes that a device sends in the time of one operation of a large product of
    elements of a type; none where it has no links to others.
    """
    rate = device.products * _OF_PRODUCTS * _RATES.get(element, _RATE_OF_OTHERS)
    return Fraction(device.links * _OF_LINKS / rate)


@dataclass(frozen=True)
class ProductWork:
    """A product of `rows` by `depth` and `depth` by `columns` elements of a type."""

    rows: int
    columns: int
    depth: int
    element: str

    def seconds(self, device: Device, steps: int) -> float:
        """Returns what one of so many steps takes: whole waves of the device's blocks."""
        rate = device.products * _OF_PRODUCTS * _RATES.get(self.element, _RATE_OF_OTHERS)
        tile = 2 * _TILE[0] * _TILE[1] * self.depth * device.multiprocessors / rate
        tiles = _ceil(self.rows // steps, _TILE[0]) * _ceil(self.columns, _TILE[1])
        return _BEGINS_PRODUCT + _ceil(tiles, device.multiprocessors) * tile


@dataclass(frozen=True)
class CommunicationWork:
    """What each of `devices` sends: its share of `elements` of a type, so many times."""

    elements: int
    element: str
    devices: int
    times: int = 1

    def seconds(self, device: Device, steps: int) -> float:
        """Returns what one of so many steps takes."""
        sent = self.times * self.bytes * (self.devices - 1) / self.devices
        return _BEGINS_COMMUNICATION + sent / steps / (device.links * _OF_LINKS)

    @property
    def bytes(self) -> int:
        """Returns the bytes of the elements."""
        return self.elements * ELEMENT_TYPES[self.element].bytes


@dataclass(frozen=True)
class Steps:
    """A number of steps, and the seconds that these and one step are reckoned to take."""

    number: int
    seconds: float
    in_one: float

    def __str__(self) -> str:
        """The choice as the loop that is made of it carries it."""
        return (
            f"{self.number} steps: about {self.seconds * 1e6:.0f} us, in one "
            f"{self.in_one * 1e6:.0f} us"
        )


def reckon(
    device: Device, communication: CommunicationWork, products: Sequence[ProductWork], number: int
) -> Steps:
    """Returns the time of so many steps, of which one's communication and another's products are
    under way at once.
    """

    def total(steps: int) -> float:
        sent = communication.seconds(device, steps)
        computed = sum(product.seconds(device, steps) for product in products)
        if steps == 1:
            return sent + computed
        together = max(_TOGETHER * (sent + computed), sent, computed)
        return sent + computed + (steps - 1) * together + steps * _STEP

    return Steps(number, total(number), total(1))


def choose_steps(
    device: Device, communication: CommunicationWork, products: Sequence[ProductWork], rows: int
) -> Steps:
    """Returns the number of steps, of those that divide the rows evenly, of the least time.

    It is 1 where steps save little, and on devices without links to one another.
    """
    one = reckon(device, communication, products, 1) if device.links else Steps(1, 0.0, 0.0)
    found = one
    number = 2
    while device.links and number <= _MOST_STEPS and rows % number == 0:
        steps = reckon(device, communication, products, number)
        if steps.seconds < found.seconds:
            found = steps
        number *= 2
    return found if is_worth(found.seconds, one.seconds) else one


@dataclass(frozen=True)
class ByPeers:
    """The seconds that a way through shared memory is reckoned to take, in so many pieces."""

    seconds: float
    pieces: int = 1


def by_peers(
    device: Device,
    communication: CommunicationWork,
    products: Sequence[ProductWork],
    rows: int | None = None,
) -> ByPeers:
    """Returns the time where each device copies to others, in as many pieces as take the least.

    Products take what is copied; or copies take what is multiplied, of `rows` that each device has.
    Of a device without links it is no time, in the most pieces.
    """
    counts = [1] if rows is None else [count for count in _PIECES if rows % count == 0]
    if not device.links:
        return ByPeers(0.0, counts[-1])
    if rows is None:
        return ByPeers(_arriving_by_peers(device, communication, products))
    found = [
        ByPeers(_leaving_by_peers(device, communication, products, count), count)
        for count in counts
    ]
    return min(found, key=lambda each: each.seconds)


def _arriving_by_peers(
    device: Device, communication: CommunicationWork, products: Sequence[ProductWork]
) -> float:
    devices = communication.devices
    copied = _copied(device, communication.bytes / devices)
    computed = sum(product.seconds(device, devices) for product in products)
    end = computed
    for peer in range(1, devices):
        end = max(end, peer * copied) + computed
    return _MEETS + end


def _leaving_by_peers(
    device: Device,
    communication: CommunicationWork,
    products: Sequence[ProductWork],
    pieces: int,
) -> float:
    """Each piece is multiplied when it has come from the device before, and then copied."""
    devices = communication.devices
    size = communication.bytes / devices / pieces
    copied = _copied(device, size)
    computed = sum(product.seconds(device, devices * pieces) for product in products)
    # What a product adds is read beside it; it takes a part of the memory's time.
    added = computed + _OF_ADDED * size / device.bandwidth
    made = sent = 0.0
    arrived = [0.0] * pieces
    for step in range(devices):
        for piece in range(pieces):
            made = max(made, arrived[piece]) + (added if step else computed)
            sent = max(sent, made) + copied
            arrived[piece] = sent
    return _MEETS + made


def _copied(device: Device, size: float) -> float:
    return _BEGINS_COPY + size / (device.links * _OF_COPIES)


def is_worth(seconds: float, in_one: float) -> bool:
    """Returns whether an overlap saves enough of the time to be worth its buffers."""
    return seconds < _WORTH * in_one


def _ceil(number: int, by: int) -> int:
    return -(-number // by)
