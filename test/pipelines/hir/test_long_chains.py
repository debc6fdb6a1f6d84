"""Memory that is reused many times in turn, further than Python follows calls of itself."""

from __future__ import annotations

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
