"""Offsets that generated code uses are those of runtime/device_abi.h, as clang lays it out."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from hirc.compiler.cpu_device import kernel_table
from hirc.compiler.cpu_device.block_layout import (
    FIELDS,
    KERNEL_FIELDS,
    MAX_THREADS,
    STATE_END,
    STATES_DIFFER,
)
from hirc.compiler.cpu_device.llvm_text import element_types, size_and_alignment

_HEADER = Path(__file__).parents[4] / "compiler" / "cpu_device" / "runtime" / "device_abi.h"


@pytest.fixture(scope="module")
def clang_says(clang: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """Offsets of fields, sizes of structs and values of constants by their names."""
    text = _HEADER.read_text()
    prints = [
        f'P("{name}", {name});'
        for name in ("HIRC_STATE_END", "HIRC_STATES_DIFFER", "HIRC_MAX_THREADS")
    ]
    for struct, body in re.findall(r"(?s)^struct (\w+) \{(.*?)^\};", text, re.MULTILINE):
        prints.append(f'P("{struct}", (int)sizeof(struct {struct}));')
        body = re.sub(r"//.*", "", body)
        for declaration in body.split(";"):
            for name in re.findall(r"(\w+)\s*(?=,|$)", declaration.strip()):
                prints.append(f'P("{struct}.{name}", (int)offsetof(struct {struct}, {name}));')
    folder = tmp_path_factory.mktemp("layouts")
    source, program = folder / "layouts.c", folder / "layouts"
    source.write_text(
        f'#include "{_HEADER}"\n#include <stdio.h>\n'
        '#define P(name, value) printf("%s %d\\n", name, value)\n'
        f"int main(void) {{\n{chr(10).join(prints)}\n}}\n"
    )
    subprocess.run([clang, source, "-o", program], check=True)
    shown = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    return {name: int(value) for name, value in map(str.split, shown.splitlines())}


def _offsets(struct: str) -> list[int]:
    """Where the fields of a literal struct type lie, and its size."""
    offsets, at = [], 0
    for field in element_types(struct):
        size, align = size_and_alignment(field)
        at = -(-at // align) * align
        offsets.append(at)
        at += size
    return [*offsets, size_and_alignment(struct)[0]]


def _said(clang_says: dict[str, int], struct: str) -> list[int]:
    fields = [value for name, value in clang_says.items() if name.startswith(f"{struct}.")]
    return [*fields, clang_says[struct]]


def test_block_fields(clang_says: dict[str, int]) -> None:
    assert {name: clang_says[f"hirc_block.{name}"] for name in FIELDS} == FIELDS


def test_kernel_fields(clang_says: dict[str, int]) -> None:
    assert {name: clang_says[f"hirc_kernel.{name}"] for name in KERNEL_FIELDS} == KERNEL_FIELDS


def test_constants(clang_says: dict[str, int]) -> None:
    assert clang_says["HIRC_STATE_END"] == STATE_END
    assert clang_says["HIRC_STATES_DIFFER"] == STATES_DIFFER
    assert clang_says["HIRC_MAX_THREADS"] == MAX_THREADS


@pytest.mark.parametrize(
    ("struct", "literal"),
    [
        ("hirc_kernel", kernel_table.KERNEL),
        ("hirc_stop", kernel_table.STOP),
        ("hirc_slot", kernel_table.SLOT),
        ("hirc_argument", kernel_table.ARGUMENT),
        ("hirc_variable", kernel_table.VARIABLE),
    ],
)
def test_table_structs(struct: str, literal: str, clang_says: dict[str, int]) -> None:
    assert _offsets(literal) == _said(clang_says, struct)
