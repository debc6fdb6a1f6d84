"""mbarrier objects: runtime/operations/mbarrier.c."""

from __future__ import annotations

import re

from .model import Constant, Operation, StopKind, constant, function_call

# A test answers false once the other threads have had a turn: it is made for loops that wait. A try
# may wait for a while, which a kernel can use to do the work that ends its wait, so that it must
# answer at last.
_POLLS_OF_TEST = 2
_POLLS_OF_TRY = 64
_ARRIVE = re.compile(
    r"mbarrier\.arrive(?P<drop>\.drop)?"
    r"(?P<form>\.expect\.tx|\.noComplete)?"
    r"(?:(?P<scope>(?:\.relaxed)?\.scope\.(?:cta|cluster)\.space\.(?:cta|cluster))|\.shared)?"
)
_TX = re.compile(r"mbarrier\.(?P<what>expect|complete)\.tx\.(?:relaxed\.)?scope\..*")
_WAIT = re.compile(
    r"mbarrier\.(?P<what>test|try)\.wait(?P<parity>\.parity)?(?P<limit>\.tl)?"
    r"(?:(?:\.relaxed)?\.scope\..*|\.shared)?"
)


def lookup(name: str) -> Operation | None:
    """Returns an operation of this family by its name without `llvm.nvvm.`."""
    if match := _ARRIVE.fullmatch(name):
        return _arrive(match)
    if match := _TX.fullmatch(name):
        what = match["what"]
        return function_call(f"mbarrier.{what}_tx", f"hirc_mbarrier_{what}_tx", 0, 1)
    if match := _WAIT.fullmatch(name):
        polls = _POLLS_OF_TEST if match["what"] == "test" else _POLLS_OF_TRY
        return _poll(f"mbarrier.{match['what']}_wait", bool(match["parity"]), polls)
    match name.removesuffix(".shared"):
        case "mbarrier.init":
            return function_call("mbarrier.init", "hirc_mbarrier_init", 0, 1)
        case "mbarrier.inval":
            return function_call("mbarrier.inval", "hirc_mbarrier_inval", 0)
        case "mbarrier.pending.count":
            return function_call("mbarrier.pending_count", "hirc_mbarrier_pending_count", 0)
        # Inline PTX's loop of try_wait: nothing but the phase's end ends it.
        case "mbarrier.wait.parity":
            return _poll("mbarrier.try_wait", True, 0)
        case "mbarrier.wait":
            return _poll("mbarrier.try_wait", False, 0)
        case _:
            return None


def _arrive(match: re.Match[str]) -> Operation:
    drop, form = match["drop"] or "", match["form"] or ""
    function = f"hirc_mbarrier_arrive{'_drop' if drop else ''}"
    display = f"mbarrier.arrive{drop}{form.replace('.tx', '_tx')}"
    if form == ".expect.tx":
        return function_call(display, f"{function}_expect_tx", 0, 1)
    # Where the operation has a count it is the second operand; otherwise it is 1.
    count: int | Constant = 1 if form or match["scope"] else constant(1)
    return function_call(display, function, 0, count)


def _poll(name: str, parity: bool, polls: int) -> Operation:
    parameters = (int(parity), polls)
    return Operation(name, StopKind.POLL, "hirc_poll_mbarrier", parameters, operands=(0, 1))
