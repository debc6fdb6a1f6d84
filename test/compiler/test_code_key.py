"""What makes compiled code another: the cache looks for it by this name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from hirc.compiler import code_key as keys
from hirc.compiler.options import Options
from hirc.compiler.source import Source
from hirc.compiler.target import CPU

_SOURCE = Source("a.mlir", b"module {}")
_OPTIONS = Options(inputs=("a.mlir",), targets=(CPU,))


def _key(options: Options = _OPTIONS, source: Source = _SOURCE) -> str:
    keys._state_of_compiler.cache_clear()  # pyright: ignore[reportPrivateUsage]
    return keys.code_key(source, options, None)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A compiler whose files may change."""
    for name in ("compiler/code.py", "compiler/runtime/check.c", "test/test_code.py", "notes.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("before")
    with monkeypatch.context() as patch:
        patch.setattr(keys, "_PACKAGE", tmp_path)
        yield tmp_path
    keys._state_of_compiler.cache_clear()  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize("name", ["compiler/code.py", "compiler/runtime/check.c", "more.py"])
def test_another_version_has_another_name(package: Path, name: str) -> None:
    before = _key()
    assert _key() == before
    (package / name).write_text("after")
    assert _key() != before


def test_a_file_of_the_same_size_that_was_changed_is_another(package: Path) -> None:
    before = _key()
    path = package / "compiler/code.py"
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))
    assert _key() != before


def test_what_is_no_part_of_the_compiler_changes_nothing(package: Path) -> None:
    before = _key()
    for name in ("test/test_code.py", "notes.md"):
        (package / name).write_text("after all")
    assert _key() == before


def test_programs_options_tools_and_processors_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {
        _key(),
        _key(source=Source("b.mlir", b"module {}")),
        _key(source=Source("a.mlir", b"module { }")),
        _key(replace(_OPTIONS, fast_math=True)),
        _key(replace(_OPTIONS, clang=tmp_path / "clang")),
    }
    (tmp_path / "clang").write_text("another")
    names.add(_key(replace(_OPTIONS, clang=tmp_path / "clang")))
    with monkeypatch.context() as patch:
        patch.setattr(keys, "_processor", lambda: "flags : few")
        names.add(_key())
    monkeypatch.setenv("HIRC_CPU_VECTORS", "baseline")
    names.add(_key())
    assert len(names) == 8
    assert _key(replace(_OPTIONS, verbose=True)) == _key()
