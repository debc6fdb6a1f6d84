"""Loops and branches of a program's builder."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from ...mlir import ir
from .branch import Branch
from .scalar import Scalar
from .scalars import Scalars
from .sizes import Extent, Size


class Control(Scalars):
    """Host loops and branches, as `with` statements."""

    @contextmanager
    def loop(
        self,
        start: Extent,
        stop: Extent | None = None,
        step: Extent = 1,
        streams: int | None = None,
    ) -> Generator[Size, None, None]:
        """Runs what is in the `with` for each index, which it gives; bounds are those of `range`.

        With `streams` every iteration runs on its own stream of a pool of so many.
        """
        if stop is None:
            start, stop = 0, start
        operands = [self.extent_value(extent) for extent in (start, stop, step)]
        attributes = {} if streams is None else {"streams": self.integer(streams)}
        op = self.emit("hir.for", operands, [], attributes, regions=1)
        block = ir.Block.create_at_start(op.regions[0], [self.index], [self.location(name="i")])
        with self.writing(op), self.inside(block, "the loop") as scope:
            yield self.new_size("i", scope, lambda: block.arguments[0])

    def stop_loop(self, condition: Scalar | bool) -> None:
        """Makes this iteration of the loop around the last one, where the condition is true."""
        self.emit("hir.stop_loop", [self.condition_value(condition)], [])

    @contextmanager
    def branch(self, condition: Scalar | bool) -> Generator[Branch, None, None]:
        """Runs one of two blocks.

        with p.branch(n > 4) as branch:
            with branch.then:
                branch.output(x.relu())
            with branch.otherwise:
                branch.output(x.neg())
        y = branch.result
        """
        value = self.condition_value(condition)
        op = self.emit("hir.if", [value], [self.type("!hir.results_t")], regions=2)
        for region in op.regions:
            ir.Block.create_at_start(region, [], [])
        branch = Branch(self, op)
        with self.writing(op):
            yield branch
            branch.check()
        branch.take_results()
