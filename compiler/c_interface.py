"""What C needs of a library's programs: a header, and a file for pkg-config."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from itertools import chain, count
from pathlib import Path
from zlib import crc32

from ..dialects.mlir import ir
from ..dialects.records import dataclass
from ..pipelines.body_names import BODY_PREFIX
from ..pipelines.hir.interface.exports import communicates
from ..pipelines.hir.interface.signature import Signature, Value, read_signature
from ..pipelines.hir.interface.weights import program_name

_ROLES = ("input", "output")
# DLTensor as the DLPack specification has it, where that header is not at hand.
_DLPACK = """\
#if defined(__has_include) && __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>
#elif !defined(DLPACK_DLPACK_H_) && !defined(HIRC_DLTENSOR)
#define HIRC_DLTENSOR
typedef struct {
  int32_t device_type, device_id;  /* type 1: the host's memory, 2: a GPU's, 10: AMD's */
} DLDevice;
typedef struct {
  uint8_t code, bits;              /* code 0: signed, 1: unsigned, 2: float, 4: bf16, 6: bool */
  uint16_t lanes;                  /* 1 */
} DLDataType;
typedef struct {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape, *strides;        /* in elements; strides NULL: packed rows */
  uint64_t byte_offset;
} DLTensor;
#endif
"""
_FUNCTIONS = """\
/* The calling thread's last error. */
const char *hirc_last_error(void);
/* Frees an output that a program allocated, in the order of a stream. Returns 0, or an error. */
int hirc_free_output(void *data, void *stream);
/* Waits for a stream. Returns 0, or an error. */
int hirc_synchronize(void *stream);
"""
_WEIGHTS_FUNCTIONS = """\
/* Weights: see docs/weights.md. They return 0, or an error. */
int hirc_load_weights(void);
int hirc_use_weights_file(const char *path);
int hirc_use_weights(const char *const *names, const DLTensor *const *tensors, int64_t count);
void hirc_unload_weights(void);
"""
_COMMUNICATION_FUNCTIONS = """\
/* Before the first call: an ncclComm_t, or NULL, with this process's rank and the number of
   processes; where they meet, or NULL. See docs/communication.md. Returns 0, or an error. */
int hirc_use_communicator(void *communicator, int rank, int size, const char *meeting);
/* The library communicates no more, and the other processes hear why. Returns 0, or an error. */
int hirc_give_up_communicator(const char *why);
/* The library communicates no more. exit() does this; a process that ends otherwise, as by _exit(),
   without it has failed, to the others. */
void hirc_leave_communicator(void);
/* Makes a device the calling thread's current one. Returns 0, or an error. */
int hirc_use_device(int device);
"""
_STATE_FUNCTIONS = """\
/* State: see docs/state.md. Those that return int return 0, or an error. */
typedef struct hirc_instance hirc_instance;
hirc_instance *hirc_create_state(void);
void hirc_free_state(hirc_instance *instance);
void hirc_use_state(hirc_instance *instance);
int hirc_reset_state(void *stream);
int hirc_manual_seed(uint64_t seed, uint64_t offset, void *stream);
int hirc_state_tensor(const char *name, DLTensor *tensor);
"""


@dataclass(frozen=True)
class CProgram:
    """A program as C sees it: inputs and outputs are names and types."""

    name: str
    inputs: tuple[tuple[str, str], ...]
    outputs: tuple[tuple[str, str], ...]
    has_weights: bool
    has_state: bool
    communicates: bool


def read_programs(module: ir.Operation) -> list[CProgram]:
    """Returns the programs of a module after stage `interface`."""
    found: list[CProgram] = []
    for op in module.regions[0].blocks[0]:
        if op.operation.name != "func.func" or "hir.inputs" not in op.operation.attributes:
            continue
        symbol = ir.StringAttr(op.operation.attributes["sym_name"]).value
        if not symbol.startswith(BODY_PREFIX) and program_name(symbol) == symbol:
            continue
        signature = read_signature(op.operation, program_name(symbol))
        found.append(_described(signature, communicates=communicates(module)))
    return found


def _described(signature: Signature, *, communicates: bool) -> CProgram:
    def named(values: Sequence[Value]) -> tuple[tuple[str, str], ...]:
        return tuple((value.name, value.text) for value in values)

    # State begins with weights.
    return CProgram(
        signature.name,
        named(signature.inputs),
        named(signature.outputs),
        signature.has_weights or signature.has_state,
        signature.has_state,
        communicates,
    )


def header(path: Path, programs: Sequence[CProgram]) -> str:
    """Returns the header for `programs`, which is to be the file `path`."""
    guard = _guard(path.stem)
    names = _Names()
    # Names that are C's own come first: they are what callers expect.
    ordered = sorted(programs, key=lambda program: _identifier(program.name) != program.name)
    of = {id(program): names.of_program(program.name) for program in ordered}
    parts = [
        "/* Written by hirc. docs/library.md says how programs are called. */\n"
        f"#ifndef {guard}\n#define {guard}\n\n#include <stdint.h>\n\n{_DLPACK}\n"
        '#ifdef __cplusplus\nextern "C" {\n#endif\n',
        # One for all headers that a file includes.
        "#ifndef HIRC_RESULTS\n#define HIRC_RESULTS\n"
        "enum {\n  HIRC_REFUSED = 1, /* a tensor is wrong, or there are no weights */\n"
        "  HIRC_FAILED = 2 /* something failed on the way */\n};\n#endif\n",
        _FUNCTIONS,
    ]
    if any(program.has_weights for program in programs):
        parts.append(_WEIGHTS_FUNCTIONS)
    if any(program.has_state for program in programs):
        parts.append(_STATE_FUNCTIONS)
    if any(program.communicates for program in programs):
        parts.append(_COMMUNICATION_FUNCTIONS)
    parts += [_program(program, of[id(program)], names) for program in programs]
    parts.append(f"#ifdef __cplusplus\n}}\n#endif\n#endif /* {guard} */\n")
    return "\n".join(parts)


class _Names:
    """The names that a header has declared, each once."""

    def __init__(self) -> None:
        texts = (_FUNCTIONS, _WEIGHTS_FUNCTIONS, _COMMUNICATION_FUNCTIONS, _STATE_FUNCTIONS)
        self._taken = set(re.findall(r"\bhirc_\w+", "".join(texts)))

    def of_program(self, name: str) -> str:
        """Returns what stands for a program in names that are like no other's."""
        word = _identifier(name)
        for candidate in chain([word], (f"{word}_{number}" for number in count(2))):
            made = {_function(candidate), *(_count(candidate, role) for role in _ROLES)}
            if not made & self._taken:
                self._taken |= made
                return candidate
        raise AssertionError

    def of_value(self, program: str, role: str, name: str, place: int) -> str:
        """Returns the name of an input's or output's place; by that where its own is taken."""
        word = f"hirc_{program}_{role}_"
        first = (word + _identifier(name), f"{word}{place}")
        for candidate in chain(first, (f"{word}{place}_{number}" for number in count(2))):
            if candidate not in self._taken:
                self._taken.add(candidate)
                return candidate
        raise AssertionError


