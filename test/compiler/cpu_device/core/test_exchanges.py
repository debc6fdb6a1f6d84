"""Results of shuffles and votes around loops, structs in phis, recursion beside barriers."""

from __future__ import annotations

import numpy as np

from support.cpu_kernels import Launch

from .building import Build, zeros


def test_shuffle_loops(build: Build) -> None:
    results = build("shuffle_loops.c").run(
        Launch("k", [zeros(64), np.int32(5)], block=(64, 1, 1)),
        Launch("st", [zeros(64), np.int32(6)], block=(64, 1, 1)),
    )
    n = 5
    N = 64
    v = list(range(N))
    keep = [0] * N
    p = [0] * N
    for i in range(n):
        a = [v[t // 32 * 32 + (t + i & 31)] for t in range(N)]
        for w in (0, 1):
            L = range(w * 32, w * 32 + 32)
            any_ = any(a[t] == i for t in L)
            b = sum((a[t] & 1) << (t & 31) for t in L)
            for t in L:
                p[t] ^= any_
                if t & 4:
                    for j in range(t & 3):
                        keep[t] += a[t] * j
                v[t] = a[t] + (b & 3) + keep[t] + (1 if p[t] else 0)
    assert (results[0][0] == [v[N - 1 - t] + p[t] for t in range(N)]).all()
    o = []
    for t in range(64):
        x = (t, [1, 2, 3])
        for i in range(6):
            x = (x[0] + i, x[1]) if (i ^ t) & 1 else (i, [x[1][2], x[1][0], t])
        o.append(x[0] + x[1][0] * 100 + x[1][1] * 10000 + x[1][2] * 1000000)
    assert (results[1][0] == o).all()


def test_recursion_and_exit(build: Build) -> None:
    results = build("recursion_and_exit.c").run(
        Launch("k", [zeros(33)], block=(33, 1, 1)), Launch("one", [zeros(1)], block=(1, 1, 1))
    )

    def rec(n: int) -> tuple[int, int]:
        if n == 0:
            return (1, 0)
        a, b = rec(n - 1)
        c, d = rec(n // 2)
        return (a + c, n + b + d)

    o = [(lambda q: q[1] * 100 + q[0])(rec(t % 6)) for t in range(33)]
    o[5] = 0
    assert (results[0][0] == o).all()
    assert results[1][0][0] == 8
