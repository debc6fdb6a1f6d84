"""One library on two devices, which two_devices.c makes of the CPU device."""

from __future__ import annotations

import ctypes
import gc
import re
import shutil
import subprocess
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from calls.programs import SOURCES
from host_ir.catalog import FOLDER

import hirc
from hirc.tools.hirc import main as run_hirc

_HERE = Path(__file__).parent
_CALLS = re.compile(
    r"@(cuda(?:GetDevice|SetDevice|DeviceGetAttribute|DeviceGetDefaultMemPool|DeviceSynchronize"
    r"|StreamCreateWithFlags|StreamDestroy|EventCreateWithFlags|EventDestroy|EventRecord|Malloc"
    r"|MallocAsync|Free|FreeAsync|LaunchKernel|GraphInstantiateWithFlags|GraphExecDestroy"
    r"|GraphLaunch|GetDriverEntryPointByVersion))\b"
)
# Its first product lies in memory of the program's own, a graph's where it has one.
_TWICE = """
"hir.program"() ({
^bb0(%x: memref<?x8xf32>, %w: memref<8x8xf32>):
  %p = "hir.matmul"(%x, %w) : (memref<?x8xf32>, memref<8x8xf32>) -> memref<?x8xf32>
  %y = "hir.matmul"(%p, %w) : (memref<?x8xf32>, memref<8x8xf32>) -> memref<?x8xf32>
  "hir.output"(%y) {name = "y"} : (memref<?x8xf32>) -> ()
}) {sym_name = "twice", inputs = [{name = "x"}, {name = "w"}],
    function_type = (memref<?x8xf32>, memref<8x8xf32>) -> memref<?x8xf32>} : () -> ()
"""


class TwoDevices:
    """The library, and what its calls of CUDA counted."""

    def __init__(self, path: Path) -> None:
        self.library: Any = hirc.load(path)
        self.has_graphs = "always" in path.name
        functions = self.library.loaded.functions
        self.use = functions.two_cudaSetDevice
        self.live = (ctypes.c_int64 * 2).in_dll(functions, "two_live")
        self.launches = (ctypes.c_int64 * 2).in_dll(functions, "two_launches")
        self._wrong = ctypes.c_int64.in_dll(functions, "two_wrong")
        self._unordered = ctypes.c_int64.in_dll(functions, "two_unordered")

    def faults(self) -> tuple[int, int]:
        """How much was freed in another device's order, and in none."""
        return self._wrong.value, self._unordered.value

    def graphs(self) -> tuple[int, int]:
        """How many graphs were recorded, and how often one was replayed."""
        room = (ctypes.c_int64 * 5)()
        self.library.loaded.hirc_graph_counts(room)
        return room[0], room[1]


@pytest.fixture(scope="module", params=["never", "always"])
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("two")
    text, code, calls = folder / "all.mlir", folder / "all.ll", folder / "two.o"
    streams = (FOLDER / "named_streams.mlir").read_text()
    named = streams.replace('sym_name = "main"', 'sym_name = "streams"')
    text.write_text(SOURCES["times"] + _TWICE + named)
    options = ["--offload-arch=cpu", "-O1", "--schedules=general", f"--graph={request.param}"]
    assert run_hirc([str(text), "-o", str(code), "--emit=llvm", *options]) == 0
    code.write_text(_CALLS.sub(r"@two_\1", code.read_text()))
    source = _HERE / "two_devices.c"
    clang = ["clang-22", "-Wall", "-Werror", "-O1", "-fPIC", "-c", source, "-o", calls]
    subprocess.run(clang, check=True, timeout=60)
    library = folder / f"libtwo_{request.param}.so"
    assert run_hirc([str(code), str(calls), "-o", str(library), "--emit=shared", *options]) == 0
    return library


@pytest.fixture
def two(path: Path, tmp_path: Path) -> TwoDevices:
    """Returns the library anew: none of its calls has been made."""
    return TwoDevices(Path(shutil.copy(path, tmp_path)))


def _call(two: TwoDevices, count: int, factor: float) -> None:
    x = np.arange(count, dtype=np.float32) % 7
    t, y = two.library.scaled(x, factor)
    np.testing.assert_array_equal(t, x * np.float32(factor))
    np.testing.assert_allclose(y, (x * factor).sum(), rtol=1e-6)


def test_devices_in_turn(two: TwoDevices) -> None:
    x = np.random.default_rng(0).random(1000, np.float32)
    streams: list[np.ndarray] = []
    for turn in range(16):
        two.use(turn % 2)
        _call(two, 40, turn + 0.5)
        streams.append(two.library.streams(x))
    for each in streams:
        np.testing.assert_array_equal(each, streams[0])
    assert min(two.launches) > 0
    if two.has_graphs:
        recorded, replayed = two.graphs()
        assert recorded >= 2
        assert replayed >= 2 * 4
    assert two.faults() == (0, 0)


def test_outputs_go_while_another_device_is_current(two: TwoDevices) -> None:
    two.use(1)
    kept = [two.library.one(np.ones(9, np.float32)) for _ in range(6)]
    before = two.live[1]
    two.use(0)
    kept.clear()
    gc.collect()
    assert two.live[1] == before - 6
    assert two.faults() == (0, 0)
    # The thread's device is the same as before.
    launches = two.launches[1]
    _call(two, 10, 2.0)
    assert two.launches[1] == launches


def test_threads_on_devices_of_their_own(two: TwoDevices) -> None:
    failed: list[BaseException] = []
    both = threading.Barrier(2)

    def run(device: int) -> None:
        try:
            two.use(device)
            for turn in range(40):
                both.wait(60)
                _call(two, 200_000 + turn % 2, device + 1.5)
        except BaseException as error:  # noqa: BLE001
            failed.append(error)

    threads = [threading.Thread(target=run, args=(device,)) for device in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed, failed
    assert two.faults() == (0, 0)
    if two.has_graphs:
        # Neither kept the other from its graphs: of each shape two calls go without.
        recorded, replayed = two.graphs()
        assert recorded + replayed == 2 * (40 - 2 * 2)


def test_threads_that_have_no_context_yet_replay(two: TwoDevices) -> None:
    """The driver refuses calls of a thread that the runtime has not given one."""
    for turn in range(12):
        thread = threading.Thread(target=_call, args=(two, 40, turn + 0.5))
        thread.start()
        thread.join()
    if two.has_graphs:
        recorded, replayed = two.graphs()
        assert recorded >= 1
        assert replayed >= 6
    assert two.launches[0] > 0
    assert two.faults() == (0, 0)


def test_memory_stays_flat(two: TwoDevices) -> None:
    w = np.eye(8, dtype=np.float32)

    def some() -> tuple[int, int]:
        # More shapes than are kept: graphs come and go.
        for turn in range(16):
            two.use(turn % 2)
            for count in range(1, 40):
                x = np.full((count, 8), turn, np.float32)
                np.testing.assert_array_equal(two.library.twice(x, w), x)
        gc.collect()
        return two.live[0], two.live[1]

    some()
    kept = some()
    assert some() == kept
    assert two.faults() == (0, 0)
