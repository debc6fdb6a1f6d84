"""The same files from two folders, at two times: bit for bit."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from hirc.compiler.prefix_map import map_locations, mapped
from hirc.compiler.session import Session
from hirc.dialects.mlir import ir
from support.driver import ARCH, PROGRAM, Hirc, write


@pytest.mark.parametrize(
    "words",
    [("--emit=exe", ARCH), ("--emit=object", "--offload-arch=cpu"), ("--emit=cubin", ARCH)],
)
def test_two_folders(words: tuple[str, ...], hirc: Hirc, tmp_path: Path) -> None:
    built: list[bytes] = []
    for number, name in enumerate(("one", "another")):
        folder = tmp_path / name
        folder.mkdir()
        source, output = write(folder, "prog.mlir", PROGRAM), folder / "prog"
        os.utime(source, (number, number))
        prefix = f"--file-prefix-map={folder}=/src"
        hirc.succeeds(source, *words, "-g", prefix, "-o", output)
        built.append(output.read_bytes())
    assert built[0] == built[1]
    assert os.fsencode(tmp_path) not in built[0]
    assert b"prog.mlir" in built[0]


def test_messages_have_the_new_name(hirc: Hirc, tmp_path: Path) -> None:
    """A program says it when it runs, and hirc with the line of the source."""
    source, output = write(tmp_path, "prog.mlir", PROGRAM), tmp_path / "prog"
    prefix = f"--file-prefix-map={tmp_path}/=src/"
    hirc.succeeds(source, ARCH, prefix, "-o", output)
    done = subprocess.run([output], capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr.startswith("src/prog.mlir:4:8: error: ")
    wrong = write(tmp_path, "wrong.mlir", "module { module { } }")
    errors = hirc.fails(wrong, ARCH, prefix, "-o", output)
    assert errors.startswith("src/wrong.mlir:1:10: error: a module inside the module")
    assert "\n    module { module { } }\n" in errors


def test_build_id(hirc: Hirc, tmp_path: Path) -> None:
    output = tmp_path / "prog"
    hirc.succeeds(write(tmp_path, "prog.mlir", PROGRAM), "--offload-arch=cpu", "-o", output)
    assert "  build id " in hirc.succeeds("--describe", output).output


def test_prefixes() -> None:
    maps = [("/a/", "x/"), ("/a/b/", "y/")]
    assert [mapped(name, maps) for name in ("/a/c", "/a/b/c", "b")] == ["x/c", "y/c", "b"]


def test_every_kind_of_location() -> None:
    text = """
        "t.a"() : () -> () loc(callsite("f"("/old/a":1:2) at fused["/old/b":3:4, "/else/c":5:6]))
        "t.b"() ({ ^bb0(%x: i32 loc("/old/d":7:8)): }) : () -> () loc(unknown)
    """
    context = Session().context
    context.allow_unregistered_dialects = True
    with context:
        module = ir.Module.parse(text)
        map_locations(module.operation, [("/old", "/new")])
        printed = str(module.operation.get_asm(enable_debug_info=True))
    for name in ('"/new/a":1:2', '"/new/b":3:4', '"/else/c":5:6', '"/new/d":7:8'):
        assert name in printed
    assert "/old" not in printed


def test_what_is_no_prefix_map(hirc: Hirc) -> None:
    errors = hirc.fails("prog.mlir", "--file-prefix-map=/src")
    assert "error: --file-prefix-map takes OLD=NEW, not '/src'" in errors
