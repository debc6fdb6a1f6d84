"""Streams by name and by number, and events."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import Library

_NAMED = (
    "lib.hirc_stream_named.restype = lib.hirc_stream_of_pool.restype = c.c_void_p",
    "lib.fake_log.restype = lib.hirc_event_record.restype = c.c_void_p",
    "table = lambda: (c.c_void_p * 64)()",
    "named = lambda known, name: lib.hirc_stream_named(known, name, b'')",
    "numbered = lambda i, pool: lib.hirc_stream_of_pool(c.c_int64(i), c.c_int64(pool), b'')",
)


def test_a_name_is_one_stream_of_a_device(library: Library) -> None:
    done = library.run(
        *_NAMED,
        "first, second = table(), table()",
        "a = named(first, b'copy'); print(a == named(first, b'copy'), a == named(second, b'copy'))",
        "print(a == named(table(), b'compute'), lib.fake_streams_alive())",
        "lib.cudaSetDevice(1); b = named(first, b'copy')",
        "lib.cudaSetDevice(0); print(a == b, a == named(first, b'copy'), flush=True)",
        "lib.fake_fail(b'cudaStreamCreateWithFlags', 2)",
        "lib.hirc_stream_named(table(), b'third', b'p.mlir:9:9')",
    )
    assert done.stdout.split() == ["True", "True", "False", "2", "False", "True"]
    assert done.stderr.startswith("p.mlir:9:9: error: cudaStreamCreateWithFlags failed: ")


def test_a_number_is_a_stream_modulo_the_pool(library: Library) -> None:
    done = library.run(
        *_NAMED,
        "four = [numbered(i, 4) for i in range(8)]",
        "print(len(set(four)), four[:4] == four[4:], numbered(-1, 4) == four[3])",
        "print(numbered(5, 8) in four, lib.fake_streams_alive())",
    )
    assert done.stdout.split() == ["4", "True", "True", "False", "5"]


def test_an_event_goes_back_to_the_pool(library: Library) -> None:
    done = library.run(
        *_NAMED,
        "side = c.c_void_p(numbered(0, 1)); lib.fake_reset()",
        "event = lib.hirc_event_record(side, b'')",
        "other = lib.hirc_event_record(None, b'')",
        "lib.hirc_event_release(c.c_void_p(event), b'')",
        "print(event == other, event == lib.hirc_event_record(None, b''))",
        "print(c.string_at(lib.fake_log()).decode())",
    )
    assert done.stdout.splitlines()[:-1] == [
        "False True",
        "cudaEventCreateWithFlags 1 flags=2",
        "cudaEventRecord 1 in 0",
        "cudaEventCreateWithFlags 2 flags=2",
        "cudaEventRecord 2 in -1",
        "cudaEventRecord 1 in -1",
    ]


_THREADS = """
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "hirc_runtime.h"
extern int fake_quiet;
int fake_streams_alive(void);
static pthread_barrier_t start;
static void *work(void *unused) {
  pthread_barrier_wait(&start);
  for (int i = 0; i < 2000; ++i) {
    void *known[64] = {0}, *again[64] = {0};
    char name[16];
    snprintf(name, sizeof name, "%d", i);
    if (hirc_stream_named(known, name, "") != hirc_stream_named(again, name, ""))
      abort();
  }
  return unused;
}
int main(void) {
  pthread_t threads[16];
  fake_quiet = 1;
  pthread_barrier_init(&start, NULL, 16);
  for (int i = 0; i < 16; ++i) pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 16; ++i) pthread_join(threads[i], NULL);
  printf("%d\\n", fake_streams_alive());
}
"""


def test_names_bear_many_threads(library: Library) -> None:
    parts = [library.bitcode[name] for name in ("named_streams", "streams", *library.failing)]
    done = library.execute("named_threads", _THREADS, *parts, library.fake, "-lpthread")
    assert (done.returncode, done.stdout) == (0, "2000\n")
