"""Memory that peers share: what CUDA is asked for, and what is said where it cannot."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Library

_BEGIN = """
import ctypes as c, os
os.environ.update(HIRC_NCCL=PATH, HIRC_COMMUNICATION_SECONDS="SECONDS")
lib = c.CDLL(LIBRARY)
for name in ("communicator_of", "symmetric_allocate", "put", "get"):
    getattr(lib, "hirc_" + name).restype = c.c_void_p
lib.fake_log.restype = c.c_char_p
rank, size, here = RANK, SIZE, b"p.mlir:3:4"
lib.hirc_communicator_use(c.c_void_p(0x1230 if size > 1 else 0), rank, size, MEETING)
known, devices = (c.c_void_p * 1)(), (c.c_int64 * size)(*range(size))
team = c.c_void_p(lib.hirc_communicator_of(known, devices, c.c_int64(1), c.c_int64(size), here))
numbers, peer, none = (c.c_float * 2)(1, 2), c.c_int64((rank + 1) % size), c.c_void_p()
def allocate(count=8):
    return c.c_void_p(lib.hirc_symmetric_allocate(team, c.c_int64(count), 1, none, here))
def put(memory, count=8, signals=1):
    sizes = c.c_int64(8), c.c_int64(count)
    lib.hirc_put(numbers, memory, *sizes, peer, signals, none, here)
def get(memory):
    lib.hirc_get(memory, numbers, c.c_int64(8), c.c_int64(8), peer, none, here)
def free(memory):
    lib.hirc_symmetric_free(memory, none, here)
def wait_signal(memory):
    lib.hirc_wait_signal(memory, peer, none, here)
def barrier(memory):
    lib.hirc_barrier(memory, none, here)
def log(*starts):
    lines = lib.fake_log().decode().splitlines()
    print(*(line for line in lines if line.startswith(starts)), sep="\\n", flush=True)
    lib.fake_reset()
"""
_ALL = (
    "memory = allocate()",
    "put(memory)",
    "wait_signal(memory)",
    "get(memory)",
    "barrier(memory)",
    "free(memory)",
)
# The streams that flags are written in: the program's, and that of communications.
_OURS, _LANE = -1, 1


@pytest.fixture(scope="module")
def fake(library: Library) -> Path:
    path = library.folder / "libnccl-peers.so.2"
    library.clang("-shared", Path(__file__).with_name("fake_nccl.c"), "-o", path)
    return path


def _run(
    library: Library,
    fake: Path,
    each: list[tuple[str, ...]],
    seconds: int = 30,
    *,
    meets: bool = True,
) -> list[tuple[int, list[str], str]]:
    """Runs statements in a process for each rank; returns statuses, lines printed and errors."""
    meeting = f"unix:hirc-test-{uuid.uuid4().hex}".encode()
    processes: list[subprocess.Popen[str]] = []
    for rank, statements in enumerate(each):
        text = _BEGIN.replace("PATH", repr(str(fake))).replace("LIBRARY", repr(str(library.shared)))
        text = (
            text.replace('"SECONDS"', f'"{seconds}"')
            .replace("RANK", str(rank))
            .replace("SIZE", str(len(each)))
        )
        text = text.replace("MEETING", repr(meeting) if len(each) > 1 and meets else "None")
        processes.append(
            subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", "\n".join([text, *statements])],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
    written = [process.communicate(timeout=60) for process in processes]
    return [
        (process.returncode, output.splitlines(), errors)
        for process, (output, errors) in zip(processes, written, strict=True)
    ]


def test_two_processes(library: Library, fake: Path) -> None:
    """Handles are exchanged once; what is allocated again has the same memory, and other flags."""
    statements = (
        *_ALL,
        "log('cuIpc', 'cuStream', 'cudaMalloc', 'cudaHost', 'cudaMemcpyAsync')",
        *_ALL,
        "log('cuIpc', 'cuStream', 'cudaMalloc', 'cudaHost', 'cudaMemcpyAsync')",
        "os._exit(0)",
    )
    for status, output, errors in _run(library, fake, [statements] * 2):
        assert (status, errors) == (0, "")
        first, second = ([], [])
        chosen: list[str] = first
        for line in output:
            if line.startswith("cuStreamWriteValue64 0x3"):
                chosen = second
            # Addresses are left out.
            chosen.append(re.sub(r" 0x[0-9a-f]{6,}\b(?! 0 in)", "", line))
        assert first == [
            "cudaMalloc 2097152",
            "cuIpcGetMemHandle 0",
            "cuIpcOpenMemHandle 1",
            "cudaHostRegister 64 flags=3",
            "cudaHostGetDevicePointer flags=0",
            # The allocation is a barrier; then the put and its signal, and the get.
            f"cuStreamWriteValue64 0x1 0 in {_OURS}",
            f"cuStreamWaitValue64 0x1 0 in {_OURS}",
            f"cudaMemcpyAsync 8 kind=4 in {_LANE}",
            f"cuStreamWriteValue64 0x100000001 0 in {_LANE}",
            f"cuStreamWaitValue64 0x100000001 0 in {_OURS}",
            f"cudaMemcpyAsync 8 kind=4 in {_LANE}",
            f"cuStreamWriteValue64 0x2 0 in {_OURS}",
            f"cuStreamWaitValue64 0x2 0 in {_OURS}",
        ]
        assert second == [
            f"cuStreamWriteValue64 0x3 0 in {_OURS}",
            f"cuStreamWaitValue64 0x3 0 in {_OURS}",
            f"cudaMemcpyAsync 8 kind=4 in {_LANE}",
            f"cuStreamWriteValue64 0x200000001 0 in {_LANE}",
            f"cuStreamWaitValue64 0x200000001 0 in {_OURS}",
            f"cudaMemcpyAsync 8 kind=4 in {_LANE}",
            f"cuStreamWriteValue64 0x4 0 in {_OURS}",
            f"cuStreamWaitValue64 0x4 0 in {_OURS}",
        ]


_IN_ONE = """
import threading
logs = [None] * SIZE
def run(rank, text):
    space = {"device": DEVICES[rank]}
    exec(text, space)
    logs[rank] = space["lib"].fake_log().decode()
