"""Native code that ends a command: what is said, what is left, and with which status."""

from __future__ import annotations

import collections
import ctypes
import faulthandler
import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hirc.compiler.activity import Activity, Log
from hirc.compiler.crash import crash_error
from hirc.compiler.errors import InputError, InternalError, Position, ToolchainError
from hirc.compiler.interpreter import interpret
from hirc.compiler.unreadable_line import unreadable_line
from hirc.compiler.watcher import Ended
from hirc.dialects.mlir import ir
from hirc.tools.command import Command
from hirc.tools.hirc import main as hirc
from hirc.tools.hirc_opt import main as hirc_opt
from hirc.tools.hirc_run import main as hirc_run
from support.driver import PROGRAM
from support.program_command import ADD

Main = Callable[[list[str]], int]


def _by(number: int) -> Callable[..., None]:
    return lambda *_, **__: os.kill(os.getpid(), number)


def _reads_null(*_: object, **__: object) -> None:
    ctypes.string_at(0)


def _ends(*_: object, **__: object) -> None:
    """What LLVM's fatal errors do."""
    ctypes.CDLL(None)._exit(3)


def _is_odd(*_: object, **__: object) -> None:
    """What the bindings make of a C++ exception."""
    raise RuntimeError("std::bad_cast")


def _needs_memory(*_: object, **__: object) -> None:
    raise MemoryError


def _hangs(*_: object, **__: object) -> None:
    """Runs for ever in native code, where none of Python's handlers is called."""
    collections.deque(itertools.repeat(0), maxlen=0)


# Where a crash is planted: the function that it replaces, and what is said of the place.
_PLACES = {
    "pass": (
        "hirc.pipelines.passes.name_device_symbols.NameDeviceSymbols.run",
        "pass 'name-device-symbols'",
        "entries",
    ),
    "verifier": ("hirc.compiler.stages.is_valid", "the verifier", "kernels"),
    "translation": ("hirc.compiler.translate._translate", "translation to LLVM IR", "device-code"),
    "LLVM": ("hirc.compiler.llvm_ir._pass_builder", "LLVM's optimiser", "device-code"),
}
_CRASHES = {
    "segv": (_reads_null, "crashed: SIGSEGV (Segmentation fault)"),
    "abort": (_by(signal.SIGABRT), "crashed: SIGABRT (Aborted)"),
    "illegal": (_by(signal.SIGILL), "crashed: SIGILL (Illegal instruction)"),
    "fpe": (_by(signal.SIGFPE), "crashed: SIGFPE (Floating point exception)"),
    "bus": (_by(signal.SIGBUS), "crashed: SIGBUS (Bus error)"),
    "exit": (_ends, "crashed: native code ended the process with status 3"),
    "exception": (_is_odd, ": std::bad_cast"),
}


class Run:
    """Runs a command in a child of this process, in a folder of its own."""

    def __init__(
        self, folder: Path, capfd: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch
    ) -> None:
        self.folder = folder
        self.reports = folder / "reports"
        self.reports.mkdir()
        self._capture = capfd
        self.patch = patch
        patch.setattr("tempfile.tempdir", str(self.reports))
        # Both are made anew.
        patch.setattr(sys, "stderr", sys.stderr)
        patch.chdir(folder)

    def __call__(self, tool: str, main: Main, *words: str) -> tuple[int, str]:
        """The exit status, and what was said."""
        self._capture.readouterr()
        status, _ = Command(tool, words).watched(lambda: main(list(words)))
        return status, self._capture.readouterr().err


