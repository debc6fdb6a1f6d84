"""Builds the suites' programs for a GPU, to be compared with torch there.

    cd test && ../.venv/bin/python -m schedules.on_gpu ../build/schedules [rows columns ...]
    python3 build/schedules/run.py [rows columns ...]          # on the GPU machine

They are optimised as programs are by themselves, whatever the suites ask for. The second part needs
torch, hypothesis and pytest on the GPU machine, and nothing of hirc but its loader, which is copied
beside the programs.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from host_ir.on_gpu import copy_loader
from schedules.suites_on_gpu import find_suites

from hirc.tools.hirc import main as run_hirc

HERE = Path(__file__).parent


def build(folder: Path, names: list[str]) -> None:
    """Writes the libraries, and what runs them, into `folder`."""
    copy_loader(folder)
    shutil.copytree(HERE, folder / "schedules", dirs_exist_ok=True)
    shutil.copy(HERE / "run_on_gpu.py", folder / "run.py")
    for name, suite in find_suites(names):
        source = folder / f"{name}.mlir"
        source.write_text(suite.source)
        words = [str(source), "-o", str(folder / f"{name}.so"), "--emit=shared"]
        assert run_hirc([*words, "--offload-arch=sm_90a", *suite.flags]) == 0
        source.unlink()


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    build(target, sys.argv[2:])
