"""Every operation of the dialect is offered, documented, tested, interpreted and lowered."""

from __future__ import annotations

import re

import pytest

from hirc.compiler.interpreter.registry import find_step
from hirc.dialects import hir
from hirc.pipelines.hir.lowering.registry import find_lowering
from hirc.pipelines.products.all_lowerings import find_lowering as find_compute_lowering
from support.environment import ROOT

_TESTS = ROOT / "test" / "dialects" / "hir"
_DEFINITION = re.compile(r'class (\w+)\(Hir\.Operation, name="(\w+)"')
# The class of each operation.
_OPERATIONS = {
    name: class_name
    for path in sorted((ROOT / "dialects" / "hir").glob("*.py"))
    for class_name, name in _DEFINITION.findall(path.read_text())
}
# Parts of another operation, which whoever reads that one reads.
_PARTS = {"argument"}
# The interpreter reads outputs, kernels and the ends of loops by itself; passes make the others.
_WITHOUT_STEP = {
    *("output", "kernel", "stop_loop"),
    *("find_loops", "reduce_loops", "scan_loop"),
    *("has_library", "library_convolution", "library_matmul", "run_launcher"),
}
# Passes take them before programs become functions; the others are parts of a linalg.generic.
_OF_REGIONS = {"find_loops", "matrix_element", "reduce_loops", "scan_loop", "scatter"}
_WITHOUT_LOWERING = {"alias", "reshard", *_OF_REGIONS}


def test_there_are_operations() -> None:
    assert {"allocate", "unary", "launch"} <= set(_OPERATIONS)


@pytest.mark.parametrize("name", _OPERATIONS)
def test_it_is_offered(name: str) -> None:
    assert _OPERATIONS[name] in hir.__all__
    assert getattr(hir, _OPERATIONS[name]).__doc__


def test_the_documents_name_every_operation() -> None:
    text = "".join(path.read_text() for path in (ROOT / "docs").glob("*.md"))
    assert [name for name in _OPERATIONS if not re.search(rf"`hir\.{name}\b", text)] == []


@pytest.mark.parametrize("form", ["valid", "invalid"])
def test_a_test_reads_every_operation(form: str) -> None:
    is_invalid = form == "invalid"
    files = [path for path in _TESTS.glob("*.mlir") if path.stem.endswith("_invalid") == is_invalid]
    text = "".join(path.read_text() for path in files)
    assert [name for name in _OPERATIONS if f'"hir.{name}"' not in text] == []


def test_every_operation_is_interpreted() -> None:
    missing = {name for name in _OPERATIONS if find_step(f"hir.{name}") is None}
    assert missing == _WITHOUT_STEP | _PARTS


def test_every_operation_is_lowered() -> None:
    found = (find_lowering, find_compute_lowering)
    missing = {name for name in _OPERATIONS if not any(find(f"hir.{name}") for find in found)}
    assert missing == _WITHOUT_LOWERING | _PARTS