@pytest.fixture
def run(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    (tmp_path / "prog.mlir").write_text(PROGRAM)
    return Run(tmp_path, capfd, monkeypatch)


def _check_report(run: Run, errors: str) -> str:
    (report,) = run.reports.iterdir()
    assert report.stat().st_mode & 0o777 == 0o700
    assert f"hirc: to report: {report}" in errors
    assert (report / "0-prog.mlir").read_text() == PROGRAM
    return (report / "report.txt").read_text()


@pytest.mark.parametrize(
    ("place", "crash"),
    # Each place with one crash, and each crash at one place.
    [
        *((place, "segv") for place in _PLACES),
        *(("pass", crash) for crash in _CRASHES if crash != "segv"),
    ],
)
def test_a_crash_is_told_of(run: Run, place: str, crash: str) -> None:
    function, step, stage = _PLACES[place]
    does, message = _CRASHES[crash]
    run.patch.setattr(function, does)
    status, errors = run("hirc", hirc, "prog.mlir", "--offload-arch=cpu", "-o", "prog")
    assert status == 70, errors
    assert "prog.mlir: error: " in errors or crash == "exception"
    assert f"{step}{message}" in errors or f"{step} {message}" in errors
    assert f"in stage '{stage}'" in errors
    assert "Traceback" not in errors
    assert f"hirc: to report: {run.reports}" in errors
    report = _check_report(run, errors)
    # Where Python was, too.
    assert "pipeline.py" in report or place not in ("pass",) or crash == "exit"
    assert sorted(os.listdir(run.folder)) == ["prog.mlir", "reports"]


def test_where_python_was_is_told_though_others_handled_signals(run: Run) -> None:
    """A library may have replaced the handler that faulthandler had installed."""
    was_enabled = faulthandler.is_enabled()
    faulthandler.enable(2)
    ctypes.CDLL(None).signal(int(signal.SIGSEGV), None)
    try:
        run.patch.setattr(
            "hirc.pipelines.passes.name_device_symbols.NameDeviceSymbols.run", _reads_null
        )
        status, errors = run("hirc", hirc, "prog.mlir", "--offload-arch=cpu", "-o", "prog")
    finally:
        faulthandler.disable()
        if was_enabled:
            faulthandler.enable(2)
    assert status == 70, errors
    assert "pipeline.py" in _check_report(run, errors)


def test_a_crash_of_hirc_opt_names_the_pass(run: Run) -> None:
    run.patch.setattr(
        "hirc.pipelines.passes.name_device_symbols.NameDeviceSymbols.run", _reads_null
    )
    status, errors = run("hirc-opt", hirc_opt, "prog.mlir", "--name-device-symbols")
    assert (status, "pass 'name-device-symbols' crashed: SIGSEGV" in errors) == (70, True), errors


def test_a_crash_of_the_code_generator(run: Run) -> None:
    """It runs in a process of its own, which may refuse a program by an abort."""
    run.patch.setattr("hirc.compiler.llvm_ir.LlvmModule.object_code", _reads_null)
    status, errors = run("hirc", hirc, "prog.mlir", "--offload-arch=cpu", "-o", "prog")
    assert status == 70, errors
    assert "error: LLVM crashed while it generated host code: SIGSEGV" in errors
    assert "in stage 'host-code'" in errors


def test_no_memory_is_no_bug(run: Run) -> None:
    run.patch.setattr("hirc.compiler.parse.load_named_dialects", _needs_memory)
    status, errors = run("hirc", hirc, "prog.mlir", "--offload-arch=cpu", "-o", "prog")
    assert (status, "hirc: error: out of memory\n  in stage 'parse'\n" in errors) == (1, True)
    assert not list(run.reports.iterdir())


def test_a_crash_without_a_folder_for_the_report(run: Run) -> None:
    run.patch.setattr(
        "hirc.pipelines.passes.name_device_symbols.NameDeviceSymbols.run", _reads_null
    )
    with run.patch.context() as patch:
        patch.setattr("tempfile.tempdir", str(run.folder / "nowhere"))
        status, errors = run("hirc-opt", hirc_opt, "prog.mlir", "--name-device-symbols")
    assert (status, "pass 'name-device-symbols' crashed: SIGSEGV" in errors) == (70, True), errors
    assert "hirc-opt: no report could be written: " in errors


def test_programs_that_mlir_s_reader_crashes_on(run: Run) -> None:
    deep = "module {" * 100_000 + "}" * 100_000
    (run.folder / "deep.mlir").write_text(deep)
    status, errors = run("hirc-opt", hirc_opt, "deep.mlir")
    assert status == 1, errors
    assert "deep.mlir: error: MLIR's reader cannot read this: it is nested 100000 deep" in errors
    # Bytecode whose reader does not come to an end, and what it is told of.
    run.patch.setattr("hirc.compiler.parse._READING_SECONDS", 1)
    run.patch.setattr("hirc.compiler.parse.load_named_dialects", _hangs)
    (run.folder / "damaged.mlirbc").write_bytes(b"ML\xefR\0")
    status, errors = run("hirc", hirc, "damaged.mlirbc", "--offload-arch=cpu", "-o", "prog")
    assert status == 1, errors
    assert "the bytecode is damaged" in errors
    assert "it took more than 1 s of processor time" in errors


def _refuses(data: bytes, context: object) -> None:
    raise ValueError


def test_bytecode_that_mlir_s_reader_refuses_without_a_word(run: Run) -> None:
    (run.folder / "damaged.mlirbc").write_bytes(b"ML\xefR\0")
    for module in ("tools.hirc_opt_chunks", "compiler.parse"):
        run.patch.setattr(f"hirc.{module}.load_named_dialects", _refuses)
    for name, main, *words in (
        ("hirc-opt", hirc_opt),
        ("hirc", hirc, "--offload-arch=cpu", "-o", "prog"),
    ):
        status, errors = run(name, main, "damaged.mlirbc", *words)
        assert status == 1, errors
        assert "damaged.mlirbc: error: MLIR's reader cannot read this: the bytecode is" in errors


def test_a_text_within_bytecode_that_is_damaged(run: Run) -> None:
    text = "module attributes {gpu.a = #gpu.address_space<global>} {}"
    (run.folder / "kind.mlir").write_text(text)
    status, errors = run("hirc-opt", hirc_opt, "kind.mlir", "--emit-bytecode", "-o", "kind.mlirbc")
    assert status == 0, errors
    whole = (run.folder / "kind.mlirbc").read_bytes()
    assert b"address_space<" in whole
    (run.folder / "kind.mlirbc").write_bytes(whole.replace(b"address_space<", b"address\x1bspace<"))
    status, errors = run("hirc", hirc, "kind.mlirbc", "--offload-arch=cpu", "-o", "prog")
    assert (status, "\x1b" in errors) == (1, False), errors
    assert "address\\x1bspace<global>" in errors
    assert "kind.mlirbc: note: it stands in this bytecode" in errors


def _ended(number: int, activity: Activity) -> Ended:
    return Ended(0, number, None, Log(activity), "noise\nLLVM ERROR: out of registers\n")


def test_what_a_signal_means() -> None:
    pass_ = Activity("device", "pass 'a'")
    assert isinstance(crash_error(_ended(signal.SIGKILL, pass_)), ToolchainError)
    error = crash_error(_ended(signal.SIGABRT, pass_))
    assert isinstance(error, InternalError)
    assert [note.message for note in error.notes] == ["LLVM ERROR: out of registers"]
    # What the user wrote, and MLIR runs as it stands, is at fault where it crashes.
    place = Position("prog.mlir", 3, 1)
    schedule = Activity("transform", "pass 'a'", input="the schedule", place=place)
    error = crash_error(_ended(signal.SIGSEGV, schedule))
    assert isinstance(error, InputError)
    assert (error.position, error.stage) == (place, "transform")
    assert error.message.startswith("pass 'a' crashed on the schedule: SIGSEGV")


# Texts that MLIR's reader crashes on, and the line where.
_REDUCE = """\
func.func @main(%x: tensor<4xf32>, %z: tensor<f32>) -> tensor<f32> {
  %s = linalg.reduce {arith.addf} ins(%x : tensor<4xf32>) outs(%z : tensor<f32>) dimensions =}[0]
  return %s : tensor<f32>
}
"""
_SCHEDULE = """\
module attributes {transform.with_named_sequence} {
  func.func @main(%x: tensor<8x8xf32>, %o: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %r = linalg.matmul ins(%x, %x : tensor<8x8xf32>, tensor<8x8xf32>)
      outs(%o : tensor<8x8xf32>) -> tensor<8x8xf32>
    return %r : tensor<8x8xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %m = transform.structured.match ops{["linalg.matmul"]} in %root
      : (!transform.any_op) -> !transform.any_op
    %t, %l:2 = transform.structured.tile_using_for %m tile_sizes [-9223372036854775808, 4]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}
"""


def test_a_text_that_mlir_s_reader_crashes_on(run: Run) -> None:
    """The line is found by reading beginnings of the text; no report is written."""
    (run.folder / "prog.mlir").write_text(_REDUCE)
    message = "prog.mlir:2:1: error: MLIR's reader cannot read this line: it crashes (SIGSEGV"
    for tool, main, *words in (
        ("hirc", hirc, "--offload-arch=cpu", "-o", "prog"),
        ("hirc-opt", hirc_opt),
        ("hirc-run", hirc_run, "--interpret"),
    ):
        status, errors = run(tool, main, *words, "prog.mlir")
        assert (status, message in errors) == (1, True), errors
        assert "    %s = linalg.reduce" in errors
        assert "\n  in stage 'parse'\nhint: " in errors
    with pytest.raises(InputError, match="cannot read this line") as raised:
        interpret(run.folder / "prog.mlir", [])
    assert raised.value.position == Position(str(run.folder / "prog.mlir"), 2, 1)
    assert os.listdir(run.reports) == []


def test_a_text_that_mlir_s_reader_refuses_without_a_word(run: Run) -> None:
    text = "module {\n  func.func private @f(!gpu.mma_matrix<16x16xi32, negatef>)\n}\n"
    (run.folder / "prog.mlir").write_text(text)
    message = "prog.mlir:2:1: error: MLIR's reader cannot read this line: it fails and says nothing"
    for tool, main in (("hirc", hirc), ("hirc-opt", hirc_opt)):
        status, errors = run(tool, main, "prog.mlir", "-o", "out")
        assert (status, message in errors) == (1, True), errors


def test_a_text_that_mlir_s_reader_crashes_on_after_its_error(run: Run) -> None:
    """It frees twice what a block that is there twice has, and may crash at any time after."""
    text = "func.func @f(%x: f32) {\n  scf.execute_region {\n  ^bb0:\n"
    text += "    %s = arith.addf %x, %x : f32\n  ^bb0:\n    scf.yield\n  }\n  return\n}\n"
    (run.folder / "prog.mlir").write_text(text)
    assert unreadable_line(text.encode()) == 5
    for tool, main in (("hirc", hirc), ("hirc-opt", hirc_opt)):
        status, errors = run(tool, main, "prog.mlir", "-o", "out")
        assert (status, "prog.mlir:5:" in errors) == (1, True), errors


_CRASHES_IN_A_VERIFIER = """\
gpu.module @products {
  llvm.func @before() {
    llvm.return
  }
  llvm.func @multiply(%a: vector<2xf16>, %c: f32) {
    // What follows has a complex sum.
    %product = nvvm.mma.sync A[%a, %a, %a, %a] B[%a, %a] C[%c, %c, %c, %c]
        {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>,
         shape = #nvvm.shape<m = 16, n = 8, k = 16>}
        : (vector<2xf16>, vector<2xf16>, f32) -> !llvm.struct<(complex<f32>, f32, f32, f32)>
    llvm.return
  }
  llvm.func @after() {
    llvm.return
  }
}
"""


def test_a_text_that_a_verifier_crashes_on(run: Run) -> None:
    (run.folder / "prog.mlir").write_text(_CRASHES_IN_A_VERIFIER)
    message = "prog.mlir:7:1: error: MLIR's reader cannot read this line: it crashes (SIGABRT"
    for tool, main in (("hirc", hirc), ("hirc-opt", hirc_opt)):
        status, errors = run(tool, main, "prog.mlir", "-o", "out")
        assert (status, message in errors) == (1, True), errors
    assert unreadable_line(_CRASHES_IN_A_VERIFIER.replace("complex<f32>", "f32").encode()) is None


def test_bytes_that_are_no_text(run: Run) -> None:
    head = "// A comment, and what follows.\n"
    program = '"hir.program"() ({}) {sym_name = "m\\FFin", function_type = () -> ()} : () -> ()'
    for data, message in (
        ((head + program).encode(), "prog.mlir:2:34: error: a name is not UTF-8"),
        ((head + "module {\n  ").encode() + b"\xff}", "3:3: error: neither MLIR text nor bytecode"),
        ((head + 'module @"\\FF" {}').encode(), "prog.mlir:2:1: error: a name is not UTF-8"),
    ):
        (run.folder / "prog.mlir").write_bytes(data)
        for tool, main in (("hirc", hirc), ("hirc-opt", hirc_opt)):
            status, errors = run(tool, main, "prog.mlir", "-o", "out")
            assert (status, message in errors) == (1, True), errors


def test_a_number_in_the_place_of_an_operand(run: Run) -> None:
    """MLIR's printers would read past the operands' end."""
    text = """\
func.func @f(%x: tensor<2xf32>, %n: index) -> (tensor<3xf32>, tensor<?xf32>) {
  %z = arith.constant 0.0 : f32
  %open = tensor.pad %x low[%n] high[-9223372036854775807] {
  ^bb0(%i: index):
    tensor.yield %z : f32
  } : tensor<2xf32> to tensor<?xf32>
  %y = tensor.pad %x low[0] high[-9223372036854775808] {
  ^bb0(%i: index):
    tensor.yield %z : f32
  } : tensor<2xf32> to tensor<3xf32>
  return %y, %open : tensor<3xf32>, tensor<?xf32>
}
"""
    (run.folder / "prog.mlir").write_text(text)
    message = "prog.mlir:7:8: error: 'tensor.pad' has -9223372036854775808 among its numbers"
    for tool, main in (("hirc", hirc), ("hirc-opt", hirc_opt)):
        status, errors = run(tool, main, "prog.mlir", "-o", "out")
        assert (status, message in errors) == (1, True), errors
    (run.folder / "prog.mlir").write_text(text.replace("high[-9223372036854775808]", "high[1]"))
    status, errors = run("hirc-opt", hirc_opt, "prog.mlir", "-o", "out")
    assert status == 0, errors


def test_a_schedule_that_mlir_s_interpreter_crashes_on(run: Run) -> None:
    (run.folder / "prog.mlir").write_text(_SCHEDULE)
    status, errors = run("hirc", hirc, "prog.mlir", "--offload-arch=cpu", "-o", "prog")
    assert status == 1, errors
    assert "prog.mlir:7:3: error: pass 'run-transform-schedules' crashed on the schedule" in errors
    status, errors = run("hirc-opt", hirc_opt, "prog.mlir", "--transform-interpreter")
    assert status == 1, errors
    assert "prog.mlir: error: pass 'transform-interpreter' crashed on the program: SIG" in errors
    assert os.listdir(run.reports) == []


# A command whose compilation comes to a place where it hangs in native code, and says so.
_HANGING = """\
import collections, itertools, signal, sys
# The tests may run in the background of a shell, which ignores it.
signal.signal(signal.SIGINT, signal.default_int_handler)
import {module}
import hirc.compiler.{place}
def hang(*_, **__):
    sys.stdout.write("there\\n")
    sys.stdout.flush()
    {how}
hirc.compiler.{place} = hang
sys.argv[1:] = {words}
sys.exit({module}.{main}())
"""
_NATIVE = "collections.deque(itertools.repeat(0), maxlen=0)"
_PYTHON = "import time; time.sleep(60)"
_WALK = (
    "import time; from hirc.dialects.mlir import ir; "
    "ir.Module.parse('', ir.Context()).operation.walk(lambda op: time.sleep(60))"
)


@pytest.mark.parametrize(
    ("tool", "how", "number", "status"),
    [
        ("hirc", _NATIVE, signal.SIGINT, 130),
        ("hirc", _PYTHON, signal.SIGTERM, 143),
        ("hirc", _WALK, signal.SIGINT, 130),
        ("hirc_run", _NATIVE, signal.SIGTERM, 143),
        ("hirc_opt", _NATIVE, signal.SIGINT, 130),
    ],
)
def test_a_signal_ends_a_command(
    tmp_path: Path, tool: str, how: str, number: int, status: int
) -> None:
    (tmp_path / "add.mlir").write_text(ADD)
    (tmp_path / "temporary").mkdir()
    words = {
        "hirc": ["add.mlir", "--offload-arch=cpu", "-o", "out"],
        "hirc_run": ["add.mlir", "--offload-arch=cpu", "--input=@iota", "--input=1", "--input=2"],
        "hirc_opt": ["add.mlir", "-o", "out"],
    }[tool]
    script = _HANGING.format(
        module=f"hirc.tools.{tool}",
        main="run" if tool == "hirc" else "main",
        place="parse" if tool == "hirc_opt" else "driver",
        how=how,
        words=words,
    )
    function = "reading" if tool == "hirc_opt" else "host_object"
    script = script.replace(" = hang", f".{function} = hang")
    environment = {**os.environ, "TMPDIR": str(tmp_path / "temporary")}
    with subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"there\n"
        begin = time.monotonic()
        process.send_signal(number)
        try:
            ended = process.wait(20)
        finally:
            process.kill()
        assert ended == status
        # A second; machines are busy.
        assert time.monotonic() - begin < 5
        assert process.stderr.read() == b""
    assert sorted(os.listdir(tmp_path)) == ["add.mlir", "temporary"]
    assert os.listdir(tmp_path / "temporary") == []


# A command to which a signal comes while it imports a module: {how} sends it.
_STARTING = """\
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
def send(process):
    os.kill(process, {number})
    time.sleep(60)
class Dropped:
    def __del__(self):
        send(os.getppid())
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {place!r}:
            {how}
def profile(frame, event, argument):
    caller = frame.f_back and frame.f_back.f_back
    name = caller.f_code.co_qualname if caller else ""
    if event == "call" and name == "ExtensionFileLoader.exec_module":
        sys.setprofile(None)
        send(os.getppid())
sys.meta_path.insert(0, Finder())
from hirc.tools.{tool} import {main}
sys.argv[1:] = {words}
sys.exit({main}())
"""


@pytest.mark.parametrize(
    ("tool", "place", "how", "status"),
    [
        ("hirc", "hirc.tools.command", "send(os.getpid())", -signal.SIGINT),
        ("hirc_cache", "hirc.compiler.cache", "send(os.getpid())", -signal.SIGINT),
        ("hirc_opt", "hirc.tools.command", "send(os.getpid())", -signal.SIGINT),
        ("hirc_run", "hirc.tools.command", "send(os.getpid())", -signal.SIGINT),
        ("hirc", "hirc.dialects.mlir", "send(os.getppid())", 130),
        # What is raised in a finalizer, Python drops.
        ("hirc", "hirc.dialects.mlir", "Dropped()", 130),
        # C++ that makes a module would end the process with a message.
        ("hirc", "torch_mlir._mlir_libs._mlir", "sys.setprofile(profile)", 130),
    ],
)
def test_a_signal_ends_a_command_that_starts(
    tmp_path: Path, tool: str, place: str, how: str, status: int
) -> None:
    (tmp_path / "add.mlir").write_text(ADD)
    script = _STARTING.format(
        number=int(signal.SIGINT),
        place=place,
        how=how,
        tool=tool,
        main="run" if tool == "hirc" else "main",
        words=["stat"] if tool == "hirc_cache" else ["add.mlir", "-o", "out"],
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr, done.stdout) == (status, b"", b"")
    assert os.listdir(tmp_path) == ["add.mlir"]


def test_a_killed_command_leaves_no_process(tmp_path: Path) -> None:
    """The work ends with the process that watches it, which cannot say so."""
    (tmp_path / "add.mlir").write_text(ADD)
    script = _HANGING.format(
        module="hirc.tools.hirc",
        main="run",
        place="driver",
        how="print(__import__('os').getpid(), flush=True); " + _NATIVE,
        words=["add.mlir", "--offload-arch=cpu", "-o", "out"],
    ).replace(" = hang", ".host_object = hang")
    with subprocess.Popen(
        [sys.executable, "-c", script], cwd=tmp_path, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        child = int(process.stdout.readline())
        assert child != process.pid
        process.kill()
        # The pipe closes when the last process that has it is gone.
        assert process.stdout.read() == b""


# A program of one operation, which the interpreter is made to crash in.
_INTERPRETED = """\
import ctypes, hirc, torch
from hirc.compiler.interpreter import frame
from hirc.pipelines.frame_names import named
frame.find_step = lambda name: named("pass 'a' of hirc", lambda *_: ctypes.string_at(0))
text = '''"hir.program"() ({
^bb0(%x: memref<8xf32>):
  %y = "hir.unary"(%x) {kind = "neg"} : (memref<8xf32>) -> memref<8xf32>
  "hir.output"(%y) {name = "y"} : (memref<8xf32>) -> ()
}) {sym_name = "main", function_type = (memref<8xf32>) -> memref<8xf32>} : () -> ()
'''
hirc.interpret(text, [torch.zeros(8)])
"""


def test_a_crash_in_the_caller_s_process_is_told_of_by_python() -> None:
    """hirc.interpret has no process of its own; the names of frames are what is shown."""
    done = subprocess.run(
        [sys.executable, "-c", _INTERPRETED], capture_output=True, text=True, check=False
    )
    assert done.returncode == -signal.SIGSEGV, done.stderr
    assert "Fatal Python error: Segmentation fault" in done.stderr
    assert " in pass 'a' of hirc\n" in done.stderr


def test_stages_and_passes_are_frames(run: Run) -> None:
    """Of an upstream pass and one of hirc."""
    run.patch.setattr("hirc.pipelines.passes.name_device_symbols.NameDeviceSymbols.run", _is_odd)
    run("hirc", hirc, "prog.mlir", "--offload-arch=cpu", "-o", "prog")
    (report,) = run.reports.iterdir()
    text = (report / "report.txt").read_text()
    assert ", in stage 'entries'\n" in text
    assert ", in pass 'name-device-symbols'\n" in text


def test_a_walk_that_recurses_too_deep(capfd: pytest.CaptureFixture[str]) -> None:
    """MLIR makes text of what Python raises within a walk."""

    def deeper(op: ir.Operation) -> ir.WalkResult:
        raise RecursionError(f"maximum recursion depth exceeded at {op.name}")

    def work() -> int:
        with ir.Context(), ir.Location.unknown():
            ir.Module.create().operation.walk(deeper)
        return 0

    assert Command("hirc", []).guard(work) == 1
    assert "error: the program is nested deeper than hirc can follow" in capfd.readouterr().err
