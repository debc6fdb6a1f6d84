"""Outputs that another clang finishes: what each version reads, and that it registers the kernels.

Clang 16 and 19 are Debian's clang-tools-16 and clang-19, which take 1.5 GB and are not set up:
where they are not installed, only the form of what they would finish is looked at.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from hirc.compiler.describe import describe
from hirc.compiler.executable import DeviceImage
from hirc.compiler.gate import GateError
from hirc.compiler.gate.older import to_older
from hirc.compiler.object_symbols import elf_sections
from hirc.compiler.toolchain import find_cuda
from support.driver import ARCH, Hirc, write
from support.stand_in import stand_in_cuda

_FINISHERS = (16, 19, 22)
_HELLO = """\
func.func @main() {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    gpu.terminator
  }
  return
}
"""


def _clang(version: int) -> Path:
    """The clang of that version with what links device code, or the test is skipped."""
    found = shutil.which(f"clang-{version}")
    if found is None or not (Path(found).resolve().parent / "clang-linker-wrapper").is_file():
        pytest.skip(f"clang-{version} with clang-linker-wrapper is not installed")
    return Path(found)


def _finish(clang: Path, built: Path, cuda: Path, stand_in: Path) -> Path:
    """Links as docs/offload.md says, with the stand-in for CUDA's runtime."""
    output = built.with_name("prog")
    paths = [f"--cuda-path={cuda}", "-Xlinker", f"--cuda-path={cuda}"]
    paths += ["-Xlinker", f"--device-compiler=--cuda-path={cuda}"] if "22" in clang.name else []
    libraries = [f"-L{stand_in}/lib", "-lcudart_static", "-ldl", "-lrt", "-lpthread", "-lm"]
    command = [clang, "--offload-link", built, "-o", output, *paths, *libraries]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return output


@pytest.fixture(scope="module")
def stand_in(tmp_path_factory: pytest.TempPathFactory, clang: Path) -> Path:
    return stand_in_cuda(tmp_path_factory.mktemp("stand-in"), clang)


