"""Each call of CUDA's runtime and of malloc that a library makes fails, one after another.

Every time the program returns non-zero and says which call it was and where, nothing stays
allocated, and the next call is right.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from host_ir.catalog import FOLDER

import hirc
from hirc.compiler.errors import ExecutionError, HircError, InputError
from hirc.tools.hirc import main as run_hirc
from support.weights import write_values

_HERE = Path(__file__).parent
_CALLS = re.compile(
    r"@(cuda(?!GetError|GetLastError|DriverGet|RuntimeGet)[A-Z]\w*"
    r"|malloc|calloc|realloc|free|strdup|asprintf)\b"
)
_STREAMS = 32 + 64 + 2  # of the pools of the support library, and those with names


def _numbers(*sizes: int) -> np.ndarray:
    return np.random.default_rng(len(sizes)).random(sizes, np.float32)


# Programs, and what they are called with.
_PROGRAMS: dict[str, list[Any]] = {
    "own_kernel": [_numbers(100), 2.5],
    "nested": [_numbers(8, 4)],
    "named_streams": [_numbers(100)],
    "stream_loops": [_numbers(12, 16, 8), _numbers(8, 8)],
    "branches": [_numbers(6), _numbers(6), 3],
    "in_place_loop": [_numbers(4, 3)],
    "views": [_numbers(6, 8), _numbers(8)],
    "dense": [_numbers(2, 4)],
    "kept": [_numbers(1, 4), 3],
    "kinds": [_numbers(5), 2],
    "main": [7, _numbers(7)],
}


class Live(ctypes.Structure):
    """struct planted_live of planted.c."""

    _fields_ = [
        (name, ctypes.c_int64)
        for name in ("device", "host", "events", "streams", "page_locks", "graphs")
    ]

    def kept(self) -> tuple[int, ...]:
        """What must not grow. Streams stay in pools, from which calls take them in turn."""
        return self.device, self.host, self.events, self.page_locks


class Planted:
    """A library that is loaded from a copy of its own: none of its calls has been made yet."""

    def __init__(self, built: Path, folder: Path, name: str) -> None:
        copy = folder / f"{name}.so"
        shutil.copyfile(built, copy)
        self.library = hirc.load(copy, weights=built.with_suffix(".safetensors"))
        copy.unlink()
        functions = self.library.loaded.functions
        self.live = Live.in_dll(functions, "planted_live")
        self._at = ctypes.c_int64.in_dll(functions, "planted_at")
        self._calls = ctypes.c_int64.in_dll(functions, "planted_calls")
        self._name = (ctypes.c_char * 64).in_dll(functions, "planted_name")
        # The room for this thread's messages is there from now on.
        with pytest.raises(InputError):
            self.library.nested(_numbers(1, 1))

    def call(
        self, name: str, failing: int = 0, passed: Callable[[np.ndarray], Any] = np.asarray
    ) -> Any:
        """What a program gives, while call number `failing` fails; arrays are `passed` as that."""
        inputs = [
            passed(value.copy()) if isinstance(value, np.ndarray) else value
            for value in _PROGRAMS[name]
        ]
        self._calls.value, self._at.value, self._name.value = 0, failing, b""
        try:
            return self.library[name](*inputs)
        finally:
            self._at.value = 0

    def error(
        self, name: str, failing: int, passed: Callable[[np.ndarray], Any] = np.asarray
    ) -> Exception | None:
        """What a program raises then, None where it makes fewer calls."""
        try:
            self.call(name, failing, passed)
        except (HircError, MemoryError) as error:
            # Its frames hold what the call had made.
            return error.with_traceback(None)
        assert self.failed == ""
        return None

    @property
    def failed(self) -> str:
        """The call that failed, or none."""
        return self._name.value.decode()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _build(tmp_path_factory.mktemp("planted"))


def _build(folder: Path, *flags: str) -> Path:
    text, code, calls = folder / "all.mlir", folder / "all.ll", folder / "planted.o"
    own = (FOLDER / "own_kernel.mlir").read_text().rstrip().removesuffix("}")
    others = ["nested", "named_streams", "stream_loops", "branches", "in_place_loop", "views"]
    parts = [own, *((FOLDER / f"{name}.mlir").read_text() for name in others)]
    named = [
        part.replace('sym_name = "main"', f'sym_name = "{name}"')
        for name, part in zip(["own_kernel", *others], parts, strict=True)
    ]
    text.write_text("\n".join([*named, (_HERE / "programs.mlir").read_text(), "}"]))
    options = ["--offload-arch=cpu", "-O1", *flags]
    assert (
        run_hirc([str(text), "-o", str(code), "--emit=llvm", "--schedules=general", *options]) == 0
    )
    code.write_text(_CALLS.sub(r"@planted_\1", code.read_text()))
    clang = ["clang-22", "-Wall", "-Werror", "-O1", "-fPIC", "-c", _HERE / "planted.c", "-o", calls]
    subprocess.run(clang, check=True, timeout=60)
    library = folder / "libplanted.so"
    assert run_hirc([str(code), str(calls), "-o", str(library), "--emit=shared", *options]) == 0
    write_values(library.with_suffix(".safetensors"), {"w": _numbers(4, 3), "b": _numbers(3)})
    return library


@pytest.mark.parametrize("name", _PROGRAMS)
def test_a_first_call_fails_and_the_second_is_right(built: Path, tmp_path: Path, name: str) -> None:
    whole = Planted(built, tmp_path, "whole")
    wanted = _arrays(whole.call(name))
    kept = whole.live.kept()
    failing = 0
    for failing in itertools.count(1):
        planted = Planted(built, tmp_path, f"failing{failing}")
        error = planted.error(name, failing)
        if not error:
            break
        failed = planted.failed
        _check(error, failed)
        got = _arrays(planted.call(name))
        assert all(map(np.array_equal, got, wanted)), (failing, failed)
        assert planted.live.kept() == kept, (failing, failed)
    assert failing > 5


def test_calls_that_fail_leave_nothing_in_a_library_that_goes_on(
    built: Path, tmp_path: Path
) -> None:
    planted = Planted(built, tmp_path, "one")
    wanted = {name: _arrays(planted.call(name)) for name in _PROGRAMS}
    kept = planted.live.kept()
    for name, passed in itertools.product(_PROGRAMS, (np.asarray, torch.from_numpy)):
        for failing in itertools.count(1):
            error = planted.error(name, failing, passed)
            if not error:
                break
            _check(error, planted.failed)
            # Events are fewer until a call makes them again.
            for left, most in zip(planted.live.kept(), kept, strict=True):
                assert left <= most, (name, planted.failed)
        assert all(map(np.array_equal, _arrays(planted.call(name)), wanted[name]))
    assert planted.live.streams <= _STREAMS


def test_failures_while_a_graph_is_recorded_and_replayed(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    """A call that fails so runs without a graph, or says what failed; the next one is right."""
    built = _build(tmp_path_factory.mktemp("graphs"), "--graph=always")
    failed: set[str] = set()
    for name in ("stream_loops", "in_place_loop", "dense"):
        most = 0
        for before in (2, 4):  # calls: then one records, or replays
            failing = 0
            for failing in itertools.count(1):
                planted = Planted(built, tmp_path, f"{name}{before}{failing}")
                wanted = _arrays(planted.call(name))
                # What is kept lets the next call's outputs lie elsewhere.
                given = [planted.call(name) for _ in range(1, before)]
                with contextlib.suppress(ExecutionError, MemoryError):
                    got = _arrays(planted.call(name, failing))
                    assert all(map(np.array_equal, got, wanted)), planted.failed
                del given
                failed.add(planted.failed)
                if not planted.failed:
                    most = max(most, *planted.live.kept(), planted.live.graphs)
                    break
                for _ in range(3):
                    assert all(map(np.array_equal, _arrays(planted.call(name)), wanted))
                assert planted.live.graphs <= 16
            assert failing > 3, name
        assert most > 0
    # The driver changes launches.
    assert "cuGraphExecKernelNodeSetParams" in failed
    assert "cudaGraphExecKernelNodeSetParams" not in failed


def _wrong_weights(folder: Path) -> dict[str, Path]:
    """What a message says, and the file that it is about."""
    w, b = _numbers(4, 3), _numbers(3)
    right = write_values(folder / "right.safetensors", {"w": w, "b": b})
    cut = folder / "cut.safetensors"
    cut.write_bytes(right.read_bytes()[:-4])
    return {
        "No such file": folder / "missing.safetensors",
        "is cut off": cut,
        "'b' is F32 .4, 3.": write_values(folder / "exchanged.safetensors", {"w": b, "b": w}),
        "no tensor 'b'": write_values(folder / "less.safetensors", {"w": w}),
    }


def test_wrong_weights_and_tensors_are_errors_that_keep_nothing(
    built: Path, tmp_path: Path
) -> None:
    planted = Planted(built, tmp_path, "wrong")
    wrong = {
        "elements are f64": [np.ones((2, 4))],
        "size 1 is 3": [_numbers(2, 3)],
        "it has 1 dim": [_numbers(4)],
    }
    kept = planted.live.kept()
    for text, inputs in wrong.items():
        with pytest.raises(InputError, match=text):
            planted.library.dense(*inputs)
    for text, path in _wrong_weights(tmp_path).items():
        assert planted.library.loaded.hirc_use_weights_file(bytes(path)) == 0
        with pytest.raises(InputError, match=text):
            planted.call("dense")
        assert planted.live.kept() == kept
    right = built.with_suffix(".safetensors")
    assert planted.library.loaded.hirc_use_weights_file(bytes(right)) == 0
    assert planted.call("dense").shape == (2, 3)


def _arrays(results: Any) -> list[np.ndarray]:
    listed = results if isinstance(results, tuple) else (results,)
    return [np.array(each) for each in listed]


def _check(error: Exception, failed: str) -> None:
    """An error says which call failed, and where in the source."""
    assert failed
    if isinstance(error, MemoryError):
        return
    message = str(error)
    assert isinstance(error, ExecutionError | InputError)
    if failed.startswith("cuda"):
        assert f"{failed} failed: cudaErrorUnknown (999)" in message or f"{failed}: " in message
    else:
        assert "memory" in message
    # Weights and state are no operation's.
    if message.startswith(("weights: ", "state: ")):
        return
    if isinstance(error, ExecutionError) and failed != "cudaStreamSynchronize":
        assert re.match(r"\S*all\.mlir:\d+:\d+: error: ", message), message
