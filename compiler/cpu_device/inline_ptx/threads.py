"""Operations of a warp, a block or a cluster, and mbarrier objects: calls of intrinsics."""

from __future__ import annotations

import re

from .handlers import Handlers
from .syntax import PtxInstruction
from .writer import Writer

HANDLERS = Handlers()
_SCOPES = (
    r"(?:\.(?:release|acquire|relaxed))?(?:\.(?:cta|cluster))?(?:\.shared(?:::c(?:ta|luster))?)?"
)


def _nvvm(w: Writer, result: str, name: str, *arguments: tuple[str, str]) -> str:
    return w.call(result, f"llvm.nvvm.{name}", arguments)


def _field(w: Writer, struct: str, value: str, number: int) -> str:
    return w.emit(f"extractvalue {struct} {value}, {number}")


def _pair(w: Writer, it: PtxInstruction, value: str) -> None:
    """Gives the fields of { i32, i1 } to `d|p`."""
    first, _, second = it.operands[0].partition("|")
    w.assign(first, "i32", _field(w, "{ i32, i1 }", value, 0))
    if second:
        w.assign(second, "i1", _field(w, "{ i32, i1 }", value, 1))


@HANDLERS.add(r"shfl\.sync\.(up|down|bfly|idx)\.b32")
def _shfl(w: Writer, it: PtxInstruction) -> None:
    value, b, c, mask = (("i32", w.read(operand, "i32")) for operand in it.operands[1:])
    name = f"shfl.sync.{it.opcode.split('.')[2]}.i32p"
    _pair(w, it, _nvvm(w, "{ i32, i1 }", name, mask, value, b, c))


@HANDLERS.add(r"vote\.sync\.(all|any|uni)\.pred|vote\.sync\.ballot\.b32")
def _vote(w: Writer, it: PtxInstruction) -> None:
    mode = it.opcode.split(".")[2]
    result = "i32" if mode == "ballot" else "i1"
    to, predicate, mask = it.operands
    arguments = ("i32", w.read(mask, "i32")), ("i1", w.read(predicate, "i1"))
    w.assign(to, result, _nvvm(w, result, f"vote.{mode}.sync", *arguments))


@HANDLERS.add(r"match\.(any|all)\.sync\.b(32|64)")
def _match(w: Writer, it: PtxInstruction) -> None:
    _, mode, _, bits = it.opcode.split(".")
    type_ = f"i{bits[1:]}"
    arguments = ("i32", w.read(it.operands[2], "i32")), (type_, w.read(it.operands[1], type_))
    if mode == "any":
        w.assign(it.operands[0], "i32", _nvvm(w, "i32", f"match.any.sync.{type_}", *arguments))
    else:
        _pair(w, it, _nvvm(w, "{ i32, i1 }", f"match.all.sync.{type_}p", *arguments))


@HANDLERS.add(
    r"redux\.sync\.(add|min|max)\.[us]32|redux\.sync\.(and|or|xor)\.b32|redux\.sync\.(min|max)(\.abs)?(\.NaN)?\.f32"
)
def _redux(w: Writer, it: PtxInstruction) -> None:
    _, _, what, *qualifiers, type_ = it.opcode.split(".")
    floats = type_ == "f32"
    prefix = "f" if floats else "u" if type_ == "u32" and what != "add" else ""
    name = ".".join(["redux.sync", prefix + what, *qualifiers])
    own = "float" if floats else "i32"
    arguments = (own, w.read(it.operands[1], own)), ("i32", w.read(it.operands[2], "i32"))
    w.assign(it.operands[0], own, _nvvm(w, own, name, *arguments))


@HANDLERS.add(r"elect\.sync")
def _elect(w: Writer, it: PtxInstruction) -> None:
    mask = ("i32", w.read(it.operands[1], "i32"))
    _pair(w, it, _nvvm(w, "{ i32, i1 }", "elect.sync", mask))


@HANDLERS.add(r"activemask\.b32")
def _activemask(w: Writer, it: PtxInstruction) -> None:
    w.assign(it.operands[0], "i32", _nvvm(w, "i32", "activemask"))


@HANDLERS.add(r"bar\.warp\.sync")
def _warp_sync(w: Writer, it: PtxInstruction) -> None:
    _nvvm(w, "void", "bar.warp.sync", ("i32", w.read(it.operands[0], "i32")))


@HANDLERS.add(r"(bar|barrier)(\.cta)?\.(sync|arrive)(\.aligned)?")
def _barrier(w: Writer, it: PtxInstruction) -> None:
    # bar is short for barrier.aligned.
    aligned = ".aligned" if it.opcode.startswith("bar.") or ".aligned" in it.opcode else ""
    what = "arrive" if ".arrive" in it.opcode else "sync"
    who = "count" if len(it.operands) > 1 else "all"
    arguments = [("i32", w.read(operand, "i32")) for operand in it.operands]
    _nvvm(w, "void", f"barrier.cta.{what}{aligned}.{who}", *arguments)


