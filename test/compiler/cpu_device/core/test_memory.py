"""Shared memory, constants made of its addresses, and variables of the module."""

from __future__ import annotations

import numpy as np

from support.cpu_kernels import Launch

from .building import Build, zeros


def test_shared_constants(build: Build) -> None:
    results = build("shared_constants.c").run(
        Launch("k", [zeros(32), np.int32(1)]), Launch("k", [zeros(32), np.int32(4)])
    )
    s1 = list(range(32))
    s2 = [100 + t for t in range(32)]
    for n, res in zip((1, 4), results, strict=False):
        o = []
        for t in range(32):
            arr, off = (s1, 4) if n == 1 else (s2, 2)
            for _i in range(n):
                if arr is s1 and off == 4:
                    arr, off = (s2, 1)
                else:
                    off += 1
            x = (
                arr[off + t % 4]
                + ((s1 if n & 1 else s2)[t + 3] if t < 28 else 0) * 1000
                + (s1[1 + t % 8] + s2[2 + t % 8] * n) * 100000
                + s2[t]
                + s1[3 + t % 16]
            )
            o.append(x)
        assert (res[0] == np.array(o, np.int64).astype(np.int32)).all()


def test_call_levels(build: Build) -> None:
    results = build("call_levels.c").run(
        Launch("k", [zeros(40), np.int32(5)], block=(40, 1, 1)),
        Launch("k", [zeros(40), np.int32(1)], block=(40, 1, 1)),
        Launch("k2", [zeros(40), np.int32(1)], block=(40, 1, 1), shared=4 * 80),
        Launch("k3", [zeros(40), np.int32(1)], block=(40, 1, 1), shared=4 * 80),
    )
    N = 40

    def l3(v: list[int]) -> list[int]:
        return [v[(t + 1) % N] for t in range(N)]

    def l2(v: list[int], n: int) -> list[int]:
        for _i in range(n):
            v = [x + 1 for x in l3(v)]
        return v

    b = list(range(N))
    assert (results[0][0] == [x + y for x, y in zip(l2(b, 5), l2(b, 1), strict=False)]).all()
    assert (results[1][0] == [x + y for x, y in zip(l3(b), l2(b, 1), strict=False)]).all()
    o = l3([5 * (N - 1 - t) for t in range(N)])
    assert (results[2][0] == [o[t] + (N - t) * 1000 + 700000 for t in range(N)]).all()
    assert (results[3][0] == [N - t for t in range(N)]).all()


def test_globals(build: Build) -> None:
    results = build("globals.c").run(Launch("k", [zeros(40)], block=(40, 1, 1)))
    o = [
        [1, 2, 3, 4][t % 4]
        + 30
        + ord("world"[t % 5]) * 100
        + ord("hello"[t % 5]) * 100000
        + [7, 8, 9][t % 3]
        - 70000
        + 300
        + 780
        for t in range(40)
    ]
    assert (results[0][0] == o).all()


def test_aggregates(build: Build) -> None:
    results = build("aggregates.ll").run(Launch("k", [zeros(32), np.int32(1)]))
    o = [((m := (t & 7)), m + 2 * (m + 2) + (2 * m << 8) + (m + 1 << 16))[1] for t in range(32)]
    assert (results[0][0] == o).all()


def test_aliases(build: Build) -> None:
    results = build("aliases.ll").run(Launch("k", [zeros(32)]))
    assert (results[0][0] == 9).all()


def test_noalias_scope(build: Build) -> None:
    results = build("noalias_scope.ll").run(Launch("k", [zeros(32), np.arange(32, dtype=np.int32)]))
    assert (results[0][0] == np.arange(32)).all()


def test_quoted_names(build: Build) -> None:
    results = build("quoted_names.ll").run(Launch("ker nel-1$<int>", [zeros(32), np.int32(7)]))
    o = []
    for t in range(32):
        z = t
        while 1:
            z += 32
            if z >= 100:
                break
        o.append(z + 3 + t + 1)
    assert results[0][0].tolist() == o


def test_recursion(build: Build) -> None:
    results = build("recursion.c").run(Launch("k", [zeros(40)], block=(40, 1, 1)))

    def fib(n: int) -> int:
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    o = []
    for t in range(40):

        def q(n: int, t: int = t) -> int:
            return n * 4 + t

        def tri(n: int) -> int:
            return n * 3

        o.append(
            fib(t % 10)
            + (1 - t % 2) * 1000
            + [fib, tri, q][t % 3](t % 7) * 10000
            + [q, tri][t % 2](t) * 1000000
        )
    assert (results[0][0] == o).all()
