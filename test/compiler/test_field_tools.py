"""The tools that people have read what hirc makes: LLVM's for offloading, and CUDA's.

tools/setup brings them where it installs packages; each is skipped where it is not installed.
LLVM's are in Debian's llvm-22 and clang-22, CUDA's in its toolkit and in the packages
nvidia-cuda-cuobjdump and nvidia-cuda-nvdisasm.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from hirc.compiler.toolchain import find_cuda
from hirc.tools.hirc import main
from support.driver import PROGRAM, write

_CHIPS = ("sm_80", "sm_90")
_TRIPLE = "nvptx64-nvidia-cuda"
_BITCODE = b"BC\xc0\xde"


def _run(clang: Path, *words: str | Path) -> str:
    """Runs a tool; the test is skipped where there is none."""
    tool, *arguments = words
    own = (str(clang.resolve().parent), str(find_cuda().root / "bin"))
    folders = os.pathsep.join((*own, os.environ["PATH"]))
    found = shutil.which(f"{tool}-22") or shutil.which(str(tool), path=folders)
    if found is None:
        pytest.skip(f"{tool} is not installed")
    done = subprocess.run(
        [found, *arguments], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program as an object for two chips, and as an executable with PTX too."""
    folder = tmp_path_factory.mktemp("built")
    source = write(folder, "prog.mlir", PROGRAM)
    arch = f"--offload-arch={','.join(_CHIPS)}"
    assert main([str(source), arch, "--emit=object", "-o", str(folder / "prog.o")]) == 0
    words = ["--offload-arch=sm_80,compute_90", "-o", str(folder / "prog")]
    assert main([str(source), *words]) == 0
    return folder


def test_llvm_objdump(clang: Path, folder: Path) -> None:
    listed = _run(clang, "llvm-objdump", "--offloading", folder / "prog.o")
    assert re.findall(r"^arch +(\w+)$", listed, re.MULTILINE) == list(_CHIPS)
    assert set(re.findall(r"^kind +(.+)$", listed, re.MULTILINE)) == {"llvm ir"}
    assert set(re.findall(r"^producer +(.+)$", listed, re.MULTILINE)) == {"cuda"}
    assert set(re.findall(r"^triple +(.+)$", listed, re.MULTILINE)) == {_TRIPLE}


def test_llvm_offload_binary(clang: Path, folder: Path) -> None:
    """Takes the image of each chip out."""
    for chip in _CHIPS:
        taken = folder / f"{chip}.bc"
        image = f"--image=file={taken},triple={_TRIPLE},arch={chip}"
        _run(clang, "llvm-offload-binary", folder / "prog.o", image)
        assert taken.read_bytes()[:4] == _BITCODE


def test_clang_offload_bundler(clang: Path, folder: Path) -> None:
    """Bundles of the older driver are made of what hirc emits, and give it back."""
    host, device = folder / "host.bc", folder / "device.bc"
    words = [str(folder / "prog.mlir"), "--offload-arch=sm_90"]
    assert main([*words, "--emit=bitcode", "-o", str(host)]) == 0
    assert main([*words, "--emit=device-bitcode", "-o", str(device)]) == 0
    bundle, again = folder / "bundle.bc", (folder / "host2.bc", folder / "device2.bc")
    targets = f"--targets=host-x86_64-pc-linux-gnu-,openmp-{_TRIPLE}-unknown-sm_90"
    bundler = ("clang-offload-bundler", "--type=bc", targets)
    inputs = [f"--input={each}" for each in (host, device)]
    _run(clang, *bundler, *inputs, f"--output={bundle}")
    listed = _run(clang, "clang-offload-bundler", "--type=bc", f"--input={bundle}", "--list")
    assert set(listed.split()) == set(targets.partition("=")[2].split(","))
    outputs = [f"--output={each}" for each in again]
    _run(clang, *bundler, "--unbundle", f"--input={bundle}", *outputs)
    assert [each.read_bytes() for each in again] == [host.read_bytes(), device.read_bytes()]


def test_cuobjdump(clang: Path, folder: Path) -> None:
    listed = _run(clang, "cuobjdump", "--list-elf", "--list-ptx", folder / "prog")
    assert re.findall(r"\.(sm_\d+)\.(cubin|ptx)$", listed, re.MULTILINE) == [
        ("sm_80", "cubin"),
        ("sm_90", "ptx"),
    ]
    assert ".visible .entry main_kernel" in _run(clang, "cuobjdump", "--dump-ptx", folder / "prog")


def test_nvdisasm(clang: Path, folder: Path) -> None:
    """Lines of the source stand in the disassembly."""
    cubin = folder / "prog.cubin"
    words = [str(folder / "prog.mlir"), "--offload-arch=sm_90", "-g", "--emit=cubin"]
    assert main([*words, "-o", str(cubin)]) == 0
    text = _run(clang, "nvdisasm", "-g", "-c", cubin)
    found = {int(line) for line in re.findall(r'File ".*prog\.mlir", line (\d+)', text)}
    assert found & {8, 9, 10}, found
