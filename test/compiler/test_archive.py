"""A link takes from an archive the members that it needs, and their symbols stay inside."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import pytest

from hirc.compiler.archive import archive
from hirc.compiler.llvm_ir import hidden_object
from hirc.compiler.toolchain import ClangSearch

_SOURCES = {
    # Of odd size, and with names beyond the 15 letters that a header holds.
    "a_member_with_a_long_name.o": "int seven(void) { return 7; }",
    "another_member_with_a_long_name.o": "int lacking; int lacks(void) { return missing(); }",
    "short.o": "int seven(void); int state = 1; int more(void) { return seven() + state; }",
}


def test_members_are_found_by_their_symbols(tmp_path: Path) -> None:
    clang = ClangSearch(None).result()

    def run(*words: str | Path) -> None:
        subprocess.run([clang.path, *words], check=True, capture_output=True, timeout=60)

    members: list[tuple[str, bytes, list[str]]] = []
    for name, text in _SOURCES.items():
        source, bitcode = tmp_path / "one.c", tmp_path / "one.bc"
        source.write_text(f"int missing();\n{text}\n")
        run("-c", "-O1", "-fPIC", "-emit-llvm", source, "-o", bitcode)
        members.append((name, *hidden_object(bitcode.read_bytes())))
    assert [sorted(defined) for _, _, defined in members] == [
        ["seven"],
        ["lacking", "lacks"],
        ["more", "state"],
    ]
    library, main, output = tmp_path / "lib.a", tmp_path / "main.c", tmp_path / "main.so"
    library.write_bytes(archive(members))
    main.write_text("int more(void); int answer(void) { return more(); }\n")
    lld = clang.directory / "ld.lld"
    # What a member that is not needed lacks is no error.
    run("-shared", "-fPIC", "-Wl,-z,defs", f"--ld-path={lld}", main, library, "-o", output)
    loaded = ctypes.CDLL(str(output))
    assert loaded.answer() == 8
    with pytest.raises(AttributeError):
        _ = loaded.more
