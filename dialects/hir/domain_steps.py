"""The steps of an allocation domain, and how an operation's attributes say them."""

from collections.abc import Sequence

from ..mlir import ir
from ..records import dataclass
from .layout import DYNAMIC, LayoutError


class DomainError(LayoutError):
    """A step of a domain is wrong, or its memory is no strided view; the message says which."""


@dataclass(frozen=True)
class Split:
    """Dim `position` of extent E becomes (ceildiv(E, factor), factor), or the other way round."""

    position: int
    factor: int
    outer: bool = False


@dataclass(frozen=True)
class Merge:
    """Dims `position` and `position + 1` become one."""

    position: int


@dataclass(frozen=True)
class Reorder:
    """Position `i` takes the dim that was at `order[i]`."""

    order: tuple[int, ...]


@dataclass(frozen=True)
class Shard:
    """The dim is spread over devices or streams: here its extent is 1."""

    position: int
    over: str = "device"


@dataclass(frozen=True)
class Expand:
    """The dim repeats: stride 0, no memory."""

    position: int


@dataclass(frozen=True)
class Reduce:
    """The dim is dropped."""

    position: int


Step = Split | Merge | Reorder | Shard | Expand | Reduce

SHARDED_OVER = ("device", "stream")
_NAMES = ("split", "merge", "reorder", "shard", "expand", "reduce")
_FURTHER = {"split": {"factor", "outer"}, "shard": {"over"}}


@dataclass(frozen=True)
class Domain:
    """Logical sizes, DYNAMIC where they are open, and the steps from them to the memory's dims."""

    logical: tuple[int, ...]
    steps: tuple[Step, ...] = ()


def read_domain(op: ir.Operation | ir.OpView, shape: Sequence[int]) -> Domain:
    """Returns the domain that an operation's `order`, `domain` and `logical` give; `shape` is its
    result's.

    In `logical` a negative size is one that is open.
    """
    attributes = op.attributes
    logical = tuple(shape)
    if "logical" in attributes:
        given = _integers(attributes["logical"], "logical")
        logical = tuple(DYNAMIC if size < 0 else size for size in given)
    if "order" in attributes and "domain" in attributes:
        raise DomainError("an allocation has either an order or a domain, not both")
    if "order" in attributes:
        order = _integers(attributes["order"], "order")
        if sorted(order) != list(range(len(logical))):
            raise DomainError(
                f"order has each of the {len(logical)} logical dims once, not {list(order)}"
            )
        return Domain(logical, (Reorder(order),))
    if "domain" not in attributes:
        return Domain(logical)
    steps = attributes["domain"]
    if not isinstance(steps, ir.ArrayAttr):
        raise DomainError(f"domain is an array of steps, not {steps}")
    return Domain(logical, tuple(read_step(step) for step in steps))


def read_step(step: ir.Attribute) -> Step:
    """One step from its dictionary."""
    keys = [item.name for item in step] if isinstance(step, ir.DictAttr) else []
    names = [key for key in keys if key in _NAMES]
    if not isinstance(step, ir.DictAttr) or len(names) != 1:
        raise DomainError(
            f"a step is a dictionary with one of {', '.join(_NAMES)}; this one is {step}"
        )
    name = names[0]
    unknown = set(keys) - {name} - _FURTHER.get(name, set())
    if unknown:
        raise DomainError(f"a {name} step has no {', '.join(sorted(unknown))}: {step}")
    if name == "reorder":
        return Reorder(_integers(step["reorder"], "reorder"))
    position = _integer(step[name], name)
    match name:
        case "split":
            if "factor" not in keys:
                raise DomainError(f"a split step has a factor: {step}")
            return Split(position, _integer(step["factor"], "factor"), "outer" in keys)
        case "shard":
            over = step["over"] if "over" in keys else None
            if not isinstance(over, ir.StringAttr) or over.value not in SHARDED_OVER:
                raise DomainError(f'a shard step is over "device" or "stream": {step}')
            return Shard(position, over.value)
        case "merge":
            return Merge(position)
        case "expand":
            return Expand(position)
        case _:
            return Reduce(position)


def _integer(attribute: ir.Attribute, name: str) -> int:
    if not isinstance(attribute, ir.IntegerAttr):
        raise DomainError(f"{name} is an integer, not {attribute}")
    return attribute.value


def _integers(attribute: ir.Attribute, name: str) -> tuple[int, ...]:
    if not isinstance(attribute, ir.DenseI64ArrayAttr):
        raise DomainError(f"{name} is an array<i64: ...>, not {attribute}")
    return tuple(attribute)
