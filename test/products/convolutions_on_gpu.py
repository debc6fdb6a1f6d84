"""Builds convolutions for a GPU, to be computed by cuDNN there.

    cd test && ../.venv/bin/python -m products.convolutions_on_gpu ../build/convolutions [arch]
    python3 build/convolutions/run.py                          # on the GPU machine

The second part needs torch on the GPU machine, whose cuDNN the programs then call, and nothing of
hirc but its loader, which is copied beside the programs.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from products.drawn_convolutions import SETS, Drawn, drawn_set

from hirc.compiler.session import Session
from hirc.dialects.mlir import ir
from hirc.frontends.torch.read_model import import_model
from hirc.tools import carried_folder
from hirc.tools.hirc import main as run_hirc

_HERE = Path(__file__).parent
_ARCH = "sm_90a"


def text_of(convolutions: Sequence[Drawn]) -> str:
    """Returns the programs c0, c1 and so on."""
    texts: list[str] = []
    with Session().context as context:
        for number, each in enumerate(convolutions):
            found = import_model(each, each.inputs(), name=f"c{number}")
            module = ir.Module.parse(found.bytecode, context)
            texts += [str(op.operation.get_asm(use_local_scope=True)) for op in module.body]
    return "\n".join(texts)


def build(folder: Path, arch: str) -> None:
    """Writes the libraries, and what runs them, into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    carried_folder.copy_loader(folder)
    shutil.copy(_HERE / "drawn_convolutions.py", folder)
    shutil.copy(_HERE / "run_convolutions_on_gpu.py", folder / "run.py")
    torch.manual_seed(0)
    for name in SETS:
        source = folder / f"{name}.mlir"
        source.write_text(text_of(drawn_set(name)))
        words = [str(source), "-o", str(folder / f"{name}.so"), "--emit=shared"]
        flags = [f"--offload-arch={arch}", "--convolutions=library", *SETS[name].flags]
        assert run_hirc([*words, *flags]) == 0


if __name__ == "__main__":
    build(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else _ARCH)
