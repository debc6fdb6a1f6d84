"""Shuffles, votes, matches and reductions of a warp."""

from __future__ import annotations

import re

from .model import Operation, StopKind

_SHUFFLES = ("up", "down", "bfly", "idx")
_VOTES = ("all", "any", "uni", "ballot")
_REDUCTIONS = ("add", "min", "max", "umin", "umax", "and", "or", "xor", "fmin", "fmax")

_SHUFFLE = re.compile(r"shfl(?P<sync>\.sync)?\.(?P<mode>up|down|bfly|idx)\.(?:i32|f32)p?")
_VOTE = re.compile(r"vote\.(?P<mode>all|any|uni|ballot)(?P<sync>\.sync)?")
_MATCH = re.compile(r"match\.(?P<which>any|all)\.sync\.i(?:32|64)p?")
_REDUX = re.compile(
    r"redux\.sync\.(?P<what>fmin|fmax|umin|umax|add|min|max|and|or|xor)(?P<abs>\.abs)?(?P<nan>\.NaN)?"
)


def lookup(name: str) -> Operation | None:
    """Returns an operation of this family by its name without `llvm.nvvm.`."""
    if match := _SHUFFLE.fullmatch(name):
        mode, sync = match["mode"], bool(match["sync"])
        parameters = (_SHUFFLES.index(mode), int(sync))
        display = f"shfl{'.sync' if sync else ''}.{mode}"
        return Operation(display, _kind(sync), "hirc_perform_shuffle", parameters)
    if match := _VOTE.fullmatch(name):
        mode, sync = match["mode"], bool(match["sync"])
        display = f"vote{'.sync' if sync else ''}.{mode}"
        parameters = (_VOTES.index(mode), int(sync))
        return Operation(display, _kind(sync), "hirc_perform_vote", parameters)
    if match := _MATCH.fullmatch(name):
        which = match["which"]
        return Operation(f"match.{which}.sync", StopKind.WARP, f"hirc_perform_match_{which}")
    if match := _REDUX.fullmatch(name):
        parameters = (
            _REDUCTIONS.index(match["what"]),
            int(bool(match["abs"])),
            int(bool(match["nan"])),
        )
        # The intrinsic has the mask last.
        return Operation(
            f"redux.sync.{match['what']}",
            StopKind.WARP,
            "hirc_perform_redux",
            parameters,
            operands=(1, 0),
        )
    return _SINGLE.get(name)


def _kind(sync: bool) -> StopKind:
    return StopKind.WARP if sync else StopKind.CONVERGED


_SINGLE = {
    "elect.sync": Operation("elect.sync", StopKind.WARP, "hirc_perform_elect"),
    "activemask": Operation("activemask", StopKind.CONVERGED, "hirc_perform_active_mask"),
    "bar.warp.sync": Operation("bar.warp.sync", StopKind.WARP, "hirc_perform_warp_sync"),
}
