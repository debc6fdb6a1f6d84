"""The programs that checks.py calls, and a folder of them for a GPU machine.

`cd test && ../.venv/bin/python -m calls.programs FOLDER` builds for sm_90a; there,
`python checks.py --device cuda --calls 1000000`.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

_SCALED = """
"hir.program"() ({{
^bb0(%x: memref<?xf32>, %k: f32):
  %t = "hir.binary"(%x, %k) {{kind = "{kind}"}} : (memref<?xf32>, f32) -> memref<?xf32>
  %y = "hir.reduce"(%t) {{kind = "sum", axes = array<i64: 0>}} : (memref<?xf32>) -> memref<f32>
  "hir.output"(%t) {{name = "t"}} : (memref<?xf32>) -> ()
  "hir.output"(%y) {{name = "y"}} : (memref<f32>) -> ()
}}) {{sym_name = "scaled", inputs = [{{name = "x", sizes = ["n"]}}, {{name = "k"}}],
    function_type = (memref<?xf32>, f32) -> (memref<?xf32>, memref<f32>)}} : () -> ()
"""
_LARGE = """
"hir.program"() ({
^bb0(%n: index):
  %y = "hir.allocate"(%n) {zero_init, output = 0 : i64} : (index) -> memref<?xf32>
  "hir.output"(%y) {name = "y"} : (memref<?xf32>) -> ()
}) {sym_name = "large", inputs = [{name = "n"}],
    function_type = (index) -> memref<?xf32>} : () -> ()
"hir.program"() ({
^bb0(%x: memref<?xf32>):
  %y = "hir.unary"(%x) {kind = "neg"} : (memref<?xf32>) -> memref<?xf32>
  "hir.output"(%y) {name = "y"} : (memref<?xf32>) -> ()
}) {sym_name = "one", inputs = [{name = "x"}],
    function_type = (memref<?xf32>) -> memref<?xf32>} : () -> ()
"""
# Two libraries with a program of one name, which gives something else in each.
SOURCES = {"times": _SCALED.format(kind="mul") + _LARGE, "plus": _SCALED.format(kind="add")}


def build(folder: Path, *flags: str) -> None:
    """Builds `libtimes.so` and `libplus.so`, and the first without graphs as `libplain.so`."""
    # Not on a GPU machine, where only the loader is.
    from hirc.tools.hirc import main as run_hirc

    for name, text in SOURCES.items():
        source = folder / f"{name}.mlir"
        source.write_text(text)
        output = str(folder / f"lib{name}.so")
        assert run_hirc([str(source), "-o", output, "--emit=shared", *flags]) == 0
    words = [str(folder / "times.mlir"), "-o", str(folder / "libplain.so"), "--emit=shared"]
    assert run_hirc([*words, *flags, "--graph=never"]) == 0


if __name__ == "__main__":
    from hirc.tools.carried_folder import copy_loader

    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    build(target, "--offload-arch=sm_90a", *sys.argv[2:])
    copy_loader(target)
    for name in ("checks.py", "checks_two_devices.py"):
        shutil.copy(Path(__file__).with_name(name), target)
