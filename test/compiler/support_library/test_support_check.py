"""Checking CUDA calls: the messages, and how a program ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Library


def test_the_library_is_built_by_one_process(
    library: Library, request: pytest.FixtureRequest
) -> None:
    marker = request.node.get_closest_marker("xdist_group")
    assert library
    assert marker.args == ("compiler/support_library",)


def test_a_failed_call_is_reported_with_place_name_and_text(library: Library) -> None:
    done = library.run(
        "lib.printI64(c.c_int64(7))",
        "lib.hirc_check(0, b'cudaMalloc', b'prog.mlir:1:1')",
        "lib.hirc_check(9, b'cudaLaunchKernel', b'prog.mlir:12:7')",
        "lib.printI64(c.c_int64(8))",
    )
    assert done.returncode == 1
    assert done.stdout == "7"
    assert done.stderr == (
        "prog.mlir:12:7: error: cudaLaunchKernel failed: cudaErrorInvalidConfiguration (9): "
        "invalid configuration argument\n"
    )


@pytest.mark.parametrize("location", ["None", "b''"])
def test_an_unknown_place_is_left_out(library: Library, location: str) -> None:
    done = library.run(f"lib.hirc_check(9, b'cudaMalloc', {location})")
    assert done.stderr.startswith("error: cudaMalloc failed: ")


@pytest.mark.parametrize(
    ("code", "note"),
    [
        (35, "needs an NVIDIA driver for CUDA 13 or newer; this machine's is for CUDA 12.4"),
        (100, "shows no GPU to this program"),
        (209, "device 0 has compute capability 8.6; rebuild with --offload-arch=sm_86"),
        (98, "device 0 has compute capability 8.6; rebuild with --offload-arch=sm_86"),
        (218, "cannot compile this program's PTX"),
        (222, "machine code for this GPU: --offload-arch=sm_86"),
    ],
)
def test_the_machine_s_errors_say_what_to_do(library: Library, code: int, note: str) -> None:
    done = library.run(
        "c.c_int.in_dll(lib, 'fake_driver_version').value = 12040",
        f"lib.hirc_check({code}, b'cudaMalloc', b'p.mlir:1:2')",
    )
    lines = done.stderr.splitlines()
    assert done.returncode == 1
    assert len(lines) == 2
    assert f"({code})" in lines[0]
    assert lines[1].startswith("note: ")
    assert note in lines[1]


def test_a_missing_driver_is_told_from_an_old_one(library: Library) -> None:
    done = library.run(
        "c.c_int.in_dll(lib, 'fake_driver_version').value = 0", "lib.hirc_check(35, b'f', None)"
    )
    assert "none is installed on this machine" in done.stderr


def test_what_a_failed_kernel_says_comes_first(library: Library) -> None:
    done = library.run(
        "lib.hirc_stream_acquire(None)",
        "lib.fake_pending(710)",
        "lib.hirc_program_end(b'p.mlir:3:3')",
    )
    lines = done.stderr.splitlines()
    assert done.returncode == 1
    assert set(lines[:-1]) == {"kernel says"}
    assert lines[-1].startswith("p.mlir:3:3: error: cudaDeviceSynchronize failed: ")


def test_a_program_that_used_no_device_waits_for_none(library: Library) -> None:
    done = library.run(
        "lib.fake_pending(710)",
        "lib.hirc_program_end(b'p.mlir:3:3'); import os; os._exit(3)",
    )
    assert (done.returncode, done.stderr) == (3, "")


def test_an_earlier_kernel_s_failure_is_added(library: Library) -> None:
    done = library.run("lib.fake_pending(700)", "lib.hirc_check(9, b'f', None)")
    assert done.stderr.splitlines()[-1].startswith("note: work launched before it failed too: ")


def test_the_end_of_a_program_flushes(library: Library) -> None:
    done = library.run(
        "lib.printI64(c.c_int64(5)); lib.hirc_program_end(b'p.mlir:1:1'); import os; os._exit(3)"
    )
    assert (done.returncode, done.stdout, done.stderr) == (3, "5", "")


def test_a_failed_program_runs_no_destructor(library: Library) -> None:
    source = """#include <stdio.h>
    #include <stdlib.h>
    void hirc_check(int, const char *, const char *);
    static void late(void) { puts("late"); }
    int main(void) { atexit(late); puts("early"); hirc_check(2, "cudaMalloc", "a:1:1"); }"""
    objects = [library.bitcode[name] for name in library.failing]
    done = library.execute("ends", source, *objects, library.fake)
    assert (done.returncode, done.stdout) == (1, "early\n")


def test_a_failed_host_assertion_loses_no_output_and_tells_no_terminal(library: Library) -> None:
    done = library.run("lib.printOpen(); lib.hirc_assert_failed(b'no rank\\x1b 0', b'p.mlir:4:5')")
    assert (done.returncode, done.stdout) == (-6, "( ")
    assert done.stderr == "p.mlir:4:5: error: assertion failed: no rank? 0\n"
