"""Programs compiled into this process: what they give, keep and leave behind."""

from __future__ import annotations

import gc
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
import torch

import hirc
from hirc.compiler.cache import find_cache
from hirc.compiler.code import Code, Entry
from hirc.compiler.compile_code import CodeCompilation, Compiled, compile_code
from hirc.compiler.compile_program import weight_memory
from hirc.compiler.cpu_device.code import runs_wide_code
from hirc.compiler.device_containers import DeviceCode, fatbin
from hirc.compiler.errors import ExecutionError, InputError, InternalError, UnsupportedError
from hirc.compiler.llvm_ir import LlvmModule, host_machine
from hirc.compiler.loader_code import load_code
from hirc.compiler.options import Emit, Options
from hirc.compiler.safetensors import TensorFile
from hirc.compiler.source import Source
from hirc.compiler.target import Devices, Target
from hirc.compiler.toolchain import Cuda, find_clang, find_cuda
from support.program_command import ADD, ORIGINS
from support.weights import BIAS, DENSE, VALUES, WEIGHT, tensor, write_values

_X = np.arange(8, dtype=np.float32).reshape(2, 4)


@pytest.fixture(scope="module")
def dense(tmp_path_factory: pytest.TempPathFactory) -> hirc.Artifact:
    folder = tmp_path_factory.mktemp("dense")
    values = write_values(folder / "values.safetensors", VALUES)
    return hirc.compile(DENSE, target="cpu", opt_level=0, weights_from=values, cache=False)


def _mapped() -> list[str]:
    """The runtimes of this process, whose files are gone."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    return [line for line in lines if "/hirc-" in line and "r-xp" in line]


def test_programs_share_weights(dense: hirc.Artifact) -> None:
    np.testing.assert_array_equal(dense(_X), _X @ WEIGHT + BIAS)
    np.testing.assert_array_equal(dense.call(x=torch.from_numpy(_X)), _X @ WEIGHT + BIAS)
    np.testing.assert_array_equal(dense.weight(), WEIGHT)
    assert list(dense.signature.parameters) == ["x"]
    with pytest.raises(InputError, match="size 1 is 2, the program takes 4"):
        dense(_X[:, :2])


def test_what_is_saved_is_the_same(dense: hirc.Artifact, tmp_path: Path) -> None:
    dense.save(tmp_path / "libdense.so")
    loaded = hirc.load(tmp_path / "libdense.so")
    np.testing.assert_array_equal(loaded(_X), dense(_X))
    np.testing.assert_array_equal(loaded.weight(), WEIGHT)
    with pytest.raises(InputError, match="was loaded, and an executable is made of a program"):
        loaded.executable(tmp_path / "dense")
    dense.executable(tmp_path / "dense")
    np.save(tmp_path / "x.npy", _X)
    command = [
        tmp_path / "dense",
        f"--input={tmp_path / 'x.npy'}",
        f"--output={tmp_path / 'y.npy'}",
    ]
    subprocess.run(command, check=True)
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), dense(_X))


def test_code_goes_with_its_last_output(dense: hirc.Artifact) -> None:
    ready: Any = dense._maker.compiled  # pyright: ignore
    values = TensorFile(Path("values"), {name: tensor(each) for name, each in VALUES.items()}, {})
    gc.collect()
    before, threads = len(_mapped()), len(os.listdir("/proc/self/task"))

    def run() -> Any:
        memory = weight_memory(ready.code, values)
        loaded = load_code(ready.code, ready.runtime, weights=memory)
        artifact = hirc.Artifact(Path("again"), loaded=loaded)
        outputs = artifact(_X), artifact.weight()
        assert len(_mapped()) == before + 1
        return outputs

    y, weight = run()
    gc.collect()
    np.testing.assert_array_equal(weight, WEIGHT)
    assert len(_mapped()) == before + 1
    del y, weight
    gc.collect()
    for _ in range(20):
        run()
    gc.collect()
    assert (len(_mapped()), len(os.listdir("/proc/self/task"))) == (before, threads)


def test_code_is_for_this_processor(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What is saved runs anywhere."""

    def made() -> tuple[hirc.Artifact, set[bytes]]:
        artifact = hirc.compile(ADD, target="cpu", cache=False)
        ready: Any = artifact._maker.compiled  # pyright: ignore
        assert ".region0" not in LlvmModule(ready.bitcode, host_machine(2), name="host").text()
        return artifact, set(re.findall(rb"\.region0(\.wide)?\0", b"".join(ready.code.objects)))

    artifact, kinds = made()
    assert kinds == {b".wide" if runs_wide_code() else b""}
    monkeypatch.setenv("HIRC_CPU_VECTORS", "baseline")
    plain, kinds = made()
    assert kinds == {b""}
    plain.save(tmp_path / "libadd.so")
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    for run in (artifact, plain, hirc.load(tmp_path / "libadd.so")):
        np.testing.assert_array_equal(run(x, 0.5, 3)[0], x + 0.5)


