"""libdevice's functions on the CPU device, against the results that a GPU gave."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from programs.libdevice_programs import Program, programs
from programs.libdevice_table import RECORDED, compare

from hirc.tools.hirc import main as hirc


@pytest.mark.parametrize("program", programs(), ids=lambda program: program.name)
def test_agrees_with_the_gpu(program: Program, tmp_path: Path) -> None:
    source, output = tmp_path / f"{program.name}.mlir", tmp_path / program.name
    source.write_text(program.mlir)
    assert hirc([str(source), "-o", str(output), "--offload-arch=cpu"]) == 0
    done = subprocess.run([output], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    violations = compare(program.name, done.stdout)
    assert not violations, f"{len(violations)} violations:\n" + "\n".join(violations[:20])


def test_the_record_is_small() -> None:
    assert RECORDED.stat().st_size < 400_000
