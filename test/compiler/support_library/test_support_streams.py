"""Streams and events: reuse, order, threads, and one pool for all translation units."""

from __future__ import annotations

import importlib
import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conftest import Library


def test_streams_are_made_once_and_handed_out_in_turn(library: Library) -> None:
    done = library.run(
        "lib.hirc_stream_acquire.restype = lib.fake_log.restype = c.c_void_p",
        "a = [lib.hirc_stream_acquire(None) for _ in range(70)]",
        "print(len(set(a)), a[:32] == a[32:64], a[:6] == a[64:], lib.fake_streams_alive())",
        "print('flags=1' in c.string_at(lib.fake_log()).decode())",
        "lib.cudaSetDevice(1); b = lib.hirc_stream_acquire(None)",
        "print(b in a, flush=True)",
        "lib.fake_fail(b'cudaStreamCreateWithFlags', 2)",
        "lib.hirc_stream_acquire(b'p.mlir:9:9')",
    )
    assert done.stdout.split() == ["32", "True", "True", "32", "True", "False"]
    assert done.stderr.startswith("p.mlir:9:9: error: cudaStreamCreateWithFlags failed: ")


def test_one_stream_waits_for_another_through_an_idle_event(library: Library) -> None:
    done = library.run(
        "lib.hirc_stream_acquire.restype = lib.fake_log.restype = c.c_void_p",
        "first, second = [c.c_void_p(lib.hirc_stream_acquire(None)) for _ in range(2)]",
        "lib.cudaSetDevice(1); far = c.c_void_p(lib.hirc_stream_acquire(None))",
        "lib.cudaSetDevice(0); lib.fake_reset()",
        "lib.hirc_stream_wait(first, first, None)",
        "for a, b in ((first, second), (second, first), (first, None), (first, far)):",
        "    lib.hirc_stream_wait(a, b, None)",
        "print(c.string_at(lib.fake_log()).decode())",
    )
    assert done.stdout.split("\n")[:-2] == [
        "cudaEventCreateWithFlags 3 flags=2",
        "cudaEventRecord 3 in 1",
        "cudaStreamWaitEvent 0 for 3 flags=0",
        "cudaEventRecord 3 in 0",
        "cudaStreamWaitEvent 1 for 3 flags=0",
        "cudaEventRecord 3 in -1",
        "cudaStreamWaitEvent 0 for 3 flags=0",
        "cudaEventCreateWithFlags 4 flags=2",
        "cudaEventRecord 4 in 2",
        "cudaStreamWaitEvent 0 for 4 flags=0",
    ]


_THREADS = """
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "hirc_runtime.h"
extern int fake_quiet;
int fake_streams_alive(void), fake_events_alive(void);
void fake_last_wait(void **waiter, void **signaller);
static pthread_barrier_t start;
static void *work(void *unused) {
  pthread_barrier_wait(&start);
  for (int i = 0; i < 20000; ++i) {
    void *a = hirc_stream_acquire("a"), *b = hirc_stream_acquire("b"), *waiter, *signaller;
    if (a == b) continue;
    hirc_stream_wait(a, b, "c");
    fake_last_wait(&waiter, &signaller);
    if (waiter != a || signaller != b) abort();
  }
  return unused;
}
int main(void) {
  pthread_t threads[16];
  fake_quiet = 1;
  pthread_barrier_init(&start, NULL, 16);
  for (int i = 0; i < 16; ++i) pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 16; ++i) pthread_join(threads[i], NULL);
  printf("%d %d\\n", fake_streams_alive(), fake_events_alive() <= 8);
}
"""


def test_the_pools_bear_many_threads(library: Library) -> None:
    parts = [library.bitcode[name] for name in ("streams", *library.failing)]
    objects = [*parts, library.fake]
    done = library.execute("threads", _THREADS, *objects, "-lpthread")
    assert (done.returncode, done.stdout) == (0, "32 1\n")


def test_translation_units_with_a_copy_each_share_one_pool(library: Library) -> None:
    units = [_internalized_unit(library, name) for name in ("first", "second")]
    source = """#include <stdio.h>
    void *first(void), *second(void); int fake_streams_alive(void);
    int main(void) {
      for (int i = 0; i < 32; ++i) { first(); second(); }
      printf("%d\\n", fake_streams_alive());
    }"""
    done = library.execute("units", source, *units, library.fake)
    assert (done.returncode, done.stdout) == (0, "32\n")


def _internalized_unit(library: Library, name: str) -> Path:
    """An object with `name`, which acquires a stream through a copy of the library of its own."""
    source, bitcode, result = (library.folder / f"{name}.{end}" for end in ("c", "bc", "o"))
    source.write_text(
        f'#include "hirc_runtime.h"\nvoid *{name}(void);\n'
        f'void *{name}(void) {{ return hirc_stream_acquire("{name}"); }}'
    )
    library.compile(source, bitcode, "-emit-llvm")
    llvm: Any = importlib.import_module("llvmlite.binding")
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_bitcode(bitcode.read_bytes())
    for part in ("streams", *library.failing):
        module.link_in(llvm.parse_bitcode(library.bitcode[part].read_bytes()))
    for value in itertools.chain(module.functions, module.global_variables):
        if not value.is_declaration and value.name != name and "hirc_state" not in value.name:
            value.linkage = "internal"
    target = llvm.Target.from_default_triple().create_target_machine(reloc="pic")
    result.write_bytes(target.emit_object(module))
    return result