def test_it_ends_with_its_process() -> None:
    code = (
        "import hirc, numpy\n"
        f"origins = hirc.compile({ORIGINS!r}, target='cpu', opt_level=0)\n"
        "x = numpy.ones((2, 64), numpy.float32)\n"
        "kept = origins(x, numpy.zeros(64, numpy.float32), 2.0)\n"
        "print(kept[0].sum(), kept[3].sum(), kept[4])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "256.0 0.0 2\n"), done.stderr


# Reserves what is free between the libraries, and below them a terabyte but for holes of 4 kB to
# 1 MB, which are further apart than code can reach. What is mapped next goes to the first that is
# large enough.
_HOLES = """\
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype, libc.mmap.argtypes = ctypes.c_void_p, [ctypes.c_void_p] + [ctypes.c_long] * 5
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
private_anonymous_unreserved = 0x4022

def reserve(size):
    start = libc.mmap(None, size, 0, private_anonymous_unreserved, -1, 0)
    assert start not in (None, ctypes.c_void_p(-1).value), ctypes.get_errno()
    return start

lowest = reserve(3 << 30)
for bits in range(31, 11, -1):
    while (start := reserve(1 << bits)) > lowest:
        pass
    assert libc.munmap(start, 1 << bits) == 0
for pages in sorted([*range(1, 257), *[1, 2, 3, 4] * 50]):
    assert libc.munmap(reserve(3 << 30), 4096 * pages) == 0
"""


def test_code_finds_a_place_among_holes() -> None:
    code = (
        "import hirc, numpy\n"
        "from pathlib import Path\n"
        "from hirc.compiler.loader_code import load_code\n"
        f"add = hirc.compile({ADD!r}, target='cpu', opt_level=0, cache=False)\n"
        f"made = add._maker.compiled\n{_HOLES}"
        "add = hirc.Artifact(Path('again'), loaded=load_code(made.code, made.runtime))\n"
        "y, twice = add(numpy.ones((2, 3), numpy.float32), 2.0, 4)\n"
        "print(y.sum(), twice)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "18.0 8\n"), done.stderr


def test_functions_of_libraries(tmp_path: Path) -> None:
    with hirc.program("main") as p:
        x = p.input("x", (2,), "f32")
        p.host_call("tell", x)
        p.output("y", x)
    with pytest.raises(InputError, match="function 'tell' is called and defined nowhere"):
        hirc.compile(p, target="cpu", opt_level=0)
    source = tmp_path / "tell.c"
    source.write_text("void tell(float **x, void *stream) { x[1][1] = 7; }\n")
    library = tmp_path / "libtell.so"
    subprocess.run([find_clang().path, "-shared", "-fPIC", source, "-o", library], check=True)
    found = hirc.compile(p, target="cpu", opt_level=0, libraries=[library])
    assert found(np.zeros(2, np.float32)).tolist() == [0, 7]
    cut = tmp_path / "libcut.so"
    cut.write_bytes(library.read_bytes()[:5000])
    with pytest.raises(
        InputError, match=r"cannot load .*libcut\.so: it is cut short: it has 5000 "
    ):
        hirc.compile(p, target="cpu", opt_level=0, libraries=[cut])


def _never(*_: object) -> None:
    raise AssertionError("compiled though it is cached")


def test_code_is_kept_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "cache"
    # What is compiled of C is there already.
    shutil.copytree(find_cache().folder or "", folder, copy_function=os.link)
    for kept in folder.glob("code-*"):
        kept.unlink()
    folder.chmod(0o700)
    monkeypatch.setenv("HIRC_CACHE_DIR", str(folder))
    values = write_values(tmp_path / "values.safetensors", VALUES)
    other = write_values(tmp_path / "others.safetensors", {**VALUES, "fc.bias": BIAS + 1})

    def compiled(values: Path = values, **options: Any) -> hirc.Artifact:
        return hirc.compile(DENSE, target="cpu", opt_level=0, weights_from=values, **options)

    wanted = compiled()(_X)
    (kept,) = folder.glob("code-*")
    with monkeypatch.context() as patch:
        patch.setattr(CodeCompilation, "compile", _never)
        np.testing.assert_array_equal(compiled()(_X), wanted)
        for changed in ({"cache": False}, {"values": other}, {"fast_math": True}):
            with pytest.raises(AssertionError, match="though it is cached"):
                compiled(**changed)  # pyright: ignore[reportArgumentType]
        kept.write_bytes(kept.read_bytes()[:-40])
        with pytest.raises(AssertionError, match="though it is cached"):
            compiled()
    np.testing.assert_array_equal(compiled()(_X), wanted)
    compiled().save(tmp_path / "libdense.so")
    np.testing.assert_array_equal(hirc.load(tmp_path / "libdense.so")(_X), wanted)


def _no_gpu(*_: object) -> None:
    raise UnsupportedError("no such chip")


def test_what_is_not_compiled_is_interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    with hirc.program("main") as p:
        p.output("y", p.input("x", ("n", 4), "f32").neg())
    monkeypatch.setattr(CodeCompilation, "compile", _no_gpu)
    with pytest.raises(UnsupportedError, match="no such chip"):
        hirc.jit(p, target="cpu", cache=False)
    with pytest.warns(UserWarning, match="not compiled, but interpreted: no such chip"):
        function = hirc.jit(p, target="cpu", cache=False, on_failure="interpret")
    torch.testing.assert_close(function(torch.from_numpy(_X)), -torch.from_numpy(_X))
    with pytest.raises(InputError, match="on_failure is 'ignore'"):
        hirc.jit(p, on_failure="ignore")


def test_failures_return(dense: hirc.Artifact) -> None:
    text = ADD.replace("%k = arith", 'cf.assert %f, "n is odd"\n  %k = arith').replace(
        "  %c1 = ", "  %i1 = arith.constant 1 : i64\n  %i0 = arith.constant 0 : i64\n"
        "  %r = arith.andi %n, %i1 : i64\n  %f = arith.cmpi eq, %r, %i0 : i64\n  %c1 = ", 1
    )  # fmt: skip
    function = hirc.jit(text, target="cpu", opt_level=0)
    x = np.zeros((2, 3), np.float32)
    with pytest.raises(ExecutionError, match="n is odd"):
        function(x, 1.0, 3)
    y, twice = function(x, 1.0, 4)
    assert (y.tolist(), twice) == (np.ones((2, 3)).tolist(), 8)


@pytest.mark.parametrize(
    ("program", "wrong"),
    [
        (lambda: hirc.compile(DENSE, (1,)), "go with a torch model"),
        (lambda: hirc.compile("module { func.func @f( }"), "expected"),
        (lambda: hirc.compile("nowhere.mlir"), "cannot read nowhere.mlir"),
        (lambda: hirc.compile(DENSE, target="sm_1"), "unknown offload arch"),
    ],
)
def test_wrong_programs(program: Callable[[], object], wrong: str) -> None:
    with pytest.raises(InputError, match=wrong):
        program()


def test_code_as_bytes() -> None:
    code = Code(
        *((b"host", b"device"), Devices.CPU),
        entries=(Entry("k", "k_stub", 0, False),),
        sections={"listed": ("a", "b")},
        images=(DeviceCode("sm_90a", b"cubin"), DeviceCode("sm_90", b"text", is_ptx=True)),
        weights="w",
    )
    packed = code.pack()
    assert Code.unpack(packed) == code
    for damaged in (b"", packed[:-1], packed + b"x", packed[:40] + b"\xff" + packed[41:]):
        with pytest.raises(ValueError, match="no compiled code"):
            Code.unpack(damaged)


def test_containers_are_those_of_the_tool(tmp_path: Path) -> None:
    text = ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry f() { ret; }\n"
    source, cubin, output = (tmp_path / f"a.{suffix}" for suffix in ("ptx", "cubin", "fatbin"))
    source.write_text(text)
    cuda = find_cuda()
    subprocess.run([cuda.ptxas, "-arch=sm_90a", source, "-o", cubin], check=True)
    image = f"--image3=kind=elf,sm=90a,file={cubin}"
    subprocess.run(
        [cuda.fatbinary, "-64", f"--create={output}", "--compress=false", image], check=True
    )
    assert fatbin([DeviceCode("sm_90a", cubin.read_bytes())]) == output.read_bytes()
    image = f"--image3=kind=ptx,sm=90a,file={source}"
    subprocess.run(
        [cuda.fatbinary, "-64", f"--create={output}", "--compress=false", image], check=True
    )
    assert fatbin([DeviceCode("sm_90a", text.encode(), is_ptx=True)]) == output.read_bytes()


def _compiled_code(text: str, target: str) -> Compiled:
    options = Options(
        inputs=("program",), output="program.so", emit=Emit.SHARED, targets=(Target.parse(target),)
    )
    return compile_code(Source("program", text.encode(), is_made=True), options)


@pytest.mark.parametrize("in_child", [False, True])
def test_a_gpu_s_code_is_made_beside_the_host_s(
    in_child: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What goes on meanwhile ends where the host's code fails, and gives what a cubin alone is."""
    if in_child:
        monkeypatch.setattr("hirc.compiler.compile_code._SMALL_BITCODE", 0)
    code = _compiled_code(ADD, "sm_90a").code
    ((arch, data, is_ptx),) = [(each.arch, each.data, each.is_ptx) for each in code.images]
    assert (arch, data[:4], is_ptx) == ("sm_90a", b"\x7fELF", False)

    def fails(*_: object, **__: object) -> bytes:
        raise InternalError("the host's code is lost")

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    others = set(psutil.Process().children())
    module = "hirc.compiler.compile_code"
    for place in ("CodeCompilation._host_with", "CodeCompilation._begin_assembling", "host_object"):
        with monkeypatch.context() as patch:
            patch.setattr(f"{module}.{place}", fails)
            with pytest.raises(InternalError, match="is lost"):
                _compiled_code(ADD, "sm_90a")
        assert set(psutil.Process().children()) <= others
        assert os.listdir(tmp_path) == []


def test_a_fault_of_the_code_generator_leaves_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of code that is not optimised."""
    operations = [f"  %{n + 1} = math.exp %{n} : tensor<64xf32>" for n in range(200)]
    text = "\n".join(
        [
            "func.func @main(%0: tensor<64xf32>) -> tensor<64xf32> {",
            *operations,
            "  return %200 : tensor<64xf32>",
            "}",
        ]
    )
    process, generate = os.getpid(), LlvmModule.object_code

    def aborts(module: LlvmModule, *, quickly: bool = False) -> bytes:
        if not module.has_unoptimised():
            return generate(module, quickly=quickly)
        assert os.getpid() != process
        os.abort()

    monkeypatch.setattr(LlvmModule, "object_code", aborts)
    with pytest.raises(InternalError, match="SIGABRT"):
        _compiled_code(text, "cpu")


def test_without_ptxas_the_driver_is_given_ptx(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Cuda, "ptxas", property(lambda self: self.root / "no-ptxas"))
    (image,) = _compiled_code(ADD, "sm_90a").code.images
    assert image.is_ptx
    assert b".entry" in image.data


_BITS: dict[str, Callable[[Any], Any]] = {
    "shli 5": lambda x: x << 5,
    "shrsi 4": lambda x: x >> 4,
    "andi 15": lambda x: x & 15,
    "xori -128": lambda x: x ^ x.dtype.type(-128),
    "ori -128": lambda x: x | x.dtype.type(-128),
    "addi -128": lambda x: x + x.dtype.type(-128),
    "muli 3": lambda x: x * x.dtype.type(3),
}


@pytest.mark.parametrize("bits", [8, 16])
def test_bits_of_narrow_integers(bits: int) -> None:
    """Of open sizes: kernels of vectors that are too long to be optimised.

    LLVM with assertions ended the process where it made vectors of some of these.
    """
    functions = [
        f"""
func.func @{operation.replace(" ", "_").replace("-", "m")}(%x: tensor<?xi{bits}> {{hir.name = "x"}})
    -> (tensor<?xi{bits}> {{hir.name = "y"}}) {{
  %c0 = arith.constant 0 : index
  %k = arith.constant {operation.split()[1]} : i{bits}
  %n = tensor.dim %x, %c0 : tensor<?xi{bits}>
  %empty = tensor.empty(%n) : tensor<?xi{bits}>
  %y = linalg.map ins(%x : tensor<?xi{bits}>) outs(%empty : tensor<?xi{bits}>)
      (%a: i{bits}, %before: i{bits}) {{
    %b = arith.{operation.split()[0]} %a, %k : i{bits}
    linalg.yield %b : i{bits}
  }}
  return %y : tensor<?xi{bits}>
}}"""
        for operation in _BITS
    ]
    made = hirc.compile("\n".join(functions), target="cpu", cache=False)
    x = np.arange(-100, 101).astype(f"i{bits // 8}")
    for operation, expected in _BITS.items():
        program = getattr(made, operation.replace(" ", "_").replace("-", "m"))
        np.testing.assert_array_equal(program(x), expected(x), err_msg=operation)


_ORDERS = ((1, 0), (0, 2, 1), (2, 1, 0), (1, 2, 0), (2, 0, 1))


@pytest.mark.parametrize("element", ["i8", "i16", "ui8", "f16", "bf16", "i1"])
def test_dims_of_narrow_elements_are_exchanged(element: str) -> None:
    """Of open sizes, likewise."""
    module = hirc.module()
    for order in _ORDERS:
        rank = len(order)
        with module.program("p" + "".join(map(str, order))) as p:
            x = p.input("x", tuple("kmn"[:rank]), element)
            p.output("y", x.permute(*order).copy())
            p.output("z", (x if rank == 2 else x[:, :, ::2]).permute(*order).copy())
    made = hirc.compile(module, target="cpu", cache=False, entry="p10")
    bits = torch.arange(7 * 19 * 35) % 2 if element == "i1" else torch.arange(7 * 19 * 35) % 127
    kind = {"i8": torch.int8, "i16": torch.int16, "ui8": torch.uint8, "f16": torch.float16}
    kind |= {"bf16": torch.bfloat16, "i1": torch.bool}
    for order in _ORDERS:
        shape = (7 * 19, 35) if len(order) == 2 else (7, 19, 35)
        x = bits.to(kind[element]).reshape(shape)
        y, z = getattr(made, "p" + "".join(map(str, order)))(x)
        assert torch.equal(y, x.permute(*order))
        assert torch.equal(z, (x if len(order) == 2 else x[:, :, ::2]).permute(*order))
