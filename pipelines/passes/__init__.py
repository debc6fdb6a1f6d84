"""Our own passes, one a file; importing this package registers them all."""

from importlib import import_module
from pathlib import Path

from ..pipeline import Stage, stage

__all__ = ["Stage", "stage"]

for _file in sorted(Path(__file__).parent.glob("*.py")):
    if _file.stem != "__init__":
        import_module(f"{__name__}.{_file.stem}")