@pytest.mark.proves("clang {version}", "NVIDIA", "x86-64", "linked, registered")
@pytest.mark.parametrize("emit", ["object", "bitcode", "llvm"])
@pytest.mark.parametrize("version", _FINISHERS)
def test_finished(version: int, emit: str, hirc: Hirc, stand_in: Path, tmp_path: Path) -> None:
    """The executable has the image, and its kernel is known to CUDA's runtime when launched."""
    finisher = _clang(version)
    suffix = {"object": ".o", "bitcode": ".bc", "llvm": ".ll"}[emit]
    built, cuda = tmp_path / f"built{suffix}", tmp_path / "cuda-for-clang"
    source = write(tmp_path, "prog.mlir", _HELLO)
    words = [ARCH, f"--emit={emit}", f"--for-clang={version}", f"--emit-cuda={cuda}"]
    hirc.succeeds(source, *words, "-o", built)
    if version >= 22:
        cuda = find_cuda().root
    output = _finish(finisher, built, cuda, stand_in)
    assert tuple(describe(output).images) == (DeviceImage("sm_90", "machine code"),)
    done = subprocess.run(
        [output], env={"STAND_IN_GPUS": "1"}, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.startswith("GPU 0: main_kernel")


@pytest.mark.proves("clang {version}", "NVIDIA", "x86-64", "form read")
@pytest.mark.parametrize(
    ("version", "section", "entry_bytes", "image"),
    [
        (16, "cuda_offloading_entries", 32, "machine code"),
        (19, "cuda_offloading_entries", 32, "machine code"),
        (20, "cuda_offloading_entries", 56, "machine code"),
        (21, "llvm_offload_entries", 56, "machine code"),
        (22, "llvm_offload_entries", 56, "bitcode"),
        (23, "llvm_offload_entries", 56, "bitcode"),
    ],
)
def test_an_object(
    version: int, section: str, entry_bytes: int, image: str, hirc: Hirc, tmp_path: Path
) -> None:
    built = tmp_path / "built.o"
    source = write(tmp_path, "prog.mlir", _HELLO)
    words = [ARCH, "-O0", "--emit=object", f"--for-clang={version}"]
    hirc.succeeds(source, *words, "-o", built)
    assert tuple(describe(built).images) == (DeviceImage("sm_90", image),)
    sizes = {found.name: found.size for found in elf_sections(built.read_bytes())}
    assert sizes[section] == entry_bytes


@pytest.mark.parametrize(
    ("version", "arch", "first"),
    [
        (16, "sm_90a", 18),
        (19, "sm_100", 20),
        (20, "sm_120a", 21),
        (21, "sm_110", 22),
        (21, "sm_100f", 22),
    ],
)
def test_chips_that_it_does_not_know(
    version: int, arch: str, first: int, hirc: Hirc, tmp_path: Path
) -> None:
    source = write(tmp_path, "prog.mlir", _HELLO)
    words = [f"--offload-arch={arch}", "--emit=object", f"--for-clang={version}", "-o", "-"]
    errors = hirc.fails(source, *words)
    said = f"clang {version} does not link device code for {arch}: clang {first} is the first to"
    assert f"error: {said}" in errors


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--for-clang=15", "--emit=object"], "layout of clang 15 is not known"),
        (["--for-clang=24", "--emit=object"], "layout of clang 24 is not known"),
        (["--for-clang=19"], "--for-clang goes with --emit=object, bitcode or llvm"),
        (
            ["--for-clang=19", "--emit=object", "--offload-arch=cpu"],
            "hirc itself links",
        ),
        (["--emit=object", "--emit-cuda=cuda"], "--emit-cuda goes with --for-clang"),
        (["--for-clang=19", "--emit=object", "--emit-cuda=."], "there is something already"),
        (["--for-clang=17", "--emit=bitcode"], "clang 17 is not found"),
    ],
)
def test_refused(
    words: list[str], said: str, hirc: Hirc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hirc.compiler.consumer.shutil.which", _nowhere)
    source = write(tmp_path, "prog.mlir", _HELLO)
    assert said in hirc.fails(source, ARCH, *words, "-o", tmp_path / "out")


def _nowhere(name: str) -> None:
    return None


# The newest clang that is given another spelling than LLVM 22's, that one, and the other.
_SPELLINGS = """
16 | %2 = getelementptr nuw i8, ptr %0, i64 1 | %2 = getelementptr i8, ptr %0, i64 1
19 | %2 = icmp samesign ult i64 %0, 8 | %2 = icmp ult i64 %0, 8
16 | %2 = trunc nuw nsw i64 %0 to i32 | %2 = trunc i64 %0 to i32
16 | %2 = or disjoint i64 %0, 1 | %2 = or i64 %0, 1
16 | %2 = zext nneg i32 %0 to i64 | %2 = zext i32 %0 to i64
19 | declare void @f(ptr captures(none)) | declare void @f(ptr nocapture)
19 | declare void @f(ptr readonly captures(address)) | declare void @f(ptr readonly)
16 | declare range(i32 0, 2) i32 @f() | declare i32 @f()
16 | declare void @f(ptr initializes((0, 8), (16, 24))) | declare void @f(ptr)
19 | attributes #0 = { nocreateundeforpoison nounwind } | attributes #0 = { nounwind }
19 |   call void @llvm.lifetime.end.p0(ptr %0) |   call void @llvm.lifetime.end.p0(i64 -1, ptr %0)
19 | declare void @llvm.lifetime.end.p0(ptr) | declare void @llvm.lifetime.end.p0(i64, ptr)
16 | %2 = add <2 x i32> %0, splat (i32 3) | %2 = add <2 x i32> %0, <i32 3, i32 3>
16 | !1 = !{!"branch_weights", !"expected", i32 1} | !1 = !{!"branch_weights", i32 1}
16 | call void @llvm.va_start.p0(ptr %0) | call void @llvm.va_start(ptr %0)
0 | @x = constant [10 x i8] c"trunc nuw " |
"""


@pytest.mark.parametrize("row", _SPELLINGS.strip().splitlines())
def test_spellings(row: str) -> None:
    last, text, older = row.split(" |")
    text, older = text[1:], older[1:]
    for version in (16, 19, 22):
        assert to_older(text, version) == (older if version <= int(last) else text)


def test_a_three_way_comparison() -> None:
    text = "  %5 = call i32 @llvm.scmp.i32.i64(i64 %3, i64 7)"
    assert to_older(text, 19) == text
    lines = to_older(text, 16).splitlines()
    assert lines[0] == "  %older.5.over = icmp sgt i64 %3, 7"
    assert lines[-1] == "  %5 = sub i32 %older.5.plus, %older.5.minus"


def test_an_intrinsic_that_it_does_not_know() -> None:
    with pytest.raises(GateError, match=r"llvm\.atan2 needs LLVM 20 or newer"):
        to_older("declare float @llvm.atan2.f32(float, float)", 19)
