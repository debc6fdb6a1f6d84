"""How a buffer is spread over a team of devices."""

from ..records import dataclass
from .kinds import COMMUNICATED_REDUCTION


@dataclass(frozen=True)
class Spread:
    """Whole on every device; or one axis divided; or parts that a reduction combines."""

    axis: int | None = None
    reduction: str | None = None

    @property
    def is_whole(self) -> bool:
        return self.axis is None and self.reduction is None

    def __str__(self) -> str:
        if self.axis is not None:
            return f"axis:{self.axis}"
        return "whole" if self.reduction is None else f"partial:{self.reduction}"


def parse_spread(text: str, rank: int) -> Spread | str:
    """Returns the spread that a text stands for, of a buffer of that rank; or what is wrong with
    it.
    """
    word, colon, rest = text.partition(":")
    if text == "whole":
        return Spread()
    if word == "partial" and colon:
        if rest in COMMUNICATED_REDUCTION:
            return Spread(reduction=rest)
        return f"parts are combined by one of {', '.join(COMMUNICATED_REDUCTION)}, not '{rest}'"
    if word == "axis" and rest.isdecimal():
        if int(rest) < rank:
            return Spread(axis=int(rest))
        return f"the buffer has {rank} dims, numbered from 0"
    return "a spread is whole, partial:KIND or axis:N"
