"""Matrix products of a warp and of a warpgroup, and the moves of their fragments."""

from __future__ import annotations

import re

from ...errors import UnsupportedError
from .model import Operation, StopKind, nothing

# enum hirc_element
ELEMENTS = (
    "f16", "bf16", "tf32", "f32", "f64", "e4m3", "e5m2", "s8", "u8", "s4", "u4", "b1", "s32",
)  # fmt: skip
_SYNC, _QUAD_PAIRS, _WMMA = range(3)
_BIT_PRODUCTS = {None: 0, "and": 0, "xor": 1}

_SHAPE = r"m(?P<m>\d+)n(?P<n>\d+)k(?P<k>\d+)"
_MMA = re.compile(
    rf"mma(?:\.(?P<bits>and|xor)\.popc)?\.{_SHAPE}\.(?P<a>row|col)\.(?P<b>row|col)"
    r"(?P<satfinite>\.satfinite)?\.(?P<types>[a-z0-9.]+)"
)
_WMMA_MMA = re.compile(
    rf"wmma\.{_SHAPE}\.mma(?:\.(?P<bits>and|xor)\.popc)?\.(?:row|col)\.(?:row|col)"
    r"(?:\.(?P<rounding>r[nzmp]))?\.(?P<types>[a-z0-9]+(?:\.[a-z][0-9]+)?)(?P<satfinite>\.satfinite)?"
)
_WMMA_MOVE = re.compile(
    rf"wmma\.{_SHAPE}\.(?P<what>load|store)\.(?P<role>[abcd])\.(?P<layout>row|col)"
    r"(?P<stride>\.stride)?\.(?P<type>[a-z0-9]+)(?:\.p\d+)?"
)
_LDMATRIX = re.compile(
    r"(?P<what>ld|st)matrix\.sync\.aligned\.m8n8\.x(?P<count>[124])(?P<trans>\.trans)?\.b16(?:\.p\d+)?"
)
_WGMMA = re.compile(
    r"wgmma\.n(?P<n>\d+)\.(?P<d>\w+)\.(?P<a>\w+)\.(?P<b>\w+)\.(?P<source>registers|descriptor)"
    r"\.(?P<scale_a>-?1)\.(?P<scale_b>-?1)\.(?P<trans_a>[01])\.(?P<trans_b>[01])"
    r"(?P<satfinite>\.satfinite)?(?P<bits>\.and)?"
)
_REFUSED = {
    r"mma\.sp\..*|wgmma\..*\.sp\..*": "products of sparse matrices",
    r"tcgen05\..*": "tcgen05 (compute capability 10.0)",
    r"mma\.block\.scale\..*|mma\..*\.kind\..*": "block-scaled products (compute capability 10.0)",
    r"(ld|st)matrix\..*": "matrices of 8-bit elements (compute capability 10.0)",
}


def lookup(name: str) -> Operation | None:
    """Returns an operation of this family by its name without `llvm.nvvm.`."""
    for pattern, what in _REFUSED.items():
        if re.fullmatch(pattern, name) and not _LDMATRIX.fullmatch(name):
            raise UnsupportedError(f"{name}: the CPU device cannot do {what}")
    if match := _MMA.fullmatch(name):
        return _mma(match)
    if match := _WMMA_MMA.fullmatch(name):
        return _wmma(match)
    if match := _WMMA_MOVE.fullmatch(name):
        return _wmma_move(match)
    if match := _LDMATRIX.fullmatch(name):
        parameters = (int(match["count"]), int(bool(match["trans"])))
        what = match["what"] + "matrix"
        return Operation(what, StopKind.CONVERGED, f"hirc_perform_{what}", parameters)
    if name == "movmatrix.sync.aligned.m8n8.trans.b16":
        return Operation("movmatrix", StopKind.CONVERGED, "hirc_perform_movmatrix")
    if match := _WGMMA.fullmatch(name):
        return _wgmma(match)
    match name:
        case "wgmma.fence.sync.aligned":
            return nothing("wgmma.fence")
        case "wgmma.commit_group.sync.aligned":
            return Operation("wgmma.commit_group", StopKind.CONVERGED, "hirc_perform_wgmma_commit")
        case "wgmma.wait_group.sync.aligned":
            return Operation(
                "wgmma.wait_group", StopKind.POLL, "hirc_poll_wgmma_groups", operands=(0,)
            )
        case _:
            return None


def _element(name: str) -> int:
    return ELEMENTS.index(name)


def _types(names: list[str]) -> tuple[int, int, int, int]:
    """Returns the types of d, a, b, c, which a name gives as far as they are not clear."""
    match names:
        case [d, a, b, c]:
            return _element(d), _element(a), _element(b), _element(c)
        case ["f16" | "f32" as d, c]:
            return _element(d), _element("f16"), _element("f16"), _element(c)
        case ["f64"]:
            f64 = _element("f64")
            return f64, f64, f64, f64
        case ["bf16" | "tf32" as a]:
            return _element("f32"), _element(a), _element(a), _element("f32")
        case _:
            return _element("s32"), _element(names[0]), _element(names[-1]), _element("s32")


def _mma(match: re.Match[str]) -> Operation:
    m, n, k = int(match["m"]), int(match["n"]), int(match["k"])
    types = _types(match["types"].split("."))
    quad_pairs = (m, n, k) == (8, 8, 4) and types[1] == _element("f16")
    parameters = (m, n, k, *types, _BIT_PRODUCTS[match["bits"]])
    parameters += (_QUAD_PAIRS if quad_pairs else _SYNC, int(bool(match["satfinite"])))
    parameters += (int(match["a"] == "col"), int(match["b"] == "col"))
    return Operation(f"mma.m{m}n{n}k{k}", StopKind.CONVERGED, "hirc_perform_mma", parameters)


def _wmma(match: re.Match[str]) -> Operation:
    if match["rounding"] not in (None, "rn"):
        raise UnsupportedError(f"wmma.mma: the CPU device cannot round by {match['rounding']}")
    m, n, k = int(match["m"]), int(match["n"]), int(match["k"])
    parameters = (m, n, k, *_types(match["types"].split(".")), _BIT_PRODUCTS[match["bits"]])
    parameters += (_WMMA, int(bool(match["satfinite"])), 0, 0)
    return Operation(f"wmma.mma.m{m}n{n}k{k}", StopKind.CONVERGED, "hirc_perform_mma", parameters)


def _wmma_move(match: re.Match[str]) -> Operation:
    m, n, k = int(match["m"]), int(match["n"]), int(match["k"])
    rows, columns = {"a": (m, k), "b": (k, n), "c": (m, n), "d": (m, n)}[match["role"]]
    parameters = (rows, columns, _element(match["type"]))
    parameters += (int(match["layout"] == "col"), int(bool(match["stride"])))
    name = f"wmma.{match['what']}.{match['role']}"
    return Operation(name, StopKind.CONVERGED, f"hirc_perform_wmma_{match['what']}", parameters)


def _wgmma(match: re.Match[str]) -> Operation:
    parameters = (
        int(match["n"]),
        *(_element(match[role]) for role in "dab"),
        int(match["source"] == "registers"),
        int(match["scale_a"]),
        int(match["scale_b"]),
        int(match["trans_a"]),
        int(match["trans_b"]),
        _BIT_PRODUCTS["and"],
        int(bool(match["satfinite"])),
    )
    return Operation("wgmma", StopKind.CONVERGED, "hirc_perform_wgmma", parameters)
