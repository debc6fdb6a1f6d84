"""A library for the CPU device goes when nobody needs it, and takes everything with it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import hirc
from hirc.compiler.toolchain import find_clang
from support.dl_tensor import DL_TENSOR
from support.program_command import ORIGINS, build
from support.weights import DENSE, VALUES, write_values

# What a process has of copies of a library that it loads one after the other.
_BEGIN = """
import ctypes, gc, os, shutil, signal, sys, threading
from pathlib import Path
import numpy as np
import hirc

path = Path(sys.argv[1])
X, BIAS = np.arange(128, dtype=np.float32).reshape(2, 64), np.zeros(64, np.float32)

def threads():
    return len(os.listdir("/proc/self/task"))

def mappings():
    return [line for line in open("/proc/self/maps") if ".so" in line and str(path.parent) in line]

def kilobytes(name="VmSize"):
    return next(
        int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(name)
    )

def built_again(number):
    copy = path.parent / "copies" / f"{os.getpid()}-{number}.so"
    copy.parent.mkdir(exist_ok=True)
    shutil.copy(path, copy)
    return copy
"""


@pytest.fixture(scope="module")
def origins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ORIGINS, tmp_path_factory.mktemp("unloading") / "origins.so", "--emit=shared")


def _run(body: str, library: Path, *words: object) -> str:
    done = subprocess.run(
        [sys.executable, "-c", _BEGIN + body, str(library), *map(str, words)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


_MANY = """
before = threads()
def use(number):
    library = hirc.load(built_again(number))
    y, *_ = library.main(X, BIAS, 2.0)
    assert (y == X * 2).all()
    assert threads() > before

use(0)
size = kilobytes()
for number in range(1, int(sys.argv[2])):
    use(number)
    assert (threads(), mappings()) == (before, []), number
assert kilobytes() < size + (128 << 10), (size, kilobytes())
"""


def test_fifty_libraries_one_after_the_other_leave_nothing(origins: Path) -> None:
    _run(_MANY, origins, 50)


def test_a_checked_library_leaves_nothing(tmp_path: Path) -> None:
    flags = ("--emit=shared", "--check=memory,race")
    _run(_MANY, build(ORIGINS, tmp_path / "origins.so", *flags), 8)


def test_a_program_and_its_outputs_keep_the_library(origins: Path) -> None:
    _run(
        """
before = threads()
main = hirc.load(built_again(0)).main
y, t, w, *_ = main(X, BIAS, 2.0)
row = y[1]
del main, y, w
gc.collect()
assert threads() > before
assert (t == X.T * 2).all()
del t
gc.collect()
assert (row == X[1] * 2).all()
del row
assert (threads(), mappings()) == (before, [])
""",
        origins,
    )


def test_outputs_of_torch_keep_the_library(origins: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copy(origins, tmp_path / "torch.so"))

    def is_loaded() -> bool:
        return str(copy) in Path("/proc/self/maps").read_text()

    x = torch.arange(128, dtype=torch.float32).reshape(2, 64)
    y = hirc.load(copy).main(x, torch.zeros(64), 2.0)[0]
    row = y[1]
    del y
    assert (row == 2 * x[1]).all()
    assert is_loaded()
    del row
    assert not is_loaded()


def test_the_same_file_is_loaded_once_and_a_new_one_beside_it(origins: Path) -> None:
    _run(
        """
copy = built_again(0)
first, again = hirc.load(copy), hirc.load(copy)
assert first.loaded is again.loaded
shutil.copy(copy, copy.with_suffix(".new"))
os.replace(copy.with_suffix(".new"), copy)
second = hirc.load(copy)
assert second.loaded is not first.loaded
del first, again
assert (second.main(X, BIAS, 2.0)[0] == X * 2).all()
del second
assert mappings() == []
assert (hirc.load(copy).main(X, BIAS, 2.0)[0] == X * 2).all()
""",
        origins,
    )


def test_a_child_process_unloads_what_its_parent_loaded(origins: Path) -> None:
    _run(
        """
