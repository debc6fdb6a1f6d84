"""Asynchronous copies, as calls of intrinsics."""

from __future__ import annotations

import re

from .handlers import Handlers, parts_between
from .syntax import PtxInstruction
from .writer import Writer

HANDLERS = Handlers()
_HINTS = r"(?:\.L2::\w+)*"
_COMPLETION = r"\.mbarrier::complete_tx::bytes"
_NO_HINT = [("i64", "0"), ("i1", "false")]


def _call(w: Writer, name: str, arguments: list[tuple[str, str]]) -> None:
    w.call("void", f"llvm.nvvm.cp.async.{name}", arguments)


def _multicast(w: Writer, it: PtxInstruction, number: int) -> tuple[tuple[str, str], str]:
    """Returns the mask, and whether there is one."""
    if ".multicast::cluster" not in it.opcode:
        return ("i16", "0"), "false"
    return ("i16", w.read(it.operands[number], "i16")), "true"


@HANDLERS.add(rf"cp\.async\.(ca|cg)\.shared(::cta)?\.global{_HINTS}")
def _cp_async(w: Writer, it: PtxInstruction) -> None:
    to, source = w.address(it.operands[0]), w.address(it.operands[1])
    size = w.constant(it.operands[2])
    read = str(size)
    if len(it.operands) > 3:
        last = it.operands[3]
        if w.type_of(last) == "i1":  # whether the source is ignored
            read = w.emit(f"select i1 {w.read(last, 'i1')}, i32 0, i32 {size}")
        else:
            read = w.read(last, "i32")
    cache = "cg" if size == 16 and ".cg." in it.opcode else "ca"
    arguments = [("ptr", to), ("ptr", source), ("i32", read)]
    _call(w, f"{cache}.shared.global.{size}.s", arguments)


@HANDLERS.add(r"cp\.async\.(bulk\.)?(commit_group|wait_group(\.read)?|wait_all)")
def _groups(w: Writer, it: PtxInstruction) -> None:
    """Copies are made at once."""
    del w, it


@HANDLERS.add(r"cp\.async\.mbarrier\.arrive(\.noinc)?(\.shared(::cta)?)?\.b64")
def _arrive(w: Writer, it: PtxInstruction) -> None:
    noinc = ".noinc" if ".noinc" in it.opcode else ""
    _call(w, f"mbarrier.arrive{noinc}", [("ptr", w.address(it.operands[0]))])


@HANDLERS.add(
    rf"cp\.async\.bulk\.shared::c(ta|luster)\.(global|shared::cta){_COMPLETION}(\.multicast::cluster)?{_HINTS}"
)
def _bulk_to_shared(w: Writer, it: PtxInstruction) -> None:
    to, source = (w.address(operand) for operand in it.operands[:2])
    size, barrier = w.read(it.operands[2], "i32"), w.address(it.operands[3])
    mask, has_mask = _multicast(w, it, 4)
    _call(
        w,
        "bulk.global.to.shared.cluster",
        [
            ("ptr", to),
            ("ptr", barrier),
            ("ptr", source),
            ("i32", size),
            mask,
            ("i64", "0"),
            ("i1", has_mask),
            ("i1", "false"),
        ],
    )


@HANDLERS.add(rf"cp\.async\.bulk\.global\.shared::cta\.bulk_group{_HINTS}")
def _bulk_to_global(w: Writer, it: PtxInstruction) -> None:
    to, source = (w.address(operand) for operand in it.operands[:2])
    size = ("i32", w.read(it.operands[2], "i32"))
    _call(w, "bulk.shared.cta.to.global", [("ptr", to), ("ptr", source), size, *_NO_HINT])


def _box(w: Writer, operand: str) -> tuple[str, list[tuple[str, str]]]:
    """Map and coordinates of `[map, {c0, c1}]`."""
    map_, coordinates = parts_between(operand)
    listed = [("i32", w.read(part, "i32")) for part in parts_between(coordinates)]
    return w.read(map_, "ptr"), listed


@HANDLERS.add(
    rf"cp\.async\.bulk\.tensor\.[1-5]d\.shared::c(ta|luster)\.global(\.tile)?{_COMPLETION}(\.multicast::cluster)?{_HINTS}"
)
def _tensor_load(w: Writer, it: PtxInstruction) -> None:
    to, barrier = w.address(it.operands[0]), w.address(it.operands[2])
    map_, coordinates = _box(w, it.operands[1])
    mask, has_mask = _multicast(w, it, 3)
    arguments = [("ptr", to), ("ptr", barrier), ("ptr", map_), *coordinates, mask]
    arguments += [("i64", "0"), ("i1", has_mask), ("i1", "false"), ("i32", "0")]
    _call(w, f"bulk.tensor.g2s.tile.{len(coordinates)}d", arguments)


@HANDLERS.add(
    rf"cp\.(reduce\.)?async\.bulk\.tensor\.[1-5]d\.global\.shared::cta(\.(add|min|max|inc|dec|and|or|xor))?(\.tile)?\.bulk_group{_HINTS}"
)
def _tensor_store(w: Writer, it: PtxInstruction) -> None:
    map_, coordinates = _box(w, it.operands[0])
    source = w.address(it.operands[1])
    what = re.search(r"shared::cta\.(add|min|max|inc|dec|and|or|xor)", it.opcode)
    form = f"reduce.{what[1]}" if what else "s2g"
    arguments = [("ptr", source), ("ptr", map_), *coordinates, *_NO_HINT]
    _call(w, f"bulk.tensor.{form}.tile.{len(coordinates)}d", arguments)
