"""Control flow with barriers in it, as every thread of a block takes it."""

from __future__ import annotations

import numpy as np

from support.cpu_kernels import Launch

from .building import Build, zeros


def test_loop_phis(build: Build) -> None:
    results = build("loop_phis.c").run(Launch("k", [zeros(70), np.int32(9)], block=(70, 1, 1)))
    o = []
    for t in range(70):
        a, b, c = (t, 1, t * 3)
        for i in range(9):
            a, b = (b + i, a)
            if (i ^ t) & 1:
                c += a
            if i == 5:
                c ^= b
        o.append(a + b * 7 + c * 31)
    assert (results[0][0] == o).all()


def test_nested(build: Build) -> None:
    results = build("nested.c").run(Launch("k", [zeros(37), np.int32(6)], block=(37, 1, 1)))
    N = 37
    s = [0] * N
    acc = [0] * N
    for i in range(6):
        s = [i * t for t in range(N)]
        for j in range(i):
            acc = [acc[t] + s[(t + j) % N] for t in range(N)]
            s = [x + j for x in s]
    assert (results[0][0] == acc).all()


def test_switches(build: Build) -> None:
    results = build("switches.c").run(
        Launch("k", [zeros(64), np.int32(1)], block=(64, 1, 1)),
        Launch("k", [zeros(64), np.int32(2)], block=(64, 1, 1)),
        Launch("k", [zeros(64), np.int32(3)], block=(64, 1, 1)),
        Launch("k", [zeros(64), np.int32(9)], block=(64, 1, 1)),
    )
    for m, res in zip((1, 2, 3, 9), results, strict=False):
        v = [[t * 2, 7, -t, t * t, m][t % 5] for t in range(64)]
        s = list(v)
        if m == 1:
            v = [v[t] + s[(t + 1) % 64] for t in range(64)]
        if m == 2:
            v = [x - s[0] for x in v]
        if m in (2, 3):
            v = [x + 1 for x in v]
        assert (res[0] == v).all()


def test_early_returns(build: Build) -> None:
    results = build("early_returns.c").run(Launch("k", [zeros(50), np.int32(40)], block=(50, 1, 1)))
    e = [t + 3 if t < 40 else 0 for t in range(50)]
    e[3] = -1
    e[5] = -5
    assert (results[0][0] == e).all()


def test_exits(build: Build) -> None:
    results = build("exits.c").run(Launch("k", [zeros(32), np.int32(7)]))
    e = [t + 5 * (t & 1) for t in range(32)]
    e[7] = e[3] = 0
    assert (results[0][0] == e).all()


def test_exit_before_phi(build: Build) -> None:
    results = build("exit_before_phi.ll").run(Launch("k", [zeros(32), np.int32(7)]))
    assert results[0][0].tolist() == [1] * 7 + [0] + [1] * 24


def test_scopes(build: Build) -> None:
    results = build("scopes.c").run(Launch("k", [zeros(32), np.int32(40)]))
    o = []
    for t in range(32):
        i = 0
        x = 0
        while 1:
            a = [i, t, 3, 4]
            a[i & 3] += t
            if i > 8:
                break
            x += a[i + 1 & 3]
            i += 1
        o.append(x + t % 6 + t + t % 6 * t)
    assert (results[0][0] == o).all()


def test_noinline_call(build: Build) -> None:
    results = build("noinline_call.ll").run(Launch("k", [zeros(1)]))
    assert (results[0][0] == 5).all()
