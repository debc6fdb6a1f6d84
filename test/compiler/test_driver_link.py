"""What hirc links: several inputs, objects, archives, libraries; and what the result holds."""

from __future__ import annotations

import shutil
import struct
import subprocess
import sys
from pathlib import Path
from time import perf_counter

import pytest

from hirc.compiler.executable import ENTRY_BYTES, DeviceImage, read_linked_file
from hirc.compiler.offload_binary import ImageKind, unpack
from hirc.compiler.process import Runner
from hirc.compiler.toolchain import find_cuda
from support.driver import ANSWER, ARCH, CALLER, PROGRAM, Hirc, cuda_with, listing, write

_KERNEL_UNIT = """\
func.func @half_{0}(%m: memref<32xf32>) {{
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {{
    %one = arith.constant {1} : f32
    memref.store %one, %m[%tx] : memref<32xf32>
    gpu.terminator
  }}
  return
}}
"""
_TWO_UNITS_MAIN = """\
func.func private @half_a(memref<32xf32>)
func.func private @half_b(memref<32xf32>)
func.func @main() {
  %m = gpu.alloc () : memref<32xf32>
  call @half_a(%m) : (memref<32xf32>) -> ()
  call @half_b(%m) : (memref<32xf32>) -> ()
  gpu.dealloc %m : memref<32xf32>
  return
}
"""


def _compile(clang: Path, source: Path, output: Path, *flags: str) -> Path:
    subprocess.run([clang, *flags, source, "-o", output], check=True)
    return output


def _section_bytes(path: Path, wanted: str) -> int:
    """A section's size, read from the ELF header itself."""
    data = path.read_bytes()
    offset = struct.unpack_from("<Q", data, 0x28)[0]
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", data, offset + size * i) for i in range(count)]
    strings = headers[names][4]
    for name, _, _, _, _, length in headers:
        begin = strings + name
        if data[begin : data.index(b"\0", begin)].decode() == wanted:
            return length
    return 0


def test_executable_registers_its_kernel(hirc: Hirc, tmp_path: Path) -> None:
    """Entries of a layout clang does not read would link without a word and register nothing."""
    output = tmp_path / "prog"
    hirc.succeeds(write(tmp_path, "prog.mlir", PROGRAM), ARCH, "-o", output)
    assert _section_bytes(output, "llvm_offload_entries") == ENTRY_BYTES
    linked = read_linked_file(output)
    assert linked.images == (DeviceImage("sm_90", "machine code"),)
    assert list(linked.device_symbols) == ["main_kernel"]
    assert all("cuda" not in name for name in linked.needed)


def test_program_without_a_gpu_says_so(hirc: Hirc, tmp_path: Path) -> None:
    output = tmp_path / "prog"
    hirc.succeeds(write(tmp_path, "prog.mlir", PROGRAM), ARCH, "-o", output)
    done = Runner().run(["env", "CUDA_VISIBLE_DEVICES=", str(output)])
    assert done.status == 1
    assert "prog.mlir:4:8: error: cudaMallocAsync failed: cuda" in done.errors


def test_units_with_equal_kernel_names(hirc: Hirc, tmp_path: Path) -> None:
    """Every unit has a `half_x_kernel` of its own; all are there, none is merged."""
    inputs = [
        write(tmp_path, "main.mlir", _TWO_UNITS_MAIN),
        write(tmp_path, "a.mlir", _KERNEL_UNIT.format("a", "1.0")),
        write(tmp_path, "b.mlir", _KERNEL_UNIT.format("b", "2.0")),
    ]
    output = tmp_path / "prog"
    hirc.succeeds(*inputs, ARCH, "-o", output)
    symbols = read_linked_file(output).device_symbols
    assert len(symbols) == len(set(symbols)) == 2


