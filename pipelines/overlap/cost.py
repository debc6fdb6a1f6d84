"""How communications and products beside them take the least time: in steps, or by peers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import inf

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
# In how many pieces a device's part may go to a peer.
_PIECES = (1, 2, 4)
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
class Copies:
    """In how many pieces each device's part is copied to the others, and the seconds that takes."""

    pieces: int
    seconds: float


def choose_copies(
    device: Device,
    communication: CommunicationWork,
    products: Sequence[ProductWork],
    *,
    arrives: bool,
    rows: int,
) -> Copies:
    """Returns how each device best copies its part, of so many rows, to one after another.

    `arrives` says whether products take what is copied, in one piece; else copies take what is
    multiplied, and begin sooner where they are of few rows. A device without links takes for ever.
    """
    if not device.links:
        return Copies(1, inf)
    if arrives:
        return Copies(1, _arriving(device, communication, products))
    choices = [each for each in _PIECES if rows % each == 0]
    return min(
        (Copies(each, _leaving(device, communication, products, each)) for each in choices),
        key=lambda copies: copies.seconds,
    )


def _arriving(
    device: Device, communication: CommunicationWork, products: Sequence[ProductWork]
) -> float:
    devices = communication.devices
    copied = _copy(device, communication, 1)
    end = computed = sum(product.seconds(device, devices) for product in products)
    for peer in range(1, devices):
        end = max(end, peer * copied) + computed
    return _MEETS + end


def _leaving(
    device: Device,
    communication: CommunicationWork,
    products: Sequence[ProductWork],
    pieces: int,
) -> float:
    devices = communication.devices
    copied = _copy(device, communication, pieces)
    computed = sum(product.seconds(device, devices * pieces) for product in products)
    part = communication.bytes / devices / pieces
    added = _BEGINS_PRODUCT + (devices + 1) * part / device.bandwidth
    end = sent = 0.0
    arrived: list[float] = []
    for _ in range(pieces):
        for _ in range(1, devices):
            end += computed
            sent = max(sent, end) + copied
        arrived.append(sent)
    for each in arrived:
        end = max(end + computed, each) + added
    return _MEETS + end


def _copy(device: Device, communication: CommunicationWork, pieces: int) -> float:
    """Returns the seconds that a piece takes to a peer."""
    size = communication.bytes / communication.devices / pieces
    return _BEGINS_COPY + size / (device.links * _OF_COPIES)


def is_worth(seconds: float, in_one: float) -> bool:
    """Returns whether an overlap saves enough of the time to be worth its buffers."""
    return seconds < _WORTH * in_one


def _ceil(number: int, by: int) -> int:
    return -(-number // by)
