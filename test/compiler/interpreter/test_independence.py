"""What judges compiled programs has no part of what compiles them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from hirc.compiler import interpreter
from hirc.compiler.interpreter.dtypes import DTYPES
from hirc.dialects.hir.element_types import ELEMENT_TYPES

_ROOT = Path(interpreter.__file__).parent
_SOURCES = sorted(_ROOT.rglob("*.py"))
# What the dialect defines: its types by name, the form of its attributes, how an allocation's
# domain and the teams and meshes of devices are read. Everything that computes is the
# interpreter's own.
_OF_THE_DIALECT = {
    "dialects.mlir",
    "dialects.modules",
    "dialects.hir.element_types",
    "dialects.hir.layout",
    "dialects.hir.domain",
    "dialects.hir.domain_steps",
    "dialects.hir.kinds",
    "dialects.hir.mesh",
    "dialects.hir.program_inputs",
    "dialects.hir.program_mesh",
    "dialects.hir.team",
}
# It has the program's own kernels compiled, by the whole compiler.
_COMPILES_KERNELS = "kernels.py"


def _imports(path: Path) -> Iterator[str]:
    """The modules outside of the interpreter that a file imports, from the package's root on."""
    depth = len(path.relative_to(_ROOT).parts) - 1
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level == depth + 3:
            yield node.module or ""
        elif isinstance(node, ast.ImportFrom) and node.level == depth + 2:
            yield f"compiler.{node.module}"
        elif isinstance(node, ast.ImportFrom | ast.Import):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names]
            yield from (name.removeprefix("hirc.") for name in names if name.startswith("hirc"))


@pytest.mark.parametrize("path", _SOURCES, ids=lambda path: path.name)
def test_imports(path: Path) -> None:
    found = set(_imports(path))
    assert not {name for name in found if name.startswith("pipelines")}
    assert {name for name in found if name.startswith("dialects")} <= _OF_THE_DIALECT
    if path.name != _COMPILES_KERNELS:
        others = {"compiler.cpu_device", "compiler.driver", "compiler.unit", "compiler.stages"}
        assert not found & others


def test_element_types_have_torchs_sizes() -> None:
    assert {name: dtype.itemsize for name, dtype in DTYPES.items()} == {
        name: element.bytes for name, element in ELEMENT_TYPES.items() if name in DTYPES
    }