def test_several_chips(hirc: Hirc, tmp_path: Path) -> None:
    source = write(tmp_path, "prog.mlir", PROGRAM)
    output = tmp_path / "prog"
    hirc.succeeds(source, "--offload-arch=sm_90,sm_80", "--offload-arch=sm_90a", "-o", output)
    assert {image.arch for image in read_linked_file(output).images} == {
        "sm_80",
        "sm_90",
        "sm_90a",
    }
    hirc.succeeds(source, "--offload-arch=sm_90,sm_80", "--emit=object", "-o", tmp_path / "prog.o")
    data = (tmp_path / "prog.o").read_bytes()
    images = unpack(
        data[data.index(b"\x10\xff\x10\xad") :][
            : _section_bytes(tmp_path / "prog.o", ".llvm.offloading")
        ]
    )
    assert [(image.arch, image.kind) for image in images] == [
        ("sm_90", ImageKind.BITCODE),
        ("sm_80", ImageKind.BITCODE),
    ]


@pytest.mark.parametrize("kind", ["object", "archive", "bitcode", "assembly", "library"])
def test_link_inputs(hirc: Hirc, clang: Path, tmp_path: Path, kind: str) -> None:
    source = write(tmp_path, "answer.c", ANSWER)
    caller = write(tmp_path, "caller.mlir", CALLER)
    output = tmp_path / "prog"
    words: list[str | Path] = []
    if kind == "bitcode":
        words = [_compile(clang, source, tmp_path / "answer.bc", "-c", "-emit-llvm")]
    elif kind == "assembly":
        words = [_compile(clang, source, tmp_path / "answer.ll", "-S", "-emit-llvm")]
    else:
        words = [_compile(clang, source, tmp_path / "answer.o", "-c", "-fPIC")]
    if kind in ("archive", "library"):
        subprocess.run(["ar", "rcs", tmp_path / "libanswer.a", *words], check=True)
        words = [tmp_path / "libanswer.a"]
    if kind == "library":
        words = ["-L", tmp_path, "-lanswer"]
    hirc.succeeds(caller, *words, "-o", output)
    assert Runner().run([output]).status == 42


def test_link_inputs_alone(hirc: Hirc, clang: Path, tmp_path: Path) -> None:
    """What --emit=object wrote links later, with other objects, without MLIR."""
    caller, device = tmp_path / "caller.o", tmp_path / "device.o"
    hirc.succeeds(write(tmp_path, "caller.mlir", CALLER), "--emit=object", "-o", caller)
    hirc.succeeds(
        write(tmp_path, "device.mlir", _KERNEL_UNIT.format("a", "1.0")),
        ARCH,
        "--emit=object",
        "-o",
        device,
    )
    answer = _compile(clang, write(tmp_path, "answer.c", ANSWER), tmp_path / "answer.o", "-c")
    hirc.succeeds(caller, device, answer, "-o", tmp_path / "prog")
    assert Runner().run([tmp_path / "prog"]).status == 42
    assert read_linked_file(tmp_path / "prog").entries == 1


def test_shared_library(hirc: Hirc, clang: Path, tmp_path: Path) -> None:
    library = tmp_path / "libhalf.so"
    source = write(tmp_path, "half.mlir", _KERNEL_UNIT.format("a", "1.0"))
    hirc.succeeds(source, ARCH, "--emit=shared", "-o", library)
    linked = read_linked_file(library)
    assert linked.entries == 1
    assert linked.images == (DeviceImage("sm_90", "machine code"),)
    main = write(tmp_path, "main.c", "void half_a(); int main() { return half_a == 0; }\n")
    program = _compile(clang, main, tmp_path / "user", str(library))
    assert Runner().run([program]).status == 0


def test_bitcode_is_finished_by_clang_alone(hirc: Hirc, clang: Path, tmp_path: Path) -> None:
    """The command of the README, with a ptxas that leaves a mark: no other CUDA is used."""
    bitcode, output = tmp_path / "prog.bc", tmp_path / "prog"
    source = write(tmp_path, "prog.mlir", PROGRAM)
    hirc.succeeds(source, "--offload-arch=sm_90,sm_80", "--emit=bitcode", "-o", bitcode)
    (tmp_path / "cuda").mkdir()
    cuda = cuda_with(tmp_path / "cuda", f'echo "$@" >> {tmp_path}/ptxas.log; exec "$REAL" "$@"')
    command = [clang, "--offload-link", bitcode, "-o", output, f"--cuda-path={cuda}"]
    command += ["-Xlinker", f"--device-compiler=--cuda-path={cuda}"]
    command += [f"-L{cuda}/lib", "-lcudart_static", "-ldl", "-lrt", "-lpthread", "-lm"]
    subprocess.run(command, check=True, cwd=tmp_path, env={"PATH": "/usr/bin:/bin"})
    assert "sm_90" in (tmp_path / "ptxas.log").read_text()
    linked = read_linked_file(output)
    assert linked.entries == 1
    assert {image.arch for image in linked.images} == {"sm_80", "sm_90"}
    done = Runner().run(["env", "CUDA_VISIBLE_DEVICES=", str(output)])
    assert "prog.mlir:4:8: error: cudaMallocAsync failed: cuda" in done.errors


