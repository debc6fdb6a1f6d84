"""What pyproject.toml promises about the package."""

import subprocess
import sys
import tomllib
from pathlib import Path

from support.environment import ROOT

_CODE = ("compiler", "dialects", "frontends", "pipelines", "tools")


def test_every_subpackage_is_installed() -> None:
    """A folder left out of the list would be missing from a wheel, and from nothing else."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    listed = set(project["tool"]["setuptools"]["packages"])
    folders = {init.parent for name in _CODE for init in (ROOT / name).rglob("__init__.py")}
    assert listed == {"hirc", *(_module_name(folder) for folder in folders)}


def test_every_module_is_in_a_package() -> None:
    modules = (module for name in _CODE for module in (ROOT / name).rglob("*.py"))
    assert [m for m in modules if not (m.parent / "__init__.py").is_file()] == []


def test_the_licence_is_that_of_mlir() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["license"] == "Apache-2.0 WITH LLVM-exception"
    (name,) = project["license-files"]
    text = (ROOT / name).read_text()
    assert "Version 2.0, January 2004" in text
    assert "LLVM Exceptions to the Apache 2.0 License" in text


def test_importing_the_package_loads_neither_mlir_nor_llvm() -> None:
    code = "import sys, hirc; print({'torch_mlir', 'llvmlite', 'numpy'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "set()\n"


def _module_name(folder: Path) -> str:
    return ".".join(["hirc", *folder.relative_to(ROOT).parts])