threads = [threading.Thread(target=run, args=each) for each in enumerate(TEXTS)]
for each in threads: each.start()
for each in threads: each.join()
for rank, log in enumerate(logs):
    print(*(f"{rank} {line}" for line in log.splitlines()), sep="\\n", flush=True)
import os; os._exit(0)
"""


@pytest.mark.parametrize("devices", [(0, 1), (0, 0)])
def test_one_process(
    library: Library, fake: Path, tmp_path: Path, devices: tuple[int, int]
) -> None:
    """A process does not open what is its own; its devices are let reach each other."""
    meeting = f"unix:hirc-test-{uuid.uuid4().hex}".encode()
    texts: list[str] = []
    for rank in range(2):
        copy = tmp_path / f"libsupport{rank}.so"
        shutil.copy(library.shared, copy)
        text = "\n".join([_BEGIN, *_ALL]).replace("PATH", repr(str(fake)))
        text = text.replace("LIBRARY)", f"{str(copy)!r}); lib.cudaSetDevice(device)")
        text = text.replace('"SECONDS"', '"30"').replace("MEETING", repr(meeting))
        texts.append(text.replace("RANK", str(rank)).replace("SIZE", "2"))
    program = _IN_ONE.replace("TEXTS", repr(texts)).replace("SIZE", "2")
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program.replace("DEVICES", repr(devices))],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    lines = [re.sub(r" 0x[0-9a-f]{6,}\b(?! 0 in)", "", line) for line in done.stdout.splitlines()]
    for rank, other in ((0, devices[1]), (1, devices[0])):
        enabled = [line for line in lines if line.startswith((f"{rank} cuDev", f"{rank} cuCtx"))]
        wanted = [f"{rank} cuDevicePrimaryCtxRetain {other}"]
        wanted.append(f"{rank} cuCtxEnablePeerAccess {0x100 + other:#x} 0")
        assert enabled == wanted * (devices[0] != devices[1])
        assert f"{rank} cudaMemcpyAsync 8 kind=4 in {_LANE}" in lines
    assert not any(line[2:].startswith("cuIpcOpenMemHandle") for line in lines)


def test_a_wait_ends_with_the_process_that_it_is_for(library: Library, fake: Path) -> None:
    waits = ("memory = allocate()", "wait_signal(memory)", "barrier(memory)", "os._exit(0)")
    dies = ("memory = allocate()", "import time; time.sleep(0.5)", "os._exit(0)")
    status, _, errors = _run(library, fake, [waits, dies])[0]
    assert status == 1
    assert errors.startswith(
        "p.mlir:3:4: error: the processes cannot go on together: the process of rank 1 has ended"
    )


def test_a_wait_for_nothing_ends_at_the_time_limit(library: Library, fake: Path) -> None:
    """The call that puts it into the stream does not return here, as where a stream is full."""
    waits = ("memory = allocate()", "wait_signal(memory)", "barrier(memory)", "os._exit(0)")
    ended = _run(library, fake, [waits] * 2, seconds=1)
    assert [status for status, _, _ in ended] == [1, 1]
    said = "has waited 1 seconds for a signal of rank "
    assert any(said in errors and "at p.mlir:3:4" in errors for _, _, errors in ended)


@pytest.mark.parametrize(
    "call",
    [
        "cudaMalloc",
        "cuIpcGetMemHandle",
        "cudaHostRegister",
        "cudaMemcpyAsync",
        "cuStreamWriteValue64",
        "cuStreamWaitValue64",
    ],
)
def test_a_call_that_fails(library: Library, fake: Path, call: str) -> None:
    statements = (f"lib.fake_fail(b'{call}', 2)", *_ALL, "os._exit(0)")
    status, _, errors = _run(library, fake, [statements])[0]
    assert status == 1
    assert errors.startswith(f"p.mlir:3:4: error: {call} failed: "), errors


def test_handles_that_cannot_be_opened(library: Library, fake: Path) -> None:
    statements = ("lib.fake_fail(b'cuIpcOpenMemHandle', 217)", *_ALL, "os._exit(0)")
    for status, _, errors in _run(library, fake, [statements] * 2):
        assert status == 1
        assert "error" in errors
    assert any(
        "cuIpcOpenMemHandle" in errors for _, _, errors in _run(library, fake, [statements] * 2)
    )


def test_a_driver_that_lacks_the_calls(library: Library, fake: Path) -> None:
    statements = ("c.c_int.in_dll(lib, 'fake_has_tensor_maps').value = 0", *_ALL, "os._exit(0)")
    status, _, errors = _run(library, fake, [statements])[0]
    assert status == 1
    assert errors.startswith("p.mlir:3:4: error: cuIpcGetMemHandle failed: ")
    assert "memory that devices share needs a driver of CUDA 12 or newer" in errors


_ASK = ("print(lib.hirc_shares_memory(team, here), flush=True)",) * 2


@pytest.mark.parametrize(
    ("before", "answer"),
    [
        ("", "1"),
        ("lib.fake_fail(b'cuIpcOpenMemHandle', 217)", "0"),
        ("c.c_int.in_dll(lib, 'fake_has_tensor_maps').value = 0", "0"),
        ("lib.fake_fail(b'cuIpcGetMemHandle', 801)", "0"),
    ],
)
def test_whether_a_team_shares_memory(
    library: Library, fake: Path, before: str, answer: str
) -> None:
    """What one process cannot do, all say; it is tried once, and nothing stays allocated."""
    count = "log('cudaMalloc', 'cudaFree')"
    # The hub is rank 0's, and ends with it.
    statements = (*_ASK, count, "__import__('time').sleep(1)", "os._exit(0)")
    ended = _run(library, fake, [(before, *statements), statements])
    for status, output, errors in ended:
        assert (status, errors) == (0, "")
        assert output[:2] == [answer] * 2
        calls = [line.split("(")[0].split()[0] for line in output[2:] if line]
        assert calls.count("cudaMalloc") == calls.count("cudaFree") <= 1


def test_processes_that_cannot_ask_each_other(library: Library, fake: Path) -> None:
    """Their communicator was handed over, and nothing of where they meet."""
    statements = (*_ASK, "os._exit(0)")
    for ended in _run(library, fake, [statements] * 2, meets=False):
        assert ended == (0, ["0", "0"], "")


def test_memory_that_nobody_shares(library: Library, fake: Path) -> None:
    for wrong, said in (
        ("put(numbers)", "this memory is not shared by a team"),
        ("put(memory, 4)", "the source of a put has 8 bytes and its target 4"),
    ):
        status, _, errors = _run(library, fake, [("memory = allocate()", wrong, "os._exit(0)")])[0]
        assert (status, errors) == (1, f"p.mlir:3:4: error: {said}\n")
