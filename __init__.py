"""hirc: tensor programs and MLIR GPU programs to native executables that launch on a GPU.

Subpackages, in the order data passes through them: `dialects` (what can be said), `pipelines`
(what happens to it), `compiler` (how it becomes files), `tools` (the command line).
Importing `hirc` itself loads neither MLIR nor LLVM.
"""

__version__ = "0.1.0"
