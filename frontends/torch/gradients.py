"""Exporting models; those that compute gradients below autograd, where its steps are operations.

torch.export keeps what a model calls, and gradients are no such calls: of their operands it makes
constants, or fails. Below autograd everything is exported as the operations that it is made of.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from typing import Any
from unittest import mock

import torch
import torch.autograd.forward_ad
from torch import nn
from torch.export import ExportedProgram
from torch.export._trace import _export  # pyright: ignore[reportPrivateUsage]
from torch.nn.attention import SDPBackend, sdpa_kernel

# What every gradient begins with, backward and forward.
_BEGINNINGS = (
    (torch.autograd, "_engine_run_backward"),
    (torch.autograd.forward_ad, "make_dual"),
)


def exported(
    model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], dynamic_shapes: Any
) -> ExportedProgram:
    """Exports a model as it computes these inputs."""
    export: Callable[..., ExportedProgram] = partial(
        torch.export.export, model, args, kwargs, dynamic_shapes=dynamic_shapes, strict=False
    )
    with _looking_for_gradients() as found:
        try:
            program = export()
        except Exception:
            if not found:
                raise
            program = None
    if program is not None and not found:
        return program
    export = partial(_export, model, args, kwargs, dynamic_shapes, strict=False, pre_dispatch=False)
    # torch has no gradients of its kernels of attention as other operations.
    with sdpa_kernel(SDPBackend.MATH):
        try:
            return export()
        except RuntimeError as error:
            if "does not require grad" not in str(error):
                raise
    with sdpa_kernel(SDPBackend.MATH), _recording(model):
        return export()


@contextmanager
def _recording(model: nn.Module) -> Generator[None]:
    """Lets a model record what gradients are taken of, as where it is called without no_grad."""
    with mock.patch.object(model, "forward", torch.enable_grad()(model.forward)):
        yield


class _GradientsAskedError(Exception):
    """The model computes gradients."""


@contextmanager
def _looking_for_gradients() -> Generator[list[str]]:
    """Ends an export with the first gradient, whose name is added to what is given here."""
    found: list[str] = []

    def asked(*args: Any, **kwargs: Any) -> Any:
        found.append("gradient")
        raise _GradientsAskedError

    patches = [mock.patch.object(module, name, asked) for module, name in _BEGINNINGS]
    for patch in patches:
        patch.start()
    try:
        yield found
    finally:
        for patch in patches:
            patch.stop()
