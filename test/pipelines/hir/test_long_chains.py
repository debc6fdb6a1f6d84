"""What goes on many times in turn, further than Python follows calls of itself."""

from __future__ import annotations

import itertools
from pathlib import Path

from hirc.tools.hirc_opt import main

_TIMES = 1500
_KIND = "memref<8xf32>"


def test_memory_reused_many_times(tmp_path: Path) -> None:
    lines = [f'%m0 = "hir.allocate"() : () -> {_KIND}']
    lines += [f'%m{i + 1} = "hir.reuse"(%m{i}) : ({_KIND}) -> {_KIND}' for i in range(_TIMES)]
    lines.append(f'"hir.deallocate"(%m{_TIMES}) : ({_KIND}) -> ()')
    text = "\n  ".join(lines)
    source, result = tmp_path / "in.mlir", tmp_path / "out.mlir"
    source.write_text(
        f'"hir.program"() ({{\n  {text}\n}}) {{sym_name = "main", function_type = () -> ()}}'
        " : () -> ()\n"
    )
    assert main([str(source), "-p", "convert-hir-to-gpu", "-o", str(result)]) == 0
    assert "func.func" in result.read_text()


def test_sizes_are_traced_once(tmp_path: Path) -> None:
    """Each operation reads one buffer twice: traced by every way, sizes would take 2^400 steps."""
    kind = "memref<?x4xf32>"
    names = ["x", *(f"v{i}" for i in range(400))]
    text = "\n  ".join(
        f'%{result} = "hir.binary"(%{x}, %{x}) {{kind = "add", stream_axis = 0 : i64}}'
        f" : ({kind}, {kind}) -> {kind}"
        for x, result in itertools.pairwise(names)
    )
    source, result = tmp_path / "in.mlir", tmp_path / "out.mlir"
    source.write_text(
        f'"hir.program"() ({{\n^bb0(%x: {kind}):\n  {text}\n  "hir.output"(%{names[-1]}) '
        f'{{name = "y"}} : ({kind}) -> ()\n}}) {{sym_name = "main", '
        f"function_type = ({kind}) -> {kind}}} : () -> ()\n"
    )
    assert main([str(source), "-p", "hir-form-stream-loops", "-o", str(result)]) == 0
    assert result.read_text().count('"hir.for"') == 1
