"""argparse's parser with hirc's errors."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from ..compiler.errors import InputError

if TYPE_CHECKING:
    from _typeshed import SupportsWrite


class Once(argparse.Action):
    """Stores an option's value, and refuses a second one."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        known = getattr(namespace, self.dest)
        if known is not None:
            parser.error(f"{option_string} is given twice, as '{known}' and '{values}'")
        setattr(namespace, self.dest, values)


def written_path(text: str) -> str:
    """Returns a path as it was written, or `-`. Raises ArgumentTypeError for an empty one."""
    if not text:
        raise argparse.ArgumentTypeError("expected a path, not an empty text")
    return text


def path(text: str) -> Path:
    """Returns a path. Raises ArgumentTypeError for an empty one."""
    return Path(written_path(text))


class ArgumentParser(argparse.ArgumentParser):
    """A parser that raises InputError for a wrong command line.

    Raises OSError where the text of --help or --version cannot be written, of which argparse says
    nothing.
    """

    def error(self, message: str) -> NoReturn:
        raise InputError(message, hint=f"{self.prog} --help lists the options")

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        (file or sys.stderr).write(message)
