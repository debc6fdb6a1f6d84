"""A communicator that the caller hands over: what NCCL is then asked for, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Library

_FAKE = Path(__file__).with_name("fake_nccl.c")
_BEGIN = """
import os
os.environ["HIRC_NCCL"] = PATH
lib.hirc_communicator_of.restype = lib.hirc_error_text.restype = c.c_void_p
lib.hirc_communicator_rank.restype = c.c_int64
def use(address, rank, size, meeting=None):
    status = lib.hirc_communicator_use(c.c_void_p(address), rank, size, meeting)
    print(status, c.string_at(lib.hirc_error_text()).decode() if status else "", flush=True)
def team(*devices):
    known, size = (c.c_void_p * 1)(), len(devices)
    teams, sizes = (c.c_int64 * size)(*devices), (c.c_int64(1), c.c_int64(size))
    made = lib.hirc_communicator_of(known, teams, *sizes, b"p.mlir:3:4")
    return c.c_void_p(made)
def add_up(among):
    numbers, what = (c.c_float * 3)(), (c.c_int64 * 5)(4, 7, 1, 4, 0)
    sizes = [c.c_int64(each) for each in (3, 3, 0, -1)]
    lib.hirc_communicate(among, what, numbers, numbers, *sizes, None, b"")
"""


@pytest.fixture(scope="module")
def fake(library: Library) -> Path:
    path = library.folder / "libnccl.so.2"
    library.clang("-shared", _FAKE, "-o", path)
    return path


def _run(library: Library, fake: Path, *statements: str) -> tuple[int, list[str], str]:
    lines = _BEGIN.replace("PATH", repr(str(fake))).strip().splitlines()
    done = library.run(*lines, *statements)
    return done.returncode, done.stdout.splitlines(), done.stderr


def test_programs_communicate_by_it(library: Library, fake: Path) -> None:
    """Whatever the environment says: it speaks of one process here."""
    status, output, errors = _run(
        library,
        fake,
        "use(0x1230, 1, 2)",
        "everybody = team(0, 1)",
        "print(lib.hirc_communicator_rank(everybody), flush=True)",
        "add_up(everybody)",
        "use(0x4560, 1, 2)",
        "os._exit(0)",
    )
    assert (status, errors) == (0, "")
    assert output == [
        "0 ",
        "1",
        "allreduce of 3, type 7, reduction 0, by 0x1230",
        "1 a communicator cannot be handed over: the library communicates already",
    ]


def test_a_part_of_the_processes_has_to_meet_somewhere(library: Library, fake: Path) -> None:
    status, _, errors = _run(library, fake, "use(0x1230, 1, 3)", "team(1, 2)")
    assert status == 1
    assert errors.startswith(
        "p.mlir:3:4: error: who handed a communicator over does not say where 3 processes meet"
    )


@pytest.mark.parametrize(("rank", "size"), [(2, 2), (-1, 2), (0, 0)])
def test_wrong_places(library: Library, fake: Path, rank: int, size: int) -> None:
    _, output, _ = _run(library, fake, f"use(0x1230, {rank}, {size})", "os._exit(0)")
    assert output[0].endswith("its rank is a number from 0 up to its size")
