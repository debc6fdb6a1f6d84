"""Launches of kernels, and calls of programs and C functions, in a program's builder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...mlir import ir
from .branch import Value
from .buffer import Buffer
from .caller import calling_place
from .element_names import scalar_type
from .errors import BuildError
from .kernel import Kernel, Kernels, three_sizes
from .scalar import Scalar
from .sizes import Atom, Extent, Size, replace_atoms
from .stream import Stream
from .values import Values

if TYPE_CHECKING:
    from .program import Program


class Calling(Values):
    """Calls what is not an operation of the dialect."""

    def gpu_module(self, text: str) -> Kernels:
        """Adds a gpu.module, given as text, to the module; gives its kernels by name."""
        return self._program().owner.gpu_module(text)

    def kernel(
        self,
        name: str,
        function: Kernel,
        block: int | Sequence[int] | None = None,
        shared_bytes: int | None = None,
        cluster: int | Sequence[int] | None = None,
        writes: Sequence[int] | None = None,
    ) -> Kernel:
        """Names a gpu function and what its launches have in common (see Module.kernel)."""
        owner = self._program().owner
        return owner.kernel(name, function, block, shared_bytes, cluster, writes)

    def launch(
        self,
        kernel: Kernel,
        *arguments: Buffer | Scalar | Size | int | float,
        grid: Extent | Sequence[Extent],
        block: Extent | Sequence[Extent] | None = None,
        shared_bytes: Extent | None = None,
        cluster: int | Sequence[int] | None = None,
        stream: Stream | None = None,
    ) -> None:
        """Launches a kernel on `stream` or the current one.

        A grid or block of fewer than three sizes is 1 in the others. A size or number takes the
        type of the kernel's parameter.
        """
        self.refuse_spread(f"the launch of {kernel.name}")
        if len(arguments) != len(kernel.parameters):
            raise BuildError(
                f"{kernel.name} takes {len(kernel.parameters)} arguments, not {len(arguments)}"
            )
        if block is None and kernel.block is None:
            raise BuildError(f"the launch of {kernel.name} has no block", "write block=256")
        sizes = [
            *three_sizes("the grid", grid),
            *three_sizes("the block", kernel.block or (1, 1, 1) if block is None else block),
            kernel.shared_bytes if shared_bytes is None else shared_bytes,
        ]
        operands = [self.extent_value(size) for size in sizes]
        if stream is not None:
            operands.append(self.own(stream, "the stream"))
        values = [
            self._argument(argument, parameter, f"argument {number} of {kernel.name}")
            for number, (argument, parameter) in enumerate(
                zip(arguments, kernel.parameters, strict=True)
            )
        ]
        attributes: dict[str, ir.Attribute] = {"kernel": self.symbol(*kernel.path)}
        if cluster is not None:
            attributes["cluster"] = self.integers(three_sizes("the cluster", cluster))
        self._with_arguments("hir.launch", operands, [], attributes, values)

    def call(
        self, program: Program, *inputs: Value, out: Mapping[int, Buffer] | None = None
    ) -> Any:
        """Runs another program of the module on the current stream, and gives its outputs.

        `out` has the buffers that outputs are written to, by the outputs' numbers. One output comes
        as it is, several as a tuple.
        """
        program.require_finished(f"program {program.name} is called")
        self.refuse_spread(f"the call of program {program.name}")
        if program.owner is not self._program().owner:
            raise BuildError(
                f"program {program.name} is of another module", "build both in one hirc.module()"
            )
        if len(inputs) != len(program.inputs):
            raise BuildError(
                f"program {program.name} takes {len(program.inputs)} inputs "
                f"({', '.join(program.inputs)}), not {len(inputs)}"
            )
        out = dict(out or {})
        values: list[tuple[ir.Value, int | None]] = [
            (self.any_value(value, f"input {name} of {program.name}"), None)
            for name, value in zip(program.inputs, inputs, strict=True)
        ]
        values.extend(
            (self.buffer_value(buffer, f"the destination of output {number}"), number)
            for number, buffer in sorted(out.items())
        )
        callee = self.symbol(program.name)
        op = self._with_arguments(
            "hir.call", [], [self.type("!hir.results_t")], {"callee": callee}, values
        )
        known = _known_sizes(program, inputs)
        results: list[Any] = []
        for number, output in enumerate(program.outputs):
            if number in out:
                results.append(out[number])
                continue
            index = {"index": self.integer(number)}
            value = self.value("hir.result", [op.results[0]], output.type, index)
            if isinstance(output.value, Buffer):
                sizes = [replace_atoms(self, size, known) for size in output.value.shape]
                results.append(self.new_buffer(value, sizes))
            else:
                results.append(self.new_scalar(value, f"output {number} of {program.name}"))
        return results[0] if len(results) == 1 else tuple(results)

    def host_call(self, function: str, *arguments: Value, result: str | None = None) -> Any:
        """Calls a C function: buffers as pointers to descriptors, scalars, then the current stream.

        `result` is the type of the scalar it returns, if it does.
        """
        self.refuse_spread(f"the call of {function}")
        if not function:
            raise BuildError("a C function has a name")
        attributes: dict[str, ir.Attribute] = {"callee": self.symbol(function)}
        if result is not None:
            returned = self.type_attribute(self.type(scalar_type(result)))
            attributes["result_types"] = ir.ArrayAttr.get([returned], self.context)
        values = [
            (self.any_value(value, f"argument {number} of {function}"), None)
            for number, value in enumerate(arguments)
        ]
        op = self._with_arguments(
            "hir.host_call", [], [self.type("!hir.results_t")], attributes, values
        )
        if result is None:
            return None
        index = {"index": self.integer(0)}
        value = self.value("hir.result", [op.results[0]], self.type(result), index)
        return self.new_scalar(value, f"the result of {function}")

    def _with_arguments(
        self,
        name: str,
        operands: list[ir.Value],
        results: list[ir.Type],
        attributes: Mapping[str, ir.Attribute],
        values: Sequence[tuple[ir.Value, int | None]],
    ) -> ir.Operation:
        op = self.emit(name, operands, results, attributes, regions=1)
        at = ir.InsertionPoint(ir.Block.create_at_start(op.regions[0], [], []))
        with self.writing(op, calling_place()):
            for value, destination in values:
                number = {} if destination is None else {"destination": self.integer(destination)}
                self.emit("hir.argument", [value], [], number, at=at)
        return op

    def _argument(
        self, argument: Value | float, parameter: ir.Type, what: str
    ) -> tuple[ir.Value, None]:
        if isinstance(argument, (int, float)) and not isinstance(parameter, ir.MemRefType):
            is_float = isinstance(parameter, ir.FloatType)
            if isinstance(argument, float) and not is_float:
                raise BuildError(f"{what} is a {parameter}, not {argument!r}")
            return self.constant_value(parameter, argument), None
        if isinstance(argument, float):
            raise BuildError(f"{what} is a {parameter}, not {argument!r}")
        if isinstance(argument, Size) and isinstance(parameter, ir.IntegerType | ir.FloatType):
            return self.any_value(argument.cast(str(parameter)), what), None
        return self.any_value(argument, what), None


def _known_sizes(program: Program, inputs: Sequence[Value]) -> dict[Atom, Extent]:
    """Returns what the callee's sizes are, where its inputs say."""
    known: dict[Atom, Extent] = {}
    for (_, declared), value in zip(program.inputs.items(), inputs, strict=True):
        if isinstance(declared, Buffer) and isinstance(value, Buffer):
            for size, given in zip(declared.shape, value.shape, strict=False):
                if isinstance(size, Size):
                    ((atom,),) = [monomial for monomial, _ in size.terms]
                    known.setdefault(atom, given)
        elif isinstance(declared, Size) and isinstance(value, (int, Size)):
            ((atom,),) = [monomial for monomial, _ in declared.terms]
            known[atom] = value
    return known
