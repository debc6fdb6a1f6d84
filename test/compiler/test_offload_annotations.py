"""Offload entries and embedded objects: the layout follows the clang that will link."""

from __future__ import annotations

import llvmlite.binding as llvm
import pytest

from hirc.compiler.errors import UnsupportedError
from hirc.compiler.offload_annotations import Entry, annotation_text, layout_for
from hirc.dialects.offload import EntryKind

_HOST = "@stub = internal constant i8 0\n@shadow = internal global [4 x i8] zeroinitializer\n"
_KERNEL = Entry("work", "stub", EntryKind.KERNEL, 0)
_GLOBAL = Entry("counts", "shadow", EntryKind.GLOBAL, 4)
_CONSTANT = Entry("factors", "shadow", EntryKind.CONSTANT, 4)
_SUPPORTED = range(16, 24)


@pytest.mark.parametrize("consumer", _SUPPORTED)
def test_text_is_valid(consumer: int) -> None:
    text = _HOST + annotation_text(
        [_KERNEL, _GLOBAL, _CONSTANT], b"\x10\xff\x10\xad'\"\\", consumer
    )
    module = llvm.parse_assembly(text)
    module.verify()
    (embedded,) = [
        str(item) for item in module.global_variables if item.name == "llvm.embedded.object"
    ]
    assert r"""c"\10\FF\10\AD'\22\\", """ in embedded
    assert 'section ".llvm.offloading"' in embedded
    assert "!exclude" in embedded


@pytest.mark.parametrize(
    ("consumer", "name", "section", "align"),
    [
        (16, ".omp_offloading.entry.work", "cuda_offloading_entries", 1),
        (17, ".omp_offloading.entry.work", "cuda_offloading_entries", 1),
        (18, ".omp_offloading.entry.work", "cuda_offloading_entries", 1),
        (19, ".offloading.entry.work", "cuda_offloading_entries", 1),
        (20, ".offloading.entry.work", "cuda_offloading_entries", 1),
        (21, ".offloading.entry.work", "llvm_offload_entries", 8),
        (22, ".offloading.entry.work", "llvm_offload_entries", 8),
        (23, ".offloading.entry.work", "llvm_offload_entries", 8),
    ],
)
def test_section_and_name(consumer: int, name: str, section: str, align: int) -> None:
    module = llvm.parse_assembly(_HOST + annotation_text([_KERNEL], b"", consumer))
    entry = str(module.get_global_variable(name))
    assert f'section "{section}", align {align}' in entry
    assert " = weak constant " in entry


@pytest.mark.parametrize("consumer", [16, 19])
def test_old_entries(consumer: int) -> None:
    text = annotation_text([_KERNEL, _GLOBAL, _CONSTANT], b"", consumer)
    struct = "{ ptr, ptr, i64, i32, i32 }"
    names = [f"@.offloading.entry_name.{index}" for index in range(3)]
    assert f"{struct} {{ ptr @stub, ptr {names[0]}, i64 0, i32 0, i32 0 }}" in text
    assert f"{struct} {{ ptr @shadow, ptr {names[1]}, i64 4, i32 0, i32 0 }}" in text
    assert f"{struct} {{ ptr @shadow, ptr {names[2]}, i64 4, i32 16, i32 0 }}" in text
    assert "llvm.offloading.symbols" not in text


@pytest.mark.parametrize("consumer", [20, 22, 23])
def test_new_entries(consumer: int) -> None:
    text = annotation_text([_KERNEL, _CONSTANT], b"", consumer)
    struct = "{ i64, i16, i16, i32, ptr, ptr, i64, i64, ptr }"
    kernel = "i64 0, i16 1, i16 2, i32 0, ptr @stub, ptr @.offloading.entry_name.0, i64 0, i64 0"
    constant = (
        "i64 0, i16 1, i16 2, i32 16, ptr @shadow, ptr @.offloading.entry_name.1, i64 4, i64 0"
    )
    assert f"{struct} {{ {kernel}, ptr null }}" in text
    assert f"{struct} {{ {constant}, ptr null }}" in text
    assert text.count('section ".llvm.rodata.offloading"') == 2
    module = llvm.parse_assembly(_HOST + text)
    assert "!llvm.offloading.symbols = !{!0, !1}" in str(module)


def test_nothing_to_say() -> None:
    assert annotation_text([], b"", 22).strip() == ""


@pytest.mark.parametrize("consumer", [15, 24])
def test_unknown_clang(consumer: int) -> None:
    with pytest.raises(UnsupportedError, match=f"layout of clang {consumer} is not known") as info:
        layout_for(consumer)
    assert info.value.hint == "link with clang 16 to 23"
