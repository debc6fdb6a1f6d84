"""Calls the program of a library; needs hirc's loader, and neither MLIR nor LLVM nor torch."""

import numpy as np

import hirc

library = hirc.load("libscale.so")
print(library.scale)
print(library.scale(np.arange(4, dtype=np.float32), 0.5))
