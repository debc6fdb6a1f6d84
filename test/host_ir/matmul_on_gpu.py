"""Builds matrix products for a GPU, to be checked and timed there.

    cd test && ../.venv/bin/python -m host_ir.matmul_on_gpu ../build/matmul [arch]
    python3 build/matmul/run.py                                # on the GPU machine

The second part needs torch on the GPU machine, whose cuBLASLt the programs then call, and nothing
of hirc but its loader, which is copied beside the programs.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from host_ir.matmul_programs import ACTIVATIONS, HOST_IR, LAYERS, TIMED, everything, layer
from host_ir.on_gpu import copy_loader

from hirc.tools.hirc import main as run_hirc

HERE = Path(__file__).parent
_ARCH = "sm_90a"
_FLOATS = ("f32", "f64", "f16", "bf16")


def timed(element: str, size: int) -> str:
    """A product with known sizes."""
    kind = f"memref<{size}x{size}x{element}>"
    return f"""
"hir.program"() ({{
^bb0(%x: {kind}, %y: {kind}):
  %z = "hir.matmul"(%x, %y) : ({kind}, {kind}) -> {kind}
  "hir.output"(%z) {{name = "z"}} : ({kind}) -> ()
}}) {{sym_name = "{element}_{size}", function_type = ({kind}, {kind}) -> {kind}}} : () -> ()
"""


def build(folder: Path, arch: str) -> None:
    """Writes the libraries, and what runs them, into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    copy_loader(folder)
    shutil.copy(HERE / "run_matmul_on_gpu.py", folder / "run.py")
    texts = {
        "forms": everything(),
        "timed": "".join(timed(*each) for each in TIMED),
        **{f"host_ir_{element}": HOST_IR.format(element) for element in (*_FLOATS, "tf32")},
        **{
            f"layer_{element}_{result}": "".join(
                layer(element, activation, result) for activation in ACTIVATIONS
            )
            for element, result in LAYERS
        },
    }
    for name, text in texts.items():
        source = folder / f"{name}.mlir"
        source.write_text(text)
        words = [str(source), "-o", str(folder / f"{name}.so"), "--emit=shared"]
        flags = [f"--offload-arch={arch}", "--products=always"]
        assert run_hirc([*words, *flags]) == 0


if __name__ == "__main__":
    build(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else _ARCH)