library = hirc.load(built_again(0))
assert (library.main(X, BIAS, 2.0)[0] == X * 2).all()
child = os.fork()
if child == 0:
    signal.alarm(20)
    alone = threads()
    del library
    assert (threads(), mappings()) == (alone, [])
    again = hirc.load(built_again(1))
    assert (again.main(X, BIAS, 2.0)[0] == X * 2).all()
    del again
    assert (threads(), mappings()) == (alone, [])
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
assert (library.main(X, BIAS, 3.0)[0] == X * 3).all()
""",
        origins,
    )


def test_handlers_of_faults_leave_in_any_order(origins: Path) -> None:
    """A crash of the program's own stays one, whichever libraries are gone."""
    body = """
def handler(number):
    class Action(ctypes.Structure):
        _fields_ = [("function", ctypes.c_void_p), ("rest", ctypes.c_char * 144)]
    action = Action()
    assert ctypes.CDLL(None).sigaction(number, None, ctypes.byref(action)) == 0
    return action.function
before = handler(signal.SIGSEGV)
libraries = [hirc.load(built_again(number)) for number in range(3)]
for library in libraries:
    library.main(X, BIAS, 2.0)
del library
last = handler(signal.SIGSEGV)
assert last != before
for number in map(int, sys.argv[2]):
    libraries[number] = None
assert len(mappings()) == 0 or handler(signal.SIGSEGV) == last or "2" in sys.argv[2]
if len(sys.argv[2]) == 3:
    assert handler(signal.SIGSEGV) == before
print("crashes", flush=True)
ctypes.string_at(8)
"""
    for order in ("012", "210", "102", "1", "0", "21"):
        done = subprocess.run(
            [sys.executable, "-c", _BEGIN + body, str(origins), order],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert (done.stdout, done.returncode) == ("crashes\n", -11), (order, done.stderr)


_HANDLERS = """
class Action(ctypes.Structure):
    _fields_ = [("function", ctypes.c_void_p), ("rest", ctypes.c_char * 144)]
def now():
    action = Action()
    assert ctypes.CDLL(None).sigaction(signal.SIGSEGV, None, ctypes.byref(action)) == 0
    return action
before = now().function
"""


def test_handlers_of_what_is_compiled_in_process_leave_too(origins: Path) -> None:
    text = """
"hir.program"() ({
^bb0(%x: memref<4xf32>):
  %y = "hir.unary"(%x) {kind = "neg"} : (memref<4xf32>) -> memref<4xf32>
  "hir.output"(%y) {name = "y"} : (memref<4xf32>) -> ()
}) {sym_name = "main", function_type = (memref<4xf32>) -> memref<4xf32>} : () -> ()
"""
    body = """
programs = []
for number in range(4):
    if number == 2:
        programs.append(hirc.load(built_again(number)))
        programs[-1].main(X, BIAS, 2.0)
    else:
        programs.append(hirc.compile(sys.argv[2], target="cpu"))
        assert (programs[-1].main(X[0, :4]) == -X[0, :4]).all()
for number in (1, 3, 0, 2):
    programs[number] = None
    gc.collect()
    assert (now().function == before) == (number == 2)
"""
    _run(_HANDLERS + body, origins, text)


def test_handlers_in_a_circle_do_not_keep_a_library(origins: Path) -> None:
    """As when another program's handler keeps that of a library that is gone."""
    body = """
signal.alarm(40)
first, second, third = (hirc.load(built_again(number)) for number in range(3))
for each in (first, second, third):
    each.main(X, BIAS, 2.0)
del each
last = now()
assert last.function != before
# The second one's handler comes after the third's, and that after the second's.
kept = second.loaded.functions.hirc_fault_handlers_before
kept.restype = ctypes.c_void_p
ctypes.memmove(kept(), ctypes.byref(last), ctypes.sizeof(last))
idle = hirc.load(built_again(3))
copies = len(mappings())
for library in ("idle", "first"):
    del globals()[library]
    gc.collect()
    assert len(mappings()) < copies
    copies = len(mappings())
"""
    _run(_HANDLERS + body, origins)


# One block waits for what no other thread ever writes; the call's memory says that it is there.
_WAITS = """\
gpu.module @kernels {
  gpu.func @wait(%x: memref<2xi32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    %seven = arith.constant 7 : i32
    %was = memref.atomic_rmw assign %seven, %x[%c1] : (i32, memref<2xi32>) -> i32
    scf.while : () -> () {
      %v = memref.atomic_rmw addi %zero, %x[%c0] : (i32, memref<2xi32>) -> i32
      %go = arith.cmpi eq, %v, %zero : i32
      scf.condition(%go)
    } do {
      scf.yield
    }
    gpu.return
  }
}
"hir.program"() ({
^bb0(%x: memref<2xi32>):
  %one = arith.constant 1 : index
  %zero = arith.constant 0 : index
  "hir.launch"(%one, %one, %one, %one, %one, %one, %zero) ({
    "hir.argument"(%x) : (memref<2xi32>) -> ()
  }) {kernel = @kernels::@wait} : (index, index, index, index, index, index, index) -> ()
}) {sym_name = "main", function_type = (memref<2xi32>) -> ()} : () -> ()
"""
_WAITER = """
import time
library = hirc.load(path)
x = np.zeros(2, np.int32)
thread = threading.Thread(target=library.main, args=(x,), daemon=True)
thread.start()
while x[1] != 7:
    time.sleep(0.001)
print("runs", flush=True)
"""


@pytest.fixture(scope="module")
def waits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(_WAITS, tmp_path_factory.mktemp("unloading") / "waits.so", "--emit=shared")


def test_a_kernel_may_run_while_the_process_exits(waits: Path) -> None:
    assert _run(_WAITER, waits) == "runs\n"
    assert _run(_WAITER + "del library", waits) == "runs\n"


_CLOSES = (
    """
#include <assert.h>
#include <dirent.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
"""
    + DL_TENSOR
    + """\
typedef int program(const DLTensor *const *, DLTensor *const *, void *);
static void *library;
static void close_library(void) { dlclose(library); puts("closed"); }
static int threads(void) {
  int count = -2;
  DIR *folder = opendir("/proc/self/task");
  while (readdir(folder)) count++;
  closedir(folder);
  return count;
}
int main(int argc, char **argv) {
  if (argc > 2) atexit(close_library);
  for (int round = 0; round < 3; round++) {
    library = dlopen(argv[1], RTLD_NOW);
    assert(library);
    program *run = (program *)dlsym(library, "hirc_program_main");
    volatile int32_t elements[2] = {0, 0};
    int64_t size = 2;
    DLTensor x = {(void *)elements, {1, 0}, 1, {0, 32, 1}, &size, NULL, 0};
    const DLTensor *inputs[] = {&x};
    assert(run(inputs, NULL, NULL) == 0);
    while (elements[1] != 7) usleep(1000);
    assert(threads() > 1);
    if (argc > 2) return 3; // the library goes while the process exits and its kernel runs
    dlclose(library);
    assert(threads() == 1);
    assert(!dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD));
  }
  puts("done");
}
"""
)


def test_closing_a_library_ends_kernels_that_only_wait(waits: Path, tmp_path: Path) -> None:
    source, program = tmp_path / "closes.c", tmp_path / "closes"
    source.write_text(_CLOSES)
    clang = find_clang().path
    subprocess.run([clang, source, "-o", program], check=True, timeout=60)
    for words, expected in (([], ("done\n", 0)), (["atexit"], ("closed\n", 3))):
        done = subprocess.run([program, waits, *words], capture_output=True, text=True, timeout=30)
        assert (done.stdout, done.returncode) == expected, done.stderr


def test_what_is_no_library_of_programs_does_not_stay(tmp_path: Path) -> None:
    path = build("func.func @f() { return }\n", tmp_path / "f.so", "--emit=shared")
    _run(
        """
try:
    hirc.load(path)
except hirc.compiler.errors.InputError:
    pass
assert mappings() == []
""",
        path,
    )


_RACES = """\
func.func @main(%x: memref<64xf32>) {
  %one = arith.constant 1 : index
  %all = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
             threads(%tx, %ty, %tz) in (%sx = %all, %sy = %one, %sz = %one)
             workgroup(%s : memref<64xf32, #gpu.address_space<workgroup>>) {
    %v = memref.load %x[%tx] : memref<64xf32>
    memref.store %v, %s[%tx] : memref<64xf32, #gpu.address_space<workgroup>>
    %next = arith.addi %tx, %one : index
    %other = arith.remui %next, %sx : index
    %w = memref.load %s[%other] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %w, %x[%tx] : memref<64xf32>
    gpu.terminator
  }
  return
}
"""


def test_a_mistake_found_by_a_checked_library_is_the_status_of_the_process(tmp_path: Path) -> None:
    path = build(_RACES, tmp_path / "races.so", "--emit=shared", "--check=race")
    body = """
library = hirc.load(path)
library.main(np.zeros(64, np.float32))
del library
assert mappings() == []
print("goes on")
"""
    done = subprocess.run(
        [sys.executable, "-c", _BEGIN + body, path], capture_output=True, text=True, timeout=60
    )
    assert "races.mlir:11" in done.stderr
    assert (done.stdout, done.returncode) == ("goes on\n", 1)


def test_weights_go_with_the_library(tmp_path: Path) -> None:
    values = write_values(tmp_path / "model.safetensors", VALUES)
    flags = ("--emit=shared", f"--weights-from={values}", "--weights=external")
    path = build(DENSE, tmp_path / "dense.so", *flags)
    _run(
        """
before = threads()
for _ in range(3):
    library = hirc.load(path)
    library.load_weights()
    del library
    assert (threads(), mappings()) == (before, [])
    assert "safetensors" not in open("/proc/self/maps").read()
""",
        path,
    )
