"""libdevice: the functions a program needs out of it, kept in the cache for the next time.

Reading all of libdevice takes longer than all else that is done to a small kernel.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from .bitcode_file import read_bitcode
from .cache import cached
from .llvm_ir import Machine, extract_definitions
from .target import TRIPLE


def libdevice_functions(libdevice: Path, wanted: Iterable[str]) -> bytes:
    """Bitcode that defines the functions `wanted` of libdevice and what they call.

    Names it does not have are left out. Raises ToolchainError when it cannot be read.
    """
    names = sorted(set(wanted))
    status = libdevice.stat()
    key = f"{libdevice} {status.st_size} {status.st_mtime_ns} {' '.join(names)}"
    digest = hashlib.sha256(key.encode()).hexdigest()[:16]
    machine = Machine(TRIPLE, "", "", 0)
    return cached(
        f"libdevice-{digest}.bc",
        lambda: extract_definitions(read_bitcode(libdevice), names, machine),
    )
