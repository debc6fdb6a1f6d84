"""Shapes of blocks, and threads that wait for one another."""

from __future__ import annotations

import numpy as np

from support.cpu_kernels import Launch

from .building import Build, zeros


def test_shapes(build: Build) -> None:
    results = build("shapes.c").run(
        *[
            Launch("k", [zeros(2 * a * b * c)], grid=(2, 1, 1), block=(a, b, c))
            for a, b, c in (
                (1, 1, 1),
                (1, 7, 3),
                (33, 5, 2),
                (1024, 1, 1),
                (1, 1, 64),
                (3, 1, 5),
                (32, 32, 1),
                (31, 33, 1),
            )
        ]
    )
    for (a, b, c), res in zip(
        (
            (1, 1, 1),
            (1, 7, 3),
            (33, 5, 2),
            (1024, 1, 1),
            (1, 1, 64),
            (3, 1, 5),
            (32, 32, 1),
            (31, 33, 1),
        ),
        results,
        strict=False,
    ):
        e = [x + 100 * y + 10000 * z for z in range(c) for y in range(b) for x in range(a)][::-1]
        assert (res[0] == e + e).all()


def test_shuffles(build: Build) -> None:
    results = build("shuffles.c").run(
        Launch("k", [zeros(4 * 64 + 64), np.int32(64)], block=(64, 1, 1)),
        Launch("k", [zeros(5 * 40), np.int32(40)], block=(40, 1, 1)),
    )
    o = results[0][0].reshape(5, 64)
    t = np.arange(64)
    lane = t % 32
    b = t - lane
    assert (o[0] == (t ^ 1) * 3).all()
    assert (o[1] == np.where(lane + 5 < 32, t + 5, t)).all()
    assert (o[2] == np.where(lane % 8 >= 3, t - 3, t)).all()
    assert (o[3] == b + lane // 16 * 16 + lane * 7 % 16).all()


def test_atomics(build: Build) -> None:
    results = build("atomics.c").run(
        Launch(
            "h",
            [
                zeros(5),
                np.array([0, 0, -1, 0, 0, 0, 0], np.int32),
                zeros(8, np.float32),
                zeros(2, np.float64),
            ],
            block=(64, 1, 1),
        )
    )
    h, o, f, d = results[0]
    assert h.tolist() == [13, 13, 13, 13, 12]
    assert o.tolist() == [63, -63, 0, -1, 0, 64 % 11, (0 - 64) % 10]
    assert f[0] == 32
    assert d[0] == 16
    assert d[1] == -63
    assert f[3] == 63
    assert f[4] == sum(range(64))
    assert f[1:2].view(np.float16)[0] == 64
    assert f[2:3].view(np.uint16)[0] == 17024


def test_spinlock(build: Build) -> None:
    results = build("spinlock.c").run(
        Launch("k", [zeros(1), np.int32(3)], grid=(7, 1, 1), block=(33, 1, 1)),
        Launch("k2", [zeros(1), np.int32(3)], grid=(7, 1, 1), block=(33, 1, 1)),
    )
    assert results[0][0][0] == 7 * 33 * 3
    assert results[1][0][0] == 7 * 33 * 3


def test_flags(build: Build) -> None:
    results = build("flags.c").run(
        Launch("k", [zeros(256)], block=(256, 1, 1)),
        Launch("rev", [zeros(96)], block=(96, 1, 1)),
        Launch("rev2", [zeros(96)], block=(96, 1, 1)),
        Launch("blocks", [zeros(64)], grid=(64, 1, 1)),
    )
    e = [1]
    for _ in range(7):
        e.append(e[-1] * 2 + 1)
    assert (results[0][0] == np.repeat(e, 32)).all()
    assert (results[1][0] == np.arange(96) * 2).all()
    assert (results[2][0] == np.arange(96) * 2).all()
    assert (results[3][0] == np.arange(64) + 1).all()
