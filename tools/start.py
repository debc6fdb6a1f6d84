"""What a command does before it imports anything else: imports take a while, in which a signal may
come.
"""

from __future__ import annotations

import signal


def end_by_interrupts() -> None:
    """Lets SIGINT end this process as SIGTERM does, in place of an exception of Python's."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
