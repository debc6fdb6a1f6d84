"""One call of a loaded program: tensors in, through DLPack, and tensors out."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from .errors import InputError
from .loader_abi import DlTensor
from .loader_array import CAPSULE, Array, Owner
from .loader_checks import check_plain, passing, stream_number
from .loader_torch import fill_from_torch, loaded_torch, torch_of
from .loader_values import INPUT, ValueInfo, scalar_bytes, scalar_value

if TYPE_CHECKING:
    from .loader import Program

_CPU = 1
_CUDA, _ROCM = 2, 10
# An address for tensors without elements, whose data may be NULL: an output without data is one
# that the program is to allocate.
_NOWHERE = 256

# DLPack's codes of signed, unsigned, float, complex and bool: NumPy has no bf16 and f8.
_NUMPY_CODES = (0, 1, 2, 5, 6)

_USED_CAPSULE = b"used_dltensor"
_api = ctypes.pythonapi
_api.PyCapsule_GetPointer.restype = ctypes.c_void_p
_api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]


class Call:
    """A call of `program`. What it points to lives as long as it does."""

    def __init__(self, program: Program, inputs: list[Any], given: list[Any], stream: Any) -> None:
        self.program = program
        self.loaded = program.loaded
        self.inputs = inputs
        self.given = given
        self._on_cpu = self.loaded.is_for_cpu
        has_tensors = any(hasattr(value, "__dlpack__") for value in [*inputs, *given])
        self._torch = torch_of(inputs) if has_tensors else loaded_torch(on_cpu=self._on_cpu)
        self._has_tensors = has_tensors
        # On torch's current stream its tensors are ready; another one waits for them in DLPack's
        # way.
        self._asks_torch = self._torch is not None and stream is None
        self.stream = self._stream_number(stream)
        self._kept: list[Any] = []
        self._tensors = (DlTensor * (len(inputs) + len(given)))()

    def run(self) -> Any:
        """Runs the program and returns its output, or a tuple of several."""
        program, count = self.program, len(self.inputs)
        for place, value in enumerate(program.inputs):
            self._take(self._tensors[place], value, self.inputs[place])
        for place, value in enumerate(program.outputs):
            self._prepare(self._tensors[count + place], value, self.given[place])
        size = ctypes.sizeof(DlTensor)
        first = ctypes.addressof(self._tensors)
        addresses = [first + size * place for place in range(len(self._tensors))]
        pointers = (ctypes.c_void_p * len(addresses))(*addresses)
        start = ctypes.addressof(pointers)
        if program.state is not None:
            program.state.use()
        loaded = self.loaded
        failed = loaded.error(program.run(start, start + 8 * count, self.stream))
        # What ran before a failure still uses the caller's memory, which nobody keeps.
        status = loaded.hirc_synchronize(self.stream) if self._on_cpu else 0
        if failed is not None:
            raise failed
        late = loaded.error(status)
        # The outputs have owners from here on, also where the device failed.
        results = self._results()
        if late is not None:
            raise late
        return None if not results else results[0] if len(results) == 1 else tuple(results)

    def _stream_number(self, stream: Any) -> int:
        if stream is None:
            values = [*self.inputs, *self.given]
            on_gpu = any(getattr(value, "is_cuda", False) for value in values)
            # Outputs of programs without tensors become torch's.
            on_gpu = on_gpu or not (self._has_tensors or self._on_cpu)
            if self._torch is None or not on_gpu:
                return 0
            return int(self._torch.cuda.current_stream().cuda_stream)
        return stream_number(stream, on_cpu=self._on_cpu)

    def _take(self, tensor: DlTensor, value: ValueInfo, given: Any) -> None:
        """Fills in the tensor that stands for a caller's input."""
        if value.is_scalar and not hasattr(given, "__dlpack__"):
            data = scalar_bytes(value, given, self.program.name)
            room = ctypes.create_string_buffer(data, len(data))
            self._kept.append(room)
            tensor.data, tensor.device_type = ctypes.addressof(room), _CPU
            tensor.dtype = value.dtype
            return
        self._take_tensor(tensor, value, given, "input")

    def _take_tensor(self, tensor: DlTensor, value: ValueInfo, given: Any, role: str) -> None:
        where = f"{role} '{value.name}' of {self.program.name}"
        with passing(where):
            check_plain(given, where)
        self._fill(tensor, value, given, where)
        if role == "output" and not tensor.data:
            # The program would take it for one that it is to allocate.
            raise InputError(f"{where} cannot be passed: it has no memory (its data is NULL)")

    def _fill(self, tensor: DlTensor, value: ValueInfo, given: Any, where: str) -> None:
        if self._asks_torch:
            # A subclass of torch's tensors may raise anything, where it has no memory for one.
            with passing(where):
                room = fill_from_torch(self._torch, tensor, given, takes_cpu=self._on_cpu)
            if room is not None:
                self._kept.append(room)
                _place_empty(tensor)
                return
        source = ctypes.cast(self._address_of(value, given, where), ctypes.POINTER(DlTensor))
        ctypes.pointer(tensor)[0] = source[0]
        _place_empty(tensor)

    def _address_of(self, value: ValueInfo, given: Any, where: str) -> int:
        """Returns the address of the DLTensor of an object, which stays while the call does."""
        capsule = self._capsule_of(value, given, where)
        self._kept.append(capsule)
        try:
            return _api.PyCapsule_GetPointer(capsule, CAPSULE)
        except ValueError:
            raise InputError(
                f"{where} cannot be passed: __dlpack__ of {type(given).__name__} returns "
                f"{type(capsule).__name__}, no capsule of a tensor that nobody has taken"
            ) from None

    def _capsule_of(self, value: ValueInfo, given: Any, where: str) -> Any:
        if not hasattr(given, "__dlpack__"):
            raise InputError(
                f"{where}: {type(given).__name__} is no tensor, the program takes {value.type}",
                hint="torch tensors and numpy arrays are, and what else has __dlpack__"
                + ("" if value.sizes else "; without dims as numpy.array(1.5, numpy.float32)"),
            )
        with passing(where):
            kind = given.__dlpack_device__()[0]
            if kind in (_CUDA, _ROCM):
                # DLPack's number of CUDA's default stream is 1, of HIP's 0.
                return given.__dlpack__(stream=self.stream or int(kind == _CUDA))
            return given.__dlpack__()

    def _prepare(self, tensor: DlTensor, value: ValueInfo, given: Any) -> None:
        """Takes an output that was handed in, or makes room for what the program fills in."""
        if given is not None:
            # A number has no memory for an output, as it has for an input.
            self._take_tensor(tensor, value, given, "output")
            return
        rank = len(value.sizes)
        room = ((ctypes.c_int64 * (2 * rank)) if rank else (ctypes.c_char * 16))()
        self._kept.append(room)
        address = ctypes.addressof(room)
        tensor.rank, tensor.dtype, tensor.device_type = rank, value.dtype, _CPU
        if value.is_scalar:
            tensor.data = address
        elif rank:
            tensor.sizes, tensor.strides = address, address + 8 * rank

    def _results(self) -> list[Any]:
        count = len(self.inputs)
        # What is the caller's already.
        theirs = {self._tensors[place].data: place for place in range(count)}
        for place, given in enumerate(self.given):
            if given is not None:
                theirs.setdefault(self._tensors[count + place].data, count + place)
        owners: dict[int | None, Owner] = {}
        try:
            return [self._result(place, theirs, owners) for place in range(len(self.given))]
        except MemoryError:
            made = {self._tensors[count + place].data for place in self._places_made()}
            for data in made - owners.keys() - theirs.keys():
                self.loaded.hirc_free_output(data, self.stream)
            raise

    def _places_made(self) -> list[int]:
        """Returns the outputs whose memory the program allocated, or has."""
        return [
            place
            for place, value in enumerate(self.program.outputs)
            if self.given[place] is None and not value.is_scalar and value.origin != INPUT
        ]

    def _result(
        self, place: int, theirs: dict[int | None, int], owners: dict[int | None, Owner]
    ) -> Any:
        value, tensor = self.program.outputs[place], self._tensors[len(self.inputs) + place]
        if self.given[place] is not None:
            return self.given[place]
        if value.is_scalar:
            return scalar_value(value, ctypes.string_at(tensor.data, value.element_bytes))
        if value.origin == INPUT:
            return self.inputs[value.origin_input]
        return self._wrapped(tensor, theirs.get(tensor.data), owners)

    def _wrapped(
        self, tensor: DlTensor, theirs: int | None, owners: dict[int | None, Owner]
    ) -> Any:
        """Returns a tensor of the program's as the caller's kind of tensor, which
        owns its memory.
        """
        if theirs is not None:
            owner = self._owner(tensor, self._held(theirs))
        elif tensor.data in owners:
            owner = owners[tensor.data]
        else:
            owner = owners[tensor.data] = self._owner(tensor, None)
        array = Array(owner, tensor, self._kept)
        if self._torch is not None:
            return self._torch.utils.dlpack.from_dlpack(array.__dlpack__())
        code = tensor.dtype & 0xFF
        return of_their_library(array, [*self.inputs, *self.given], code, on_cpu=self._on_cpu)

    def _owner(self, tensor: DlTensor, held: int | None) -> Owner:
        loaded = self.loaded
        return Owner(loaded, loaded.hirc_own_output(tensor.data, self.stream, held))

    def _held(self, place: int) -> int:
        """Returns the managed tensor of an argument that an output is part of."""
        values = [*self.program.inputs, *self.program.outputs]
        capsule = self._capsule_of(values[place], [*self.inputs, *self.given][place], "tensor")
        address = _api.PyCapsule_GetPointer(capsule, CAPSULE)
        # It is the output's to delete now.
        _api.PyCapsule_SetName(capsule, _USED_CAPSULE)
        return address


def of_their_library(array: Any, given: list[Any], code: int, *, on_cpu: bool) -> Any:
    """Returns an array, of which `code` is the type's, as one of the library that a call's tensors
    are of, which is not torch.
    """
    for each in given:
        if not hasattr(each, "__array_namespace__"):
            continue
        try:
            return each.__array_namespace__().from_dlpack(array)
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001 - of a type that they do not have, or none of theirs
            return array
    if on_cpu and code in _NUMPY_CODES:
        import numpy

        return numpy.from_dlpack(array)
    return array


def _place_empty(tensor: DlTensor) -> None:
    """Gives a tensor without elements an address, where its data is NULL."""
    if not tensor.data and tensor.rank > 0 and tensor.sizes:
        sizes = (ctypes.c_int64 * tensor.rank).from_address(tensor.sizes)
        tensor.data = _NOWHERE if 0 in sizes else None