@HANDLERS.add(r"(bar|barrier)(\.cta)?\.red\.(popc|and|or)(\.aligned)?\.(u32|pred)")
def _barrier_reduce(w: Writer, it: PtxInstruction) -> None:
    aligned = ".aligned" if it.opcode.startswith("bar.") or ".aligned" in it.opcode else ""
    what = next(part for part in it.opcode.split(".") if part in ("popc", "and", "or"))
    to, *numbers, predicate = it.operands
    who = "count" if len(numbers) > 1 else "all"
    arguments = [("i32", w.read(operand, "i32")) for operand in numbers]
    arguments.append(("i1", w.read(predicate, "i1")))
    result = "i32" if what == "popc" else "i1"
    name = f"barrier.cta.red.{what}{aligned}.{who}"
    w.assign(to, result, _nvvm(w, result, name, *arguments))


@HANDLERS.add(r"barrier\.cluster\.(arrive(\.relaxed|\.release)?|wait(\.acquire)?)(\.aligned)?")
def _cluster(w: Writer, it: PtxInstruction) -> None:
    name = it.opcode.replace(".release", "").replace(".acquire", "")
    _nvvm(w, "void", name)


@HANDLERS.add(r"mapa(\.shared::cluster)?\.u(32|64)")
def _mapa(w: Writer, it: PtxInstruction) -> None:
    arguments = ("ptr", w.read(it.operands[1], "ptr")), ("i32", w.read(it.operands[2], "i32"))
    w.assign(it.operands[0], "ptr", _nvvm(w, "ptr", "mapa", *arguments))


@HANDLERS.add(r"getctarank(\.shared::cluster)?\.u(32|64)")
def _getctarank(w: Writer, it: PtxInstruction) -> None:
    argument = ("ptr", w.read(it.operands[1], "ptr"))
    w.assign(it.operands[0], "i32", _nvvm(w, "i32", "getctarank", argument))


@HANDLERS.add(r"nanosleep\.u32")
def _nanosleep(w: Writer, it: PtxInstruction) -> None:
    _nvvm(w, "void", "nanosleep", ("i32", w.read(it.operands[0], "i32")))


# --- mbarrier ------------------------------------------------------------------------------------


@HANDLERS.add(r"mbarrier\.(init|inval)(\.shared(::cta)?)?\.b64")
def _mbarrier_init(w: Writer, it: PtxInstruction) -> None:
    barrier = ("ptr", w.address(it.operands[0]))
    if ".inval" in it.opcode:
        _nvvm(w, "void", "mbarrier.inval", barrier)
    else:
        _nvvm(w, "void", "mbarrier.init", barrier, ("i32", w.read(it.operands[1], "i32")))


@HANDLERS.add(rf"mbarrier\.arrive(_drop)?(\.expect_tx|\.noComplete)?{_SCOPES}\.b64")
def _mbarrier_arrive(w: Writer, it: PtxInstruction) -> None:
    drop = ".drop" if "arrive_drop" in it.opcode else ""
    form = ".expect.tx" if ".expect_tx" in it.opcode else ""
    # The state may be left out where the barrier is another block's.
    operands = list(it.operands)
    if operands[0].startswith("["):
        operands.insert(0, "_")
    count = w.read(operands[2], "i32") if len(operands) > 2 else "1"
    name = f"mbarrier.arrive{drop}{form}.scope.cta.space.cta"
    state = _nvvm(w, "i64", name, ("ptr", w.address(operands[1])), ("i32", count))
    w.assign(operands[0], "i64", state)


@HANDLERS.add(rf"mbarrier\.(expect|complete)_tx{_SCOPES}\.b64")
def _mbarrier_tx(w: Writer, it: PtxInstruction) -> None:
    what = "expect" if ".expect" in it.opcode else "complete"
    arguments = ("ptr", w.address(it.operands[0])), ("i32", w.read(it.operands[1], "i32"))
    _nvvm(w, "void", f"mbarrier.{what}.tx.scope.cta.space.cta", *arguments)


@HANDLERS.add(rf"mbarrier\.(test|try)_wait(\.parity)?{_SCOPES}\.b64")
def _mbarrier_wait(w: Writer, it: PtxInstruction) -> None:
    parity = ".parity" if ".parity" in it.opcode else ""
    type_ = "i32" if parity else "i64"
    arguments = ("ptr", w.address(it.operands[1])), (type_, w.read(it.operands[2], type_))
    what = "try" if "try_wait" in it.opcode else "test"
    name = f"mbarrier.{what}.wait{parity}.scope.cta.space.cta"
    w.assign(it.operands[0], "i1", _nvvm(w, "i1", name, *arguments))


@HANDLERS.add(r"hirc\.mbarrier\.wait(\.parity)?")
def _mbarrier_wait_loop(w: Writer, it: PtxInstruction) -> None:
    type_ = "i32" if ".parity" in it.opcode else "i64"
    arguments = ("ptr", w.address(it.operands[1])), (type_, w.read(it.operands[2], type_))
    w.call("void", f"hirc.ptx.{it.opcode.removeprefix('hirc.')}", arguments)


@HANDLERS.add(r"mbarrier\.pending_count\.b64")
def _pending_count(w: Writer, it: PtxInstruction) -> None:
    state = ("i64", w.read(it.operands[1], "i64"))
    w.assign(it.operands[0], "i32", _nvvm(w, "i32", "mbarrier.pending.count", state))


def is_wait(opcode: str) -> bool:
    """Returns whether a loop of the instruction until it gives true can be one stop."""
    return bool(re.fullmatch(rf"mbarrier\.(?:test|try)_wait(?:\.parity)?{_SCOPES}\.b64", opcode))