def _function(word: str) -> str:
    return f"hirc_program_{word}"


def _count(word: str, role: str) -> str:
    return f"hirc_{word}_{role}s"


def _program(program: CProgram, name: str, names: _Names) -> str:
    lines = [f"/* {_comment(program)} */"]
    for role, values in zip(_ROLES, (program.inputs, program.outputs), strict=True):
        if not values:
            continue
        lines.append("enum {")
        for place, (each, kind) in enumerate(values):
            constant = names.of_value(name, role, each, place)
            lines.append(f"  {constant} = {place}, /* {_plain(kind)} */")
        lines.append(f"  {_count(name, role)} = {len(values)}")
        lines.append("};")
    symbol = f"hirc_program_{program.name}"
    label = "" if _function(name) == symbol else f" __asm__({_quoted(symbol)})"
    lines.append(
        f"int {_function(name)}(const DLTensor *const *inputs, DLTensor *const *outputs,\n"
        f"    void *stream){label};"
    )
    return "\n".join(lines) + "\n"


def _guard(stem: str) -> str:
    """Returns the macro that a header is read once by, of like names of headers another each."""
    word = _identifier(stem)
    told = "" if word == stem and stem == stem.lower() else f"_{crc32(os.fsencode(stem)):08X}"
    return f"HIRC_{word.upper()}{told}_H"


# What C writes for characters of a string, in the label of a symbol too.
_ESCAPED = {
    "\\": "\\\\",
    '"': '\\"',
    "?": "\\?",
    **dict(zip("\a\b\f\n\r\t\v", ("\\a", "\\b", "\\f", "\\n", "\\r", "\\t", "\\v"), strict=True)),
}


def _quoted(symbol: str) -> str:
    return '"' + "".join(_ESCAPED.get(each, each) for each in symbol) + '"'


def _comment(program: CProgram) -> str:
    def listed(values: Sequence[tuple[str, str]]) -> str:
        return ", ".join(f"{_plain(name)}: {_plain(kind)}" for name, kind in values)

    return f"{_plain(program.name)}({listed(program.inputs)}) -> ({listed(program.outputs)})"


def _plain(text: str) -> str:
    """Returns a name as it may stand in a comment."""
    return (
        "".join(c if c.isprintable() else "?" for c in text)
        .replace("*/", "* /")
        .replace("/*", "/ *")
    )


def _identifier(text: str) -> str:
    """Returns the text as part of a C identifier."""
    return re.sub(r"[^0-9A-Za-z_]", "_", text)


def pkg_config(library: Path, programs: Sequence[CProgram]) -> str:
    """Returns the file for pkg-config that lies beside `library`, as its header does."""
    names = ", ".join(_plain(program.name) for program in programs)
    named = re.fullmatch(r"lib(.+)\.so", library.name)
    link = f"-l{named[1]}" if named else f"-l:{library.name}"
    # Imported late: most compilations write no file, and it takes as long as a pass.
    from importlib.metadata import version

    return (
        "libdir=${pcfiledir}\n\n"
        f"Name: {stem_of(library)}\n"
        f"Description: Programs built by hirc: {names}\n"
        f"Version: {version('hirc')}\n"
        'Cflags: -I"${libdir}"\n'
        f'Libs: -L"${{libdir}}" {link}\n'
    )


def stem_of(library: Path) -> str:
    """Returns the name of the files that belong to a library, without their suffix."""
    return library.name.removeprefix("lib").partition(".")[0] or library.name
