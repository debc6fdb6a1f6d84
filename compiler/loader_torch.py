"""torch's tensors without a capsule each: what DLPack would say of one, asked of the tensor itself.

torch is the caller's; it is not imported here.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from types import FunctionType
from typing import Any

from .loader_abi import DlTensor

_CPU, _CUDA, _ROCM = 1, 2, 10
_INT, _UINT, _FLOAT, _BFLOAT, _COMPLEX, _BOOL, _E4M3FN, _E5M2 = 0, 1, 2, 4, 5, 6, 10, 12


def torch_of(values: list[Any]) -> Any:
    """Returns the torch module, where one of the values is a tensor of it."""
    torch = sys.modules.get("torch")
    if torch is not None and any(isinstance(value, torch.Tensor) for value in values):
        return torch
    return None


def loaded_torch(*, on_cpu: bool) -> Any:
    """Returns the torch module where it is loaded, and has the devices that tensors are on."""
    torch: Any = sys.modules.get("torch")
    is_whole = hasattr(torch, "utils") and hasattr(torch.utils, "dlpack")
    return torch if is_whole and (on_cpu or torch.cuda.is_available()) else None


def fill_from_torch(torch: Any, tensor: DlTensor, given: Any, *, takes_cpu: bool) -> Any:
    """Fills in the tensor that stands for torch's and returns what it points to.

    Returns None for what DLPack's own way has to judge: other objects, tensors that are no plain
    memory or need gradients, and memory of the host where that is not the device's.
    """
    if not isinstance(given, torch.Tensor) or given.requires_grad:
        return None
    dtype = dlpack_types(torch).get(given.dtype)
    is_plain = (
        given.layout is torch.strided
        and not given.is_nested
        and not given.is_conj()
        and not given.is_neg()
    )
    if dtype is None or not is_plain:
        return None
    if given.is_cuda:
        kind = _ROCM if getattr(torch.version, "hip", None) else _CUDA
        tensor.device_type, tensor.device_id = kind, given.get_device()
    elif takes_cpu and given.device.type == "cpu":
        tensor.device_type = _CPU
    else:
        return None
    rank = given.dim()
    room = (ctypes.c_int64 * (2 * rank))(*given.shape, *given.stride())
    tensor.data, tensor.rank, tensor.dtype = given.data_ptr(), rank, dtype
    address = ctypes.addressof(room)
    tensor.sizes, tensor.strides = address, address + 8 * rank
    return room


def leave_to_python(function: FunctionType) -> None:
    """Makes torch.compile run a function, and what that calls, as it is, where torch is loaded.

    Its graph ends before a call of the function. This is what torch.compiler.disable does, without
    the function of torch's around each call.
    """
    vars(function)["_torchdynamo_disable"] = True
    torch: Any = sys.modules.get("torch")
    try:
        frames = torch._C._dynamo.eval_frame
        skip = frames._FrameAction.SKIP
        strategy = frames._FrameExecStrategy(skip, skip)
        frames.set_code_exec_strategy(function.__code__, strategy)
    except AttributeError:
        return  # There is no torch, or an older one.


@cache
def dlpack_types(torch: Any) -> dict[Any, int]:
    """DLDataType's four bytes of torch's element types."""
    known = {
        "float64": (_FLOAT, 64),
        "float32": (_FLOAT, 32),
        "float16": (_FLOAT, 16),
        "bfloat16": (_BFLOAT, 16),
        "float8_e4m3fn": (_E4M3FN, 8),
        "float8_e5m2": (_E5M2, 8),
        "int64": (_INT, 64),
        "int32": (_INT, 32),
        "int16": (_INT, 16),
        "int8": (_INT, 8),
        "uint64": (_UINT, 64),
        "uint32": (_UINT, 32),
        "uint16": (_UINT, 16),
        "uint8": (_UINT, 8),
        "bool": (_BOOL, 8),
        "complex64": (_COMPLEX, 64),
        "complex128": (_COMPLEX, 128),
    }
    return {
        getattr(torch, name): code | bits << 8 | 1 << 16
        for name, (code, bits) in known.items()
        if hasattr(torch, name)
    }