def test_bitcode_of_several_units(hirc: Hirc, clang: Path, tmp_path: Path) -> None:
    """Device code inside bitcode inputs is linked too, by hirc as by clang."""
    parts: list[Path] = []
    for name, text in (
        ("main", _TWO_UNITS_MAIN),
        ("a", _KERNEL_UNIT.format("a", "1.0")),
        ("b", _KERNEL_UNIT.format("b", "2.0")),
    ):
        parts.append(tmp_path / f"{name}.bc")
        source = write(tmp_path, f"{name}.mlir", text)
        hirc.succeeds(source, ARCH, "--emit=bitcode", "-o", parts[-1])
    hirc.succeeds(tmp_path / "main.mlir", *parts[1:], ARCH, "-o", tmp_path / "ours")
    cuda = find_cuda().root
    command = [clang, "--offload-link", *parts, "-o", tmp_path / "theirs", f"--cuda-path={cuda}"]
    command += ["-Xlinker", f"--device-compiler=--cuda-path={cuda}"]
    command += [f"-L{cuda}/lib", "-lcudart_static", "-ldl", "-lrt", "-lpthread", "-lm"]
    subprocess.run(command, check=True, cwd=tmp_path)
    ours, theirs = read_linked_file(tmp_path / "ours"), read_linked_file(tmp_path / "theirs")
    assert ours.entries == theirs.entries == 2
    assert set(ours.device_symbols) == set(theirs.device_symbols)
    assert len(set(ours.device_symbols)) == 2


_CALLS_BUMP = """\
module attributes {gpu.container_module} {
  gpu.module @m {
    func.func private @bump(f32) -> f32
    gpu.func @k(%m: memref<f32>, %x: f32) kernel {
      %0 = func.call @bump(%x) : (f32) -> f32
      memref.store %0, %m[] : memref<f32>
      gpu.return
    }
  }
}
"""


def _device_bitcode(clang: Path, folder: Path, name: str, text: str) -> Path:
    triple = "nvptx64-nvidia-cuda"
    source = write(folder, f"{name}.ll", f'target triple = "{triple}"\n{text}\n')
    return _compile(clang, source, folder / f"{name}.bc", "-c", "-emit-llvm", f"--target={triple}")


def test_device_library(hirc: Hirc, clang: Path, tmp_path: Path) -> None:
    """A function of a user's bitcode is linked into the kernel and disappears in it.

    What the library has besides, and would need, is not asked for.
    """
    source = write(tmp_path, "prog.mlir", _CALLS_BUMP)
    library = _device_bitcode(
        clang,
        tmp_path,
        "bump",
        """\
define float @bump(float %x) {
  %1 = fadd float %x, 3.0
  ret float %1
}
define void @unused() {
  call void @nowhere()
  ret void
}
declare void @nowhere()
""",
    )
    ran = hirc.succeeds(source, ARCH, "--emit=ptx", f"--device-lib={library}", "-o", "-")
    assert "bump" not in ran.output
    assert "unused" not in ran.output
    assert "0f40400000" in ran.output
    errors = hirc.fails(source, ARCH, "--emit=ptx", "-o", "-")
    assert f"{source}:5:12: error: device function 'bump' is called" in errors


