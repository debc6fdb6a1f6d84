"""Quick registrations register the same kernels with torch."""

from __future__ import annotations

import pytest
import torch
from torch._C import DispatchKey
from torch._ops import OperatorBase

from hirc.frontends.torch.registrations import quick_registrations

_KEY = DispatchKey.CompositeImplicitAutograd


def test_a_kernel_is_registered_once_for_a_key() -> None:
    operator, before = torch.ops.aten.cosh.default, OperatorBase.py_impl
    assert _KEY not in operator.py_kernels
    try:
        with quick_registrations():
            assert operator.py_impl(_KEY)(torch.sinh) is torch.sinh
            assert operator.py_kernels[_KEY] is torch.sinh
            with pytest.raises(RuntimeError, match="override a python impl"):
                operator.py_impl(_KEY)(torch.cosh)
            with pytest.raises(AssertionError, match="register a mode"):
                operator.py_impl(DispatchKey.Python)(torch.cosh)
    finally:
        operator.py_kernels.pop(_KEY, None)
    assert OperatorBase.py_impl is before
