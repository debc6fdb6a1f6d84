"""The support library's headers declare what compiled code calls; its package lists its files."""

from __future__ import annotations

import re
from fnmatch import fnmatch

from hirc.compiler import runtime
from hirc.pipelines.hir.interface import graphs
from support.environment import ROOT

_RUNTIME = ROOT / "compiler" / "runtime"
_CALL = re.compile(r'\.(?:value_of_)?call\(\s*"(hirc_\w+)"')
_DECLARATION = re.compile(r"\b(hirc_\w+)\([^;{}]*\);")
# Declared where it is defined: its arguments are structs of tvm-ffi.
_IN_ITS_SOURCE = {"hirc_ffi_call"}


def declared() -> set[str]:
    """The functions that a header declares."""
    return {
        name
        for path in _RUNTIME.glob("*.h")
        for name in _DECLARATION.findall(re.sub(r"//.*", "", path.read_text()))
    }


def test_called_functions_are_declared() -> None:
    sources = (path.read_text() for path in (ROOT / "pipelines").rglob("*.py"))
    called = {name for text in sources for name in _CALL.findall(text)}
    assert {"hirc_launch", "hirc_allocate", "hirc_communicate"} <= called
    assert called - declared() - _IN_ITS_SOURCE == set()


def test_recorded_functions_are_declared() -> None:
    recorded = graphs._CALLS  # pyright: ignore[reportPrivateUsage]
    assert {name for name in recorded if name.startswith("hirc_")} - declared() == set()


def test_the_package_says_what_is_in_each_file() -> None:
    listed = re.findall(r"`([\w*]+\.[ch])`", runtime.__doc__ or "")
    files = [path.name for path in _RUNTIME.glob("*.c")]
    assert [name for name in files if not any(fnmatch(name, each) for each in listed)] == []