@pytest.mark.parametrize("order", [["bump", "deeper"], ["deeper", "bump"]])
def test_device_libraries_that_need_each_other(
    hirc: Hirc, clang: Path, tmp_path: Path, order: list[str]
) -> None:
    source = write(tmp_path, "prog.mlir", _CALLS_BUMP)
    for name, callee in (("bump", "deeper"), ("deeper", "__nv_expf")):
        text = f"define float @{name}(float %x) {{\n  %1 = call float @{callee}(float %x)\n"
        text += f"  ret float %1\n}}\ndeclare float @{callee}(float)"
        _device_bitcode(clang, tmp_path, name, text)
    words = [f"--device-lib={tmp_path}/{name}.bc" for name in order]
    ran = hirc.succeeds(source, ARCH, "--emit=ptx", *words, "-o", "-")
    assert "ex2.approx" in ran.output
    assert "call" not in ran.output


def test_functions_of_the_names_of_ours(hirc: Hirc, tmp_path: Path) -> None:
    """A C function may be called what a function inside the support library is."""
    source = write(
        tmp_path,
        "prog.mlir",
        """\
"hir.program"() ({
^bb0(%x: memref<8xf32>):
  %taken = "hir.host_call"() ({
    "hir.argument"(%x) : (memref<8xf32>) -> ()
  }) {callee = @settle} : () -> !hir.results_t
}) {sym_name = "main", function_type = (memref<8xf32>) -> ()} : () -> ()
""",
    )
    ran = hirc.succeeds(source, ARCH, "--emit=llvm", "-o", "-")
    assert "declare void @settle(ptr, ptr)" in ran.output


def test_device_libraries_that_do_not_fit(hirc: Hirc, clang: Path, tmp_path: Path) -> None:
    words = (write(tmp_path, "prog.mlir", _CALLS_BUMP), ARCH, "--emit=ptx", "-o", "-")
    host = _compile(clang, write(tmp_path, "h.c", ANSWER), tmp_path / "h.bc", "-c", "-emit-llvm")
    errors = hirc.fails(*words, f"--device-lib={host}")
    assert (
        f"error: {host} is bitcode for x86_64-pc-linux-gnu, not for nvptx64-nvidia-cuda" in errors
    )
    text = "define i32 @bump(i32 %x) {\n  ret i32 %x\n}"
    other = _device_bitcode(clang, tmp_path, "other", text)
    errors = hirc.fails(*words, f"--device-lib={other}")
    assert "error: function 'bump' is called as float (float), and " in errors
    assert "defines it as i32 (i32)" in errors
    broken = tmp_path / "broken.bc"
    broken.write_bytes(other.read_bytes()[:40])
    errors = hirc.fails(*words, f"--device-lib={broken}")
    assert f"error: LLVM 22 cannot read {broken}: " in errors
    assert "hint: bitcode of LLVM 22 or older can be read" in errors
    broken.write_bytes(other.read_bytes().replace(b"bump", b"b\xe8mp"))
    errors = hirc.fails(*words, f"--device-lib={broken}")
    assert f"error: {broken} has a name that is not UTF-8" in errors
    text = "@table = constant i32 3\ndefine float @bump(float %x) {\n  ret float %x\n}"
    variable = _device_bitcode(clang, tmp_path, "variable", text)
    broken.write_bytes(variable.read_bytes().replace(b"table", b"t\xe8ble"))
    errors = hirc.fails(*words, f"--device-lib={broken}")
    assert f"error: {broken} has a name that is not UTF-8" in errors
    broken.write_bytes(_refused_by_the_verifier(other))
    errors = hirc.fails(*words, f"--device-lib={broken}")
    assert f"error: LLVM's verifier refuses {broken}: " in errors


# LLVM may end a process that reads what was changed.
_CHANGES = """
import sys
import llvmlite.binding as llvm
bitcode, begin = open(sys.argv[1], "rb").read(), int(sys.argv[2])
for place in range(begin, 8 * len(bitcode)):
    print(place, flush=True)
    damaged = bytearray(bitcode)
    damaged[place // 8] ^= 1 << place % 8
    try:
        module = llvm.parse_bitcode(bytes(damaged))
    except (RuntimeError, UnicodeDecodeError):
        continue
    try:
        module.verify()
    except RuntimeError:
        sys.exit(0)
sys.exit("no bit of it makes such a module")
"""


