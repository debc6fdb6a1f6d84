"""What names element types agrees with their table."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import torch

from hirc.compiler.loader_torch import dlpack_types
from hirc.dialects.hir.builder.element_names import element_type
from hirc.dialects.hir.builder.errors import BuildError
from hirc.dialects.hir.element_types import ELEMENT_TYPES
from hirc.pipelines.hir.interface.signature import dtype_of
from support.environment import ROOT

_DOCS = ROOT / "docs"
_RUNTIME = ROOT / "compiler" / "runtime"


def names_in(path: Path, pattern: str) -> set[str]:
    """The element types that a part of a file names, found by a pattern with one group."""
    (part,) = re.findall(pattern, path.read_text(), re.DOTALL)
    words = re.findall(r"\w+(?:(?:&lt;|<)f\d+(?:&gt;|>))?", part)
    return {word.replace("&lt;", "<").replace("&gt;", ">") for word in words} & set(ELEMENT_TYPES)


def test_the_reference_names_every_type() -> None:
    found = names_in(_DOCS / "host-ir.md", r"Element types:(.*?)\n\n")
    assert found == set(ELEMENT_TYPES)


@pytest.mark.parametrize("name", ELEMENT_TYPES)
def test_bytes_are_those_of_torch_and_of_dlpack(name: str) -> None:
    element = ELEMENT_TYPES[name]
    assert getattr(torch, element.torch).itemsize == element.bytes
    code, bits = element.dlpack
    assert bits == 8 * element.bytes
    assert dtype_of(name) == code | bits << 8 | 1 << 16


def test_the_loader_knows_torchs_types_by_itself() -> None:
    # It runs where hirc is not installed, so it has a table of its own.
    known: Any = torch
    wanted = {getattr(torch, each.torch): dtype_of(each.name) for each in ELEMENT_TYPES.values()}
    assert dlpack_types(known) == wanted


def test_commands_read_and_print_every_float() -> None:
    found = names_in(_RUNTIME / "command_elements.c", r"formats\[\] = \{(.*?)\n\};")
    assert found == {each.name for each in ELEMENT_TYPES.values() if each.is_float}


def test_errors_of_calls_name_every_dlpack_code() -> None:
    text = (_RUNTIME / "dlpack_abi.h").read_text()
    codes = {int(code) for code in re.findall(r"DL_\w+ = (\d+)", text[text.index("DL_INT") :])}
    assert {each.dlpack[0] for each in ELEMENT_TYPES.values()} <= codes


def test_the_builder_says_what_a_dtype_of_torch_is_called() -> None:
    for element in ELEMENT_TYPES.values():
        if element.name == "tf32":
            continue
        with pytest.raises(BuildError) as raised:
            element_type(f"torch.{element.torch}")
        assert raised.value.hint == f"write '{element.name}'"
