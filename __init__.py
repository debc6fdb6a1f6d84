"""hirc: tensor programs and MLIR GPU programs to native executables that launch on a GPU.

Its subpackages: `dialects` (operations and types), `pipelines` (passes), `compiler` (makes files,
and code in this process), `frontends` (import other programs), `tools` (the command line).
Importing `hirc` loads neither MLIR nor LLVM: its names are loaded when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .compiler.compile_program import compile, jit
    from .compiler.interpreter import interpret, interpret_team
    from .compiler.loader import load
    from .compiler.loader_artifact import Artifact
    from .compiler.loader_team import Team, load_team
    from .dialects.hir.builder import BuildError, module, program, steps

__version__ = "0.1.0"

__all__ = [
    "Artifact",
    "BuildError",
    "Team",
    "compile",
    "interpret",
    "interpret_team",
    "jit",
    "load",
    "load_team",
    "module",
    "program",
    "steps",
]

# The module that each name is in.
_OFFERED = {
    "Artifact": ".compiler.loader_artifact",
    "BuildError": ".dialects.hir.builder",
    "Team": ".compiler.loader_team",
    "compile": ".compiler.compile_program",
    "interpret": ".compiler.interpreter",
    "interpret_team": ".compiler.interpreter",
    "jit": ".compiler.compile_program",
    "load": ".compiler.loader",
    "load_team": ".compiler.loader_team",
    "module": ".dialects.hir.builder",
    "program": ".dialects.hir.builder",
    "steps": ".dialects.hir.builder",
}


def __getattr__(name: str) -> Any:
    """Loads what `name` offers; Python asks here for what is not yet defined."""
    if name not in _OFFERED:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    value = getattr(import_module(_OFFERED[name], __name__), name)
    globals()[name] = value
    return value
