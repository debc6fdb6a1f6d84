"""Outputs of a loaded program, on their way to whoever takes tensors through DLPack."""

from __future__ import annotations

import ctypes
from typing import Any

from .loader_abi import DlTensor
from .loader_files import LoadedLibrary

CAPSULE = b"dltensor"
_VERSIONED_CAPSULE = b"dltensor_versioned"
_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Owner:
    """Holds the memory of an output, or the caller's tensor that the output is part of."""

    def __init__(self, loaded: LoadedLibrary, address: int | None) -> None:
        if not address:
            raise MemoryError
        self.loaded = loaded
        self.address = address

    def __del__(self) -> None:
        if "address" in self.__dict__:
            self.loaded.hirc_release_output(self.address)


class Array:
    """An output of a program, for whoever takes it: `torch.from_dlpack(array)`."""

    def __init__(self, owner: Owner, tensor: DlTensor, kept: object) -> None:
        self._owner = owner
        self._tensor = DlTensor.from_buffer_copy(tensor)
        # What the sizes and strides lie in.
        self._kept = kept

    def __dlpack__(
        self, *, stream: Any = None, max_version: tuple[int, int] | None = None, **_: Any
    ) -> Any:
        """Returns a capsule of the tensor, of DLPack's newer kind for those who know it.

        The tensor is ready in the order of the stream that the program ran on.
        """
        del stream
        is_versioned = max_version is not None and max_version[0] >= 1
        managed = self._owner.loaded.hirc_manage_output(
            ctypes.addressof(self._tensor), self._owner.address, int(is_versioned)
        )
        if not managed:
            raise MemoryError
        return _new_capsule(managed, _VERSIONED_CAPSULE if is_versioned else CAPSULE, None)

    def __dlpack_device__(self) -> tuple[int, int]:
        """The kind and the number of the device it is on."""
        return self._tensor.device_type, self._tensor.device_id
