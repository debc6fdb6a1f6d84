"""Running the streams of a Host IR program, to see that memory is freed after its last use."""

from __future__ import annotations

from dataclasses import dataclass, field

from hirc.dialects.mlir import ir

VIEWS = ("hir.select", "hir.slice", "hir.reshape", "hir.permute", "hir.expand", "memref.cast")


@dataclass
class StreamTrace:
    """The work that each stream has seen, as numbers; and that on each piece of memory."""

    condition: bool
    seen: dict[str, set[int]] = field(default_factory=dict[str, set[int]])
    used: list[set[int]] = field(default_factory=list[set[int]])
    memory: dict[ir.Value, int] = field(default_factory=dict[ir.Value, int])
    numbers: dict[ir.Value, int] = field(default_factory=dict[ir.Value, int])
    streams: dict[ir.Value, str] = field(default_factory=dict[ir.Value, str])
    results: dict[ir.Value, list[int]] = field(default_factory=dict[ir.Value, list[int]])
    work: int = 0
    frees: int = 0

    def run(self, block: ir.Block, stream: str = "caller") -> None:
        for view in block:
            op = view.operation
            if op.name == "hir.set_stream":
                stream = self.streams[op.operands[0]]
            else:
                self._step(op, stream)

    def wait(self, waiter: str, signaller: str) -> None:
        seen = self.seen.setdefault(signaller, set())
        self.seen.setdefault(waiter, set()).update(seen)

    def _fresh(self) -> int:
        self.used.append(set())
        return len(self.used) - 1

    def _use(self, place: int, stream: str) -> None:
        self.work += 1
        self.used[place].add(self.work)
        self.seen.setdefault(stream, set()).add(self.work)

    def _step(self, op: ir.Operation, stream: str) -> None:
        operands = list(op.operands)
        match op.name:
            case "arith.constant":
                self.numbers[op.results[0]] = ir.IntegerAttr(op.attributes["value"]).value
            case "hir.current_stream":
                self.streams[op.results[0]] = stream
            case "hir.stream":
                if operands:
                    number = self.numbers[operands[0]]
                    name = f"#{number % ir.IntegerAttr(op.attributes['pool']).value}"
                else:
                    name = ir.StringAttr(op.attributes["name"]).value
                self.streams[op.results[0]] = name
            case "hir.wait_stream":
                self.wait(self.streams[operands[0]], self.streams[operands[1]])
            case "hir.allocate":
                self.memory[op.results[0]] = self._fresh()
            case name if name in VIEWS or name == "hir.reuse":
                if operands[0] in self.memory:
                    self.memory[op.results[0]] = self.memory[operands[0]]
            case "hir.deallocate":
                left = self.used[self.memory[operands[0]]] - self.seen.setdefault(stream, set())
                assert not left, f"freed while other streams may use it: {op}"
                self.frees += 1
            case "hir.for":
                self._loop(op, stream)
            case "hir.if":
                block = op.regions[0 if self.condition else 1].blocks[0]
                self.run(block, stream)
                outputs = [one for one in block if one.operation.name == "hir.output"]
                self.results[op.results[0]] = [self.memory[one.operands[0]] for one in outputs]
            case "hir.call":
                self._call(op, stream)
            case "hir.result":
                given = self.results[operands[0]]
                self.memory[op.results[0]] = given[ir.IntegerAttr(op.attributes["index"]).value]
            case "hir.output":
                pass
            case _:
                for value in operands:
                    if value in self.memory:
                        self._use(self.memory[value], stream)

    def _loop(self, op: ir.Operation, stream: str) -> None:
        start, stop, step = (self.numbers[value] for value in op.operands)
        block = op.regions[0].blocks[0]
        used: list[str] = []
        for number, index in enumerate(range(start, stop, step)):
            self.numbers[block.arguments[0]] = index
            mine = stream
            if "streams" in op.attributes:
                mine = f"#{number % ir.IntegerAttr(op.attributes['streams']).value}"
                self.wait(mine, stream)
                used.append(mine)
            self.run(block, mine)
        for mine in used:
            self.wait(stream, mine)

    def _call(self, op: ir.Operation, stream: str) -> None:
        """The callee's work is on this stream; without a destination the result is fresh."""
        given = [self._fresh()]
        for argument in op.regions[0].blocks[0]:
            value = argument.operands[0]
            if value in self.memory:
                self._use(self.memory[value], stream)
                if "destination" in argument.attributes:
                    given = [self.memory[value]]
        self.results[op.results[0]] = given
