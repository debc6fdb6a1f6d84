"""The one import of torch, which is an optional extra of the package."""

from __future__ import annotations

from ..errors import ToolchainError

try:
    import torch
except ImportError as error:
    raise ToolchainError(
        f"the interpreter runs programs over torch, which cannot be imported: {error}",
        hint="pip install 'hirc[torch]'",
    ) from error

__all__ = ["torch"]
