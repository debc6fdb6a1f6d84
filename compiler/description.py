"""What an output says of how it was made, for `hirc --describe`: a section, an entry a unit.

The section `.hirc.description` holds JSON objects, each ended by a newline; a link puts those of
all units one after the other. Nothing reads it when a program runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from .. import __version__
from .options import Emit, Options
from .target import Target

SECTION = ".hirc.description"

# The options that change code, and how the command line spells them where they are not the default.
_FLAGS = {
    "debug": "-g",
    "fast_math": "--fast-math",
    "flush_denormals": "--ftz",
    "bare_pointers": "--kernel-bare-pointers",
    "compress": "--offload-compress",
    "rdc": "--offload-rdc",
}
_CHOICES = {
    "float32_products": "float32-products",
    "products": "products",
    "convolutions": "convolutions",
    "schedules": "schedules",
    "graphs": "graph",
    "state": "state",
}


def describe_unit(
    source: str,
    options: Options,
    targets: Sequence[Target],
    versions: Mapping[str, str],
    contents: Mapping[str, Any],
) -> bytes:
    """One entry: `contents` are the unit's programs and weights, `versions` those of the tools."""
    entry = {
        "source": source,
        "versions": {"hirc": __version__, **versions},
        "chips": [target.arch for target in targets],
        "options": list(_words(options)),
        **contents,
    }
    return json.dumps(entry, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


def read_description(section: bytes) -> list[dict[str, Any]]:
    """Returns the entries of a section. Raises ValueError for anything else."""
    return [json.loads(line) for line in section.replace(b"\0", b"").splitlines() if line]


def _words(options: Options) -> Iterator[str]:
    """Yields the options that change code, as words of the command line."""
    defaults = {each.name: each.default for each in fields(Options)}
    yield f"-O{options.opt_level}"
    for name, word in _FLAGS.items():
        if getattr(options, name):
            yield word
    for name, word in _CHOICES.items():
        value = getattr(options, name)
        if value != defaults[name]:
            yield f"--{word}={value}"
    if not options.host.is_native:
        yield f"--host={options.host.name}"
    if options.glibc is not None:
        yield f"--glibc={options.glibc}"
    if options.overlap_steps:
        yield f"--overlap-steps={options.overlap_steps}"
    if options.overlap_by_peers:
        yield "--overlap-by-peers"
    if options.sharding is not None:
        yield from options.sharding.words
    if options.checks:
        yield f"--check={','.join(sorted(options.checks))}"
    if options.emit is Emit.EXE and options.entry != "main":
        yield f"--entry={options.entry}"
    yield from (f"--ptxas-arg={word}" for word in options.ptxas_arguments)
