"""What a torch model is after a stage of its compilation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from hirc.frontends.torch.import_model import import_model
from hirc.tools.hirc import main as hirc


def text_after(
    stage: str,
    model: Callable[..., Any],
    inputs: Sequence[Any],
    folder: Path,
    *words: str,
    dynamic_shapes: Any = None,
) -> str:
    """Returns the program's text after a stage, compiled with these words for sm_90a."""
    source, result = folder / "model.mlir", folder / f"{stage}.mlir"
    imported = import_model(model, tuple(inputs), dynamic_shapes=dynamic_shapes)
    source.write_bytes(imported.bytecode)
    asked = ["--offload-arch=sm_90a", f"--stop-after={stage}", *words]
    assert hirc([str(source), "-o", str(result), *asked]) == 0
    return result.read_text()
