"""Programs that several threads build, compile and call at once, in a process of their own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

# Each thread's programs differ from the others'. All begin together, as MLIR is loaded.
_CODE = """\
import sys, threading
import numpy as np
import hirc

COUNT, TIMES = 8, 5
gate = threading.Barrier(COUNT)
wrong = []

def built(number):
    with hirc.program("main") as p:
        x = p.input("x", (p.size("n"), 4), "f32")
        y = x * float(number + 1)
        for _ in range(number):
            y = y + x
        p.output("y", y)
    return p

def written(number):
    return f'''
func.func @main(%x: tensor<?x4xf32> {{hir.name = "x"}}) -> tensor<?x4xf32> {{
  %c0 = arith.constant 0 : index
  %k = arith.constant {2 * number + 1}.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %empty = tensor.empty(%n) : tensor<?x4xf32>
  %all = linalg.fill ins(%k : f32) outs(%empty : tensor<?x4xf32>) -> tensor<?x4xf32>
  %y = linalg.mul ins(%x, %all : tensor<?x4xf32>, tensor<?x4xf32>)
      outs(%empty : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}}'''

def run(number):
    x = np.arange(4.0 * (number + 3), dtype=np.float32).reshape(-1, 4)
    for turn in range(TIMES):
        program = (written if number % 4 == 3 else built)(number)
        given = hirc.compile(program, target="cpu", cache=False)(x)
        np.testing.assert_allclose(given, x * (2 * number + 1), rtol=1e-6)
        if INTERPRETS and number % 4 != 3:
            given, = hirc.interpret(program, [torch.from_numpy(x)])
            np.testing.assert_allclose(given, x * (2 * number + 1), rtol=1e-6)

def guarded(number):
    gate.wait()
    try:
        run(number)
    except BaseException as error:
        wrong.append(error)

threads = [threading.Thread(target=guarded, args=(number,)) for number in range(COUNT)]
for each in threads:
    each.start()
for each in threads:
    each.join()
if wrong:
    raise wrong[0]
"""


@pytest.mark.parametrize("interprets", [False, True])
def test_threads_build_and_compile(interprets: bool, tmp_path: Path) -> None:
    source = tmp_path / "threads.py"
    first = "import torch\n" if interprets else ""
    source.write_text(f"{first}INTERPRETS = {interprets}\n{_CODE}")
    done = subprocess.run(
        [sys.executable, str(source)], capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
