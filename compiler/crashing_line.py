"""Where in a program's text MLIR's reader crashes, found by reading beginnings of it."""

from __future__ import annotations

import resource
from time import monotonic
from typing import TYPE_CHECKING

from .child import forked

if TYPE_CHECKING:
    from .session import Session

# Of processor time for one beginning, and of time for all.
_SECONDS_EACH, _SECONDS = 5, 20
# No program goes on like this: what crashes behind it is not the reader but what checks its result.
_NO_MLIR = b"\n\x01"


def crashing_line(data: bytes) -> int | None:
    """The number of the line at which MLIR's reader crashes; None where that is not to be found."""
    _, found, _ = forked(lambda: str(_search(data)).encode())
    return int(found or b"0") or None


def _search(data: bytes) -> int:
    """The length in lines of the shortest beginning that crashes; 0 where none does."""
    # Imported here, in a process of its own: the caller may be without MLIR.
    from .session import Session

    session = Session()
    session.context.allow_unregistered_dialects = True
    lines = data.splitlines(keepends=True)
    ends = monotonic() + _SECONDS

    def crashes(count: int) -> bool:
        text = b"".join(lines[:count]) + _NO_MLIR
        status, _, _ = forked(lambda: _read(text, session))
        return status < 0

    if not crashes(len(lines)):
        return 0
    passes, fails = 0, len(lines)
    while fails - passes > 1 and monotonic() < ends:
        middle = (passes + fails) // 2
        passes, fails = (passes, middle) if crashes(middle) else (middle, fails)
    return fails if fails - passes == 1 else 0


def _read(text: bytes, session: Session) -> bytes:
    from ..dialects.mlir import ir, load_named_dialects

    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS_EACH, _SECONDS_EACH))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    load_named_dialects(text, session.context)
    ir.Module.parse(text, session.context)
    return b""