def _refused_by_the_verifier(file: Path) -> bytes:
    """Changes a bit of a file of bitcode, which can be read then all the same."""
    place = -1
    while True:
        words = [sys.executable, "-c", _CHANGES, str(file), str(place + 1)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        place = int(done.stdout.split()[-1])
        assert done.returncode <= 0, done.stderr
        if done.returncode == 0:
            damaged = bytearray(file.read_bytes())
            damaged[place // 8] ^= 1 << place % 8
            return bytes(damaged)


def test_equal_inputs_give_equal_objects(hirc: Hirc, tmp_path: Path) -> None:
    source = write(tmp_path, "prog.mlir", PROGRAM)
    for kind in ("object", "bitcode", "cubin", "exe"):
        for name in ("first", "second"):
            hirc.succeeds(source, ARCH, f"--emit={kind}", "-o", tmp_path / name)
        first, second = ((tmp_path / name).read_bytes() for name in ("first", "second"))
        assert first == second, kind


def test_nothing_but_the_output_is_written(
    hirc: Hirc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    write(tmp_path / "work", "prog.mlir", PROGRAM)
    hirc.succeeds("prog.mlir", ARCH)
    assert listing(tmp_path) == {"work/prog.mlir", "work/a.out"}
    hirc.succeeds("prog.mlir", ARCH, "--emit=ptx")
    assert listing(tmp_path) == {"work/prog.mlir", "work/a.out", "work/prog.ptx"}
    shutil.rmtree(tmp_path / "work")


def test_save_temps(hirc: Hirc, tmp_path: Path) -> None:
    source = write(tmp_path, "prog.mlir", PROGRAM)
    kept = tmp_path / "kept"
    hirc.succeeds(source, ARCH, f"--save-temps={kept}", "-o", tmp_path / "prog")
    names = listing(kept)
    for stage in ("kernels", "entries", "runtime-calls", "device", "host"):
        assert f"prog.{stage}.mlir" in names
    assert {"prog.sm_90.ll", "prog.host.ll"} <= names
    assert any(name.endswith(".cubin") for name in names)


def test_commands_are_shown(hirc: Hirc, tmp_path: Path) -> None:
    source = write(tmp_path, "prog.mlir", PROGRAM)
    output = tmp_path / "prog"
    ran = hirc.succeeds(source, ARCH, "-###", "-o", output)
    assert "--offload-link" in ran.errors
    assert f"--cuda-path={find_cuda().root}" in ran.errors
    assert not output.exists()
    ran = hirc.succeeds(source, ARCH, "-v", "-o", output)
    assert "clang-linker-wrapper" in ran.errors
    assert output.exists()


def test_time_report(hirc: Hirc, tmp_path: Path) -> None:
    ran = hirc.succeeds(
        write(tmp_path, "prog.mlir", PROGRAM), ARCH, "--time-report", "-o", tmp_path / "prog"
    )
    lines = ran.errors.splitlines()
    for phase in (
        "start-up and imports",
        "parse",
        "stage device",
        "stage host",
        "device code",
        "link",
        "total",
    ):
        assert any(phase in line for line in lines), phase
    seconds = [float(line.split()[0]) for line in lines[1:]]
    assert sum(seconds[:-1]) == pytest.approx(seconds[-1], abs=0.02)


def test_time_report_counts_from_the_start_of_the_process(tmp_path: Path) -> None:
    source = write(tmp_path, "prog.mlir", PROGRAM)
    words = [source, "--stop-after=device", "-o", tmp_path / "out.mlir", "--time-report"]
    begin = perf_counter()
    ran = subprocess.run(
        [sys.executable, "-m", "hirc.tools.hirc", *words, "--offload-arch=cpu"],
        capture_output=True,
        text=True,
        check=True,
    )
    seconds = perf_counter() - begin
    rows = [line.split(maxsplit=2) for line in ran.stderr.splitlines()[1:]]
    reported = {name: float(value) for value, _, name in rows}
    # The imports of MLIR's bindings alone take longer than what may be missing at the exit.
    assert reported["start-up and imports"] > 0.05
    assert seconds / 2 < reported["total"] < seconds + 0.02
    assert reported["other"] < reported["total"] / 4
