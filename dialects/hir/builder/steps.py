"""The steps from a buffer's logical dims to its memory, for `p.allocate(..., domain=[...])`.

p.allocate((n, 64), "f32", domain=[Split(1, 16), Reorder((1, 0, 2))])
"""

from __future__ import annotations

from ...mlir import ir
from ..domain_steps import Expand, Merge, Reduce, Reorder, Shard, Split, Step
from .emitter import Emitter
from .errors import BuildError

__all__ = ["Expand", "Merge", "Reduce", "Reorder", "Shard", "Split", "Step"]


def step_attribute(emitter: Emitter, step: Step) -> ir.Attribute:
    """Returns the dictionary that says a step."""
    match step:
        case Reorder(order):
            entries = {"reorder": emitter.integers(order)}
        case Split(position, factor, outer):
            entries = {"split": emitter.integer(position), "factor": emitter.integer(factor)}
            if outer:
                entries["outer"] = emitter.unit()
        case Shard(position, over):
            entries = {"shard": emitter.integer(position), "over": emitter.string(over)}
        case Merge(position):
            entries = {"merge": emitter.integer(position)}
        case Expand(position):
            entries = {"expand": emitter.integer(position)}
        case Reduce(position):
            entries = {"reduce": emitter.integer(position)}
        case _:  # pyright: ignore[reportUnnecessaryComparison] - what a user hands in may be anything
            raise BuildError(
                f"a step is Split, Merge, Reorder, Shard, Expand or Reduce, not {step!r}",
                "they are in hirc.steps",
            )
    return ir.DictAttr.get(entries, emitter.context)
