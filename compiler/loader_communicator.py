"""How a library's programs communicate, as its caller says: a process group, or an `ncclComm_t`."""

from __future__ import annotations

import ctypes
import platform
import socket
import uuid
from importlib import import_module
from typing import Any

from .errors import InputError
from .loader_files import LoadedLibrary


def use_communicator(loaded: LoadedLibrary, communicator: Any) -> None:
    """Hands a communicator over. Raises InputError where it is none, or it is too late."""
    meeting: str | None = None
    if isinstance(communicator, tuple):
        address, rank, size = _numbers(communicator)  # pyright: ignore[reportUnknownArgumentType]
    elif callable(getattr(communicator, "rank", None)) and hasattr(communicator, "size"):
        rank, size = int(communicator.rank()), int(communicator.size())
        address = None if loaded.is_for_cpu else _nccl_of(communicator)
        meeting = _agree_on_meeting(communicator, rank)
    else:
        raise InputError(
            "a communicator is a process group of torch, or the address of an ncclComm_t, a rank "
            f"and a size, not {communicator!r}"
        )
    use_rank(loaded, rank, size, meeting, address)


def use_rank(
    loaded: LoadedLibrary, rank: int, size: int, meeting: str | None, address: int | None = None
) -> None:
    """Says which of so many processes this is, where they meet, and their ncclComm_t."""
    function = loaded.hirc_use_communicator
    function.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_char_p]
    loaded.check(function(address, rank, size, None if meeting is None else meeting.encode()))


def _numbers(given: tuple[Any, ...]) -> tuple[int | None, int, int]:
    if len(given) == 3 and isinstance(given[0], int | None):
        address, rank, size = given
        if isinstance(rank, int) and isinstance(size, int):
            return address, rank, size
    raise InputError(
        f"a communicator is an address, a rank and a size, three whole numbers, not {given!r}"
    )


def _nccl_of(group: Any) -> int:
    """Returns the group's communicator of the current device, which its first use makes."""
    torch = import_module("torch")
    device = torch.device("cuda", torch.cuda.current_device())
    torch.distributed.all_reduce(torch.zeros(1, device=device), group=group)
    backend = group._get_backend(device)
    if not hasattr(backend, "_comm_ptr"):
        raise InputError(f"the process group communicates by {backend!r}, which is not NCCL")
    return int(backend._comm_ptr())


def _agree_on_meeting(group: Any, rank: int) -> str:
    """Returns where the group's processes meet, which its first one says to the others."""
    distributed: Any = import_module("torch.distributed")
    hosts: list[Any] = [None] * group.size()
    distributed.all_gather_object(hosts, platform.node(), group=group)
    said: list[str | None] = [None]
    if rank == 0:
        said[0] = f"unix:hirc-{uuid.uuid4().hex}"
        if len(set(hosts)) > 1:
            with socket.socket() as found:
                found.bind(("", 0))
                said[0] = f"{platform.node()}:{found.getsockname()[1]}"
    first = distributed.get_global_rank(group, 0)
    distributed.broadcast_object_list(said, src=first, group=group)
    assert said[0] is not None
    return said[0]
