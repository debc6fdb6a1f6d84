"""What torch says by itself while it reads, exports and traces models."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def told_by_torch() -> Generator[list[BaseException]]:
    """Keeps torch from printing warnings and errors; yields the exceptions that it logs.

    What goes wrong is told by an exception, which hirc tells in its own words: torch's loggers, of
    which nearly every part has its own, print it too, with a traceback. What somebody asked torch
    to log by TORCH_LOGS is no warning, and is printed.
    """
    told: list[BaseException] = []

    def take(record: logging.LogRecord) -> bool:
        if record.levelno < logging.WARNING or record.name.partition(".")[0] != "torch":
            return True
        error = record.exc_info[1] if record.exc_info else None
        # A record comes by once for each handler.
        if error is not None and all(error is not each for each in told):
            told.append(error)
        return False

    handlers = _handlers()
    for handler in handlers:
        handler.addFilter(take)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield told
    finally:
        for handler in handlers:
            handler.removeFilter(take)


def _handlers() -> list[logging.Handler]:
    """Returns all that may print a torch log record: a logger's own, and those of the loggers
    above.
    """
    known = logging.root.manager.loggerDict.items()
    loggers = [
        logging.root,
        *(
            logger
            for name, logger in known
            if name.partition(".")[0] == "torch" and isinstance(logger, logging.Logger)
        ),
    ]
    found = [handler for logger in loggers for handler in logger.handlers]
    return [*found, *([logging.lastResort] if logging.lastResort is not None else [])]
