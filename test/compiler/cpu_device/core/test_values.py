"""Values, arrays and parameters that threads keep over barriers."""

from __future__ import annotations

import numpy as np

from support.cpu_kernels import Launch

from .building import Build, zeros


def test_types(build: Build) -> None:
    results = build("types.c").run(
        Launch(
            "k",
            [zeros(64), zeros(64, np.float32), (np.arange(64) * 7 % 23).astype(np.int32)],
            block=(64, 1, 1),
        )
    )
    inn = np.arange(64) * 7 % 23
    o = []
    f = []
    for t in range(64):
        a = int(inn[t])
        x = int(a > 3) + a + a + t + a + a + t + 3 + 1
        if inn[t + 1 & 63] & 1:
            x += 100000
        x += sum((a + i) * i for i in range(16))
        o.append(x)
        f.append(a + 2 * t + a + t + a + t + a)
    assert (results[0][0] == o).all()
    assert (results[0][1] == np.array(f, np.float32)).all()


def test_arrays(build: Build) -> None:
    results = build("arrays.c").run(Launch("k", [zeros(64), np.int32(11)], block=(64, 1, 1)))
    n = 11
    o = []
    X = []
    S = []
    indices = []
    for t in range(64):
        a = [i * t for i in range(17)]
        i = (t + n) % 64 % 17
        x = a[i]
        a[(i + 3) % 17] += 1000
        S.append(a[(t + i) % 17])
        indices.append(i)
        X.append(x)
    for t in range(64):
        b = [[i * j + t for j in range(5)] for i in range(4)]
        x = X[t]
        for q in range(n):
            b[q % 4][indices[t] % 5] += q
            x += b[t % 4][q % 5]
        o.append(x + S[(t + 1) % 64] + [t, 2, 3][t % 3] + [1, t, 3][t % 3])
    assert (results[0][0] == o).all()


def test_byval(build: Build) -> None:
    results = build("byval.c").run(
        Launch(
            "k",
            [np.array([1, 2, 3, 4, 5, 6, 7, 0, 9, 0], np.int32).tobytes(), zeros(40)],
            block=(40, 1, 1),
        ),
        Launch(
            "k2",
            [np.array([1, 2, 3, 4, 5, 6, 7, 0, 9, 0], np.int32).tobytes(), zeros(40)],
            block=(40, 1, 1),
        ),
        Launch(
            "k3",
            [np.array([1, 2, 3, 4, 5, 6, 7, 0, 9, 0], np.int32).tobytes(), zeros(40)],
            block=(40, 1, 1),
        ),
    )
    o = []
    o2 = []
    for t in range(40):
        a = [1, 2, 3, 4, 5, 6]
        a[t % 6] += t
        o2.append(sum(a[i] * (i + 1) for i in range(6)) + 7 + 9)
        a[(t + 1) % 6] *= 2
        o.append(sum(a[i] * (i + 1) for i in range(6)) + t + 9)
    assert (results[0][0] == o).all()
    assert (results[1][0] == o2).all()
    assert (results[2][0] == [t % 6 + 1 for t in range(40)]).all()


def test_parameters(build: Build) -> None:
    results = build("parameters.ll").run(
        Launch(
            "k",
            [
                zeros(32),
                np.array([100, 0, 0, 0, 2000, 0], np.int32).tobytes(),
                np.bool_(True),
                np.int8(-5),
                np.float16(7),
                np.array([1, 2, 30000, 0], np.float32).tobytes(),
                np.array([1, 400000], np.int64).tobytes(),
            ],
        )
    )
    assert (results[0][0] == 2100 + 1 - 5 + 7 + 30000 + 400000 + np.arange(32)).all()


def test_calling_convention(build: Build) -> None:
    results = build("calling_convention.c").run(Launch("k", [zeros(32), zeros(256, np.float32)]))
    o = []
    f = []
    for t in range(32):

        def ff(i: int, t: int = t) -> int:
            a = [t * j for j in range(8)]
            a[i] = 100
            return sum(a)

        o.append(ff(t % 8) + ff((t + 1) % 8) * 1000)
        for v in [t, 1, 2, 3, 4, 5, 6, 7]:
            a, b = (v, v + 1)
            for _ in range(3):
                a, b = (b, a + b)
            f.append(a * b)
    assert (results[0][0] == o).all()
    assert (results[0][1] == np.array(f, np.float32)).all()


def test_stack_pointer(build: Build) -> None:
    results = build("stack_pointer.ll").run(Launch("k", [zeros(32), np.int32(1)]))
    assert (results[0][0] == 10).all()


def test_dynamic_stack(build: Build) -> None:
    results = build("dynamic_stack.ll").run(Launch("k", [zeros(32), np.int32(5)]))
    assert (results[0][0] == np.arange(32)).all()
