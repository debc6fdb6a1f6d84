"""What pyproject.toml promises about the package."""

import re
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


def test_every_file_beside_the_modules_is_installed() -> None:
    """A C source that is left out would be missing where hirc compiles its libraries."""
    data = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"][
        "package-data"
    ]
    installed = {
        path
        for package, patterns in data.items()
        for pattern in patterns
        for path in ROOT.joinpath(*package.split(".")[1:]).glob(pattern)
    }
    folders = (ROOT / name for name in _CODE if name != "tools")
    files = (path for folder in folders for path in folder.rglob("*") if path.is_file())
    there = {path for path in files if path.suffix not in (".py", ".pyc", ".pyi")}
    assert there - installed == set()


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


_LOADED = """
import sys
from hirc.tools.hirc import main
status = main(["-", "--emit=ptx", "--offload-arch=sm_90", "-o", sys.argv[1]])
print(status, *sorted(sys.modules))
"""
_SUM = """
func.func @add(%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %s = linalg.add ins(%x, %y : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>)
       -> tensor<64xf32>
  return %s : tensor<64xf32>
}
"""


def test_a_small_program_waits_for_no_more_than_it_needs(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _LOADED, tmp_path / "add.ptx"],
        input=_SUM,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    status, *loaded = done.stdout.split()
    kinds = {
        name.split(".")[3]
        for name in loaded
        if re.match(r"hirc\.pipelines\.schedules\.\w+\.", name)
    }
    assert status == "0"
    assert kinds == {"floor", "pointwise", "transpose"}
    dialects = {name.split(".")[2] for name in loaded if name.startswith("torch_mlir.dialects.")}
    assert not {"affine", "linalg", "llvm", "math", "nvvm"} & dialects
    assert "arith" in dialects
    assert "numpy" not in loaded
    assert "hirc.pipelines.hir.compute.all_lowerings" not in loaded
    assert "hirc.compiler.tuning" not in loaded
    # It has no mesh, communicates nothing, and has few operations.
    names = ("mesh.", "hir.mesh.", "hir.communication.", "overlap.loop", "overlap.cost")
    beginnings = tuple(f"hirc.pipelines.{name}" for name in names)
    assert [name for name in loaded if name.startswith(beginnings)] == []
    assert "fractions" not in loaded
    for folder, wanted in (("hir.lowering", "allocate"), ("host", "launch")):
        package = f"hirc.pipelines.{folder}."
        modules = {name.removeprefix(package) for name in loaded if name.startswith(package)}
        assert wanted in modules
        assert not {"events", "library_matmul", "tensor_map", "host_register"} & modules


def _module_name(folder: Path) -> str:
    return ".".join(["hirc", *folder.relative_to(ROOT).parts])
