"""State of a loaded library: what its programs keep from call to call."""

from __future__ import annotations

import ctypes
import sys
import weakref
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .loader_abi import DlTensor, ProgramInfo, StateStruct
from .loader_array import Array, Owner
from .loader_checks import stream_number
from .loader_files import LoadedLibrary


class State(Mapping[str, Any]):
    """An instance's state, by name: tensors in the memory that programs write to.

    They are torch's where torch is loaded, else numpy's on the CPU device, else objects with
    `__dlpack__`. They hold the memory, which is that of the current device.
    """

    def __init__(self, loaded: LoadedLibrary, infos: Mapping[str, StateStruct]) -> None:
        self._loaded = loaded
        self._infos = infos
        self.instance = loaded.hirc_create_state()
        if not self.instance:
            raise MemoryError
        # At exit the device may be gone, and the memory goes with the process.
        weakref.finalize(self, _free, loaded, self.instance).atexit = False

    def use(self) -> None:
        """Lets the thread's next calls use this state."""
        self._loaded.hirc_use_state(self.instance)

    def reset(self, stream: Any) -> None:
        """Gives every state its first value, in the order of a stream. Raises InputError."""
        self.use()
        number = self._stream(stream)
        self._loaded.check(self._loaded.hirc_reset_state(number))
        if self._loaded.is_for_cpu:
            self._loaded.check(self._loaded.hirc_synchronize(number))

    def seed(self, seed: int, offset: int, stream: Any) -> None:
        """Seeds the generator of random numbers, in the order of a stream. Raises InputError."""
        self.use()
        number = self._stream(stream)
        self._loaded.check(self._loaded.hirc_manual_seed(seed, offset, number))

    def _stream(self, stream: Any) -> int:
        torch = sys.modules.get("torch")
        if stream is None and torch is not None and not self._loaded.is_for_cpu:
            return int(torch.cuda.current_stream().cuda_stream)
        return 0 if stream is None else stream_number(stream, on_cpu=self._loaded.is_for_cpu)

    def __getitem__(self, name: str) -> Any:
        info = self._infos[name]
        self.use()
        tensor = DlTensor()
        status = self._loaded.hirc_state_tensor(name.encode(), ctypes.addressof(tensor))
        self._loaded.check(status)
        sizes = [info.sizes[axis] for axis in range(info.rank)]
        strides = [1] * info.rank
        for axis in reversed(range(info.rank - 1)):
            strides[axis] = strides[axis + 1] * sizes[axis + 1]
        room = (ctypes.c_int64 * (2 * info.rank))(*sizes, *strides)
        tensor.sizes = ctypes.addressof(room)
        tensor.strides = tensor.sizes + 8 * info.rank
        held = self._loaded.hirc_hold_state(self.instance)
        if not held:
            raise MemoryError
        owner = Owner(self._loaded, self._loaded.hirc_own_output(tensor.data, 0, held))
        return _tensor(Array(owner, tensor, room), self._loaded)

    def __iter__(self) -> Iterator[str]:
        return iter(self._infos)

    def __len__(self) -> int:
        return len(self._infos)

    def __repr__(self) -> str:
        return f"<state {', '.join(self._infos)}>"


def states_of(programs: Sequence[ProgramInfo]) -> Mapping[str, StateStruct]:
    """Returns what a library's programs say of their state, by name."""
    found: dict[str, StateStruct] = {}
    for program in programs:
        if program.weights:
            weights = program.weights.contents
            for place in range(weights.state_count):
                found[weights.states[place].name.decode()] = weights.states[place]
    return found


def declare_state_functions(loaded: LoadedLibrary) -> None:
    """Tells ctypes the types of the library's functions."""
    loaded.hirc_create_state.restype = ctypes.c_void_p
    loaded.hirc_hold_state.restype = ctypes.c_void_p
    loaded.hirc_hold_state.argtypes = [ctypes.c_void_p]
    loaded.hirc_free_state.restype = None
    loaded.hirc_free_state.argtypes = [ctypes.c_void_p]
    loaded.hirc_use_state.restype = None
    loaded.hirc_use_state.argtypes = [ctypes.c_void_p]
    loaded.hirc_reset_state.argtypes = [ctypes.c_void_p]
    loaded.hirc_manual_seed.argtypes = [ctypes.c_uint64, ctypes.c_uint64, ctypes.c_void_p]
    loaded.hirc_state_tensor.argtypes = [ctypes.c_char_p, ctypes.c_void_p]


def _free(loaded: LoadedLibrary, instance: int) -> None:
    loaded.hirc_free_state(instance)


def _tensor(array: Array, loaded: LoadedLibrary) -> Any:
    torch = sys.modules.get("torch")
    if torch is not None:
        return torch.utils.dlpack.from_dlpack(array.__dlpack__())
    if not loaded.is_for_cpu:
        return array
    import numpy

    try:
        return numpy.from_dlpack(array)
    except (BufferError, RuntimeError):
        # NumPy has no bf16 and f8.
        return array
