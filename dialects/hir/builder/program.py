"""A program that is being built."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from ...mlir import ir
from ...records import dataclass
from ..layout import DYNAMIC, buffer_type, packed_strides
from ..mesh import mesh_fault
from ..program_mesh import mesh_of, spread_fault
from .branch import Value
from .buffer import Buffer
from .caller import Place, calling_place
from .calling import Calling
from .communication import Communication
from .computing import Computing
from .control import Control
from .element_names import scalar_type
from .errors import BuildError
from .scalar import Scalar
from .sizes import Extent, Size
from .verification import verify
from .viewing import Viewing

if TYPE_CHECKING:
    from types import TracebackType

    from .module import Module


@dataclass(frozen=True)
class Output:
    """An output of a program: its name, or None, its value, MLIR's value, and where it was said."""

    name: str | None
    value: Value
    operand: ir.Value
    place: Place
    spread: ir.Attribute | None = None

    @property
    def type(self) -> ir.Type:
        """The type that is declared."""
        return self.operand.type


class Program(Computing, Viewing, Control, Communication, Calling):
    """A host program. Everything in its `with` is written into it, in order.

        with hirc.program("main") as p:
            n = p.size("n")
            x = p.input("x", (n, 64), "f32")
            p.output("y", x.relu())

    Afterwards `text` is the module's text with locations, `module` the module, and str(p) the text
    for reading.
    """

    def __init__(self, owner: Module, name: str) -> None:
        super().__init__(owner.context, name)
        self.owner = owner
        self.inputs: dict[str, Buffer | Scalar | Size] = {}
        self.outputs: list[Output] = []
        self._descriptions: list[ir.Attribute] = []
        self._named: dict[str, Size] = {}
        # The first input, and its axis, that has a named size.
        self._measured: dict[str, tuple[ir.Value, int]] = {}
        self._state: Literal["new", "open", "finished", "failed"] = "new"

    def __enter__(self) -> Program:
        if self._state != "new":
            raise BuildError(f"program {self.name} is written in one `with`")
        attributes = {
            "sym_name": self.string(self.name),
            "function_type": self.type_attribute(ir.FunctionType.get([], [], self.context)),
        }
        at = ir.InsertionPoint(self.owner.ir_module.body)
        self._op = self.emit("hir.program", [], [], attributes, regions=1, at=at)
        self._block = ir.Block.create_at_start(self._op.regions[0], [], [])
        self._body = self.inside(self._block, f"program {self.name}")
        self._outermost = self._body.__enter__()
        self._state = "open"
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._state = "failed"
        try:
            if kind is None:
                for output in self.outputs:
                    attributes = {} if output.name is None else {"name": self.string(output.name)}
                    if output.spread is not None:
                        attributes["spread"] = output.spread
                    self.emit("hir.output", [output.operand], [], attributes, place=output.place)
        finally:
            self._body.__exit__(None, None, None)
        if kind is None:
            types = [argument.type for argument in self._block.arguments]
            declared = ir.FunctionType.get(
                types, [output.type for output in self.outputs], self.context
            )
            self._op.attributes["function_type"] = self.type_attribute(declared)
            self._op.attributes["inputs"] = ir.ArrayAttr.get(self._descriptions, self.context)
            verify(self._op)
            self._state = "finished"

    def require_finished(self, what: str) -> None:
        """Raises BuildError where the program is not there as a whole."""
        if self._state != "finished":
            raise BuildError(f"{what}, but it is {self._state}", "its `with` must end first")

    @property
    def module(self) -> ir.Module:
        """MLIR's module that holds the program."""
        self.require_finished(f"program {self.name} is asked for its module")
        return self.owner.module

    @property
    def text(self) -> str:
        """The text of the module that holds the program, with locations."""
        self.verify()
        return self.unverified_text

    @property
    def unverified_text(self) -> str:
        """The text for who calls verify() before anything is made of it."""
        return self.owner.unverified_text

    def verify(self) -> None:
        """Raises BuildError where it is not finished, or the module is not valid."""
        self.require_finished(f"program {self.name} is asked for its text")
        self.owner.verify()

    def __str__(self) -> str:
        return str(self.owner)

    # Inputs and outputs.

    def size(self, name: str) -> Size:
        """Returns the size of that name. Inputs that have it are checked to agree when the program
        runs.
        """
        if not isinstance(name, str) or not name:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise BuildError(f"a size has a name, not {name!r}")
        if name not in self._named:
            if self._state != "open":
                raise self._not_open("sizes")
            self._named[name] = self.new_size(name, self._outermost, lambda: self._measure(name))
        return self._named[name]

    def input(
        self,
        name: str,
        shape: Sequence[Extent | str],
        element: str,
        order: Sequence[int] | None = None,
        strides: Literal["any"] | Sequence[int | None] | None = None,
        alignment: int | None = None,
        spread: Sequence[str] | None = None,
    ) -> Buffer:
        """Returns an input buffer. A size is a number, a size of the program or its name.

        It is packed, with the dims from outermost to innermost as in `order`. `strides="any"` takes
        whatever comes; a sequence says them, None for those that may be anything. `alignment` is
        that of its first element, in bytes. In a program over a mesh `spread` says how the devices
        have it, one of "whole" and "axis:N" for each axis of the mesh.
        """
        if isinstance(shape, (str, int, Size)):
            raise BuildError(f"a shape is a tuple of sizes, not {shape!r}", f"write ({shape!r},)")
        sizes = [self.size(size) if isinstance(size, str) else size for size in shape]
        written = [self._input_size(size) for size in self.sizes(sizes)]
        dims = [DYNAMIC if isinstance(size, Size) else size for size in sizes]
        element_type = self.element(element)[1]
        declared = buffer_type(dims, element_type, self._input_strides(dims, order, strides))
        entries: dict[str, ir.Attribute] = {"sizes": ir.ArrayAttr.get(written, self.context)}
        if alignment is not None:
            if alignment < 1 or alignment & (alignment - 1):
                raise BuildError(f"an alignment is a power of two, in bytes, not {alignment}")
            entries["alignment"] = self.integer(alignment)
        if spread is not None:
            entries["spread"] = self.spreads(spread, declared)
        value = self._add_input(name, declared, entries)
        for axis, size in enumerate(sizes):
            if isinstance(size, Size):
                self._measured.setdefault(str(size), (value, axis))
        self.inputs[name] = buffer = Buffer(self, value, tuple(sizes), self._outermost)
        return buffer

    def scalar(self, name: str, type: str) -> Any:
        """Returns an input that is a number; one of type "index" is a size."""
        value = self._add_input(name, self.type(scalar_type(type)), {})
        self.inputs[name] = scalar = self.new_scalar(value, name, self._outermost)
        return scalar

    def mesh(self, sizes: Sequence[int]) -> None:
        """Makes the program one over a mesh of devices with axes of these sizes.

        It says what the whole is; `spread` of inputs and outputs says what each device has of it.
        """
        if self._state != "open":
            raise self._not_open("its mesh")
        if len(list(self._block.operations)) or self.inputs:
            raise BuildError("a program's mesh is said before anything else of it")
        attribute = self.integers(sizes)
        fault = mesh_fault(attribute)
        if fault is not None:
            raise BuildError(fault)
        self._op.attributes["mesh"] = attribute

    def spreads(self, given: Sequence[str], declared: ir.Type) -> ir.Attribute:
        attribute = self.strings(given)
        fault = spread_fault(attribute, declared, mesh_of(self._op))
        if fault is not None:
            raise BuildError(f"'spread' {fault}")
        return attribute

    def output(self, name: str | None, value: Value, spread: Sequence[str] | None = None) -> None:
        """Makes `value` the program's next output; without a name it is called by its number.

        In a program over a mesh `spread` says how the devices have it, whole without it.
        """
        if not (name is None or isinstance(name, str)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise BuildError(f"an output has a name, or None, not {name!r}", 'p.output("y", y)')
        if name is not None and any(output.name == name for output in self.outputs):
            raise BuildError(f"program {self.name} has an output {name!r} already")
        if len(self._open) > 1:
            raise BuildError(
                f"an output of program {self.name} is given in {self.scope.name}",
                "give it outside; a branch gives values out with branch.output",
            )
        operand = self.any_value(value, "the output")
        spreads = None if spread is None else self.spreads(spread, operand.type)
        self.outputs.append(Output(name, value, operand, calling_place(), spreads))

    def _not_open(self, what: str) -> BuildError:
        return BuildError(
            f"program {self.name} is not being built here", f"write {what} inside its `with`"
        )

    def _add_input(
        self, name: str, declared: ir.Type, entries: dict[str, ir.Attribute]
    ) -> ir.Value:
        if not isinstance(name, str) or not name:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise BuildError(f"an input has a name, not {name!r}")
        if name in self.inputs:
            raise BuildError(f"program {self.name} has an input {name!r} already")
        if self._state != "open":
            raise self._not_open("inputs")
        entries = {"name": self.string(name), **entries}
        self._descriptions.append(ir.DictAttr.get(entries, self.context))
        return self._block.add_argument(declared, self.location(name=name))

    def _input_size(self, size: Extent) -> ir.Attribute:
        if isinstance(size, int):
            return self.integer(size)
        named = self._named.get(str(size))
        if named is None or named.terms != size.terms:
            raise BuildError(
                f"the size of an input is a number or has a name; {size} is computed",
                "give it a name of its own: p.size(...)",
            )
        return self.string(str(size))

    def _input_strides(
        self,
        dims: Sequence[int],
        order: Sequence[int] | None,
        strides: Literal["any"] | Sequence[int | None] | None,
    ) -> Sequence[int] | None:
        if order is not None and strides is not None:
            raise BuildError("an input has an order or strides, not both")
        if strides == "any":
            return [DYNAMIC] * len(dims)
        if strides is not None:
            if len(strides) != len(dims):
                raise BuildError(f"{len(dims)} dims have {len(dims)} strides, not {len(strides)}")
            if any(stride is not None and stride < 0 for stride in strides):
                raise BuildError(f"the strides of an input are not negative: {tuple(strides)}")
            return [DYNAMIC if stride is None else stride for stride in strides]
        if order is None:
            return None
        if sorted(order) != list(range(len(dims))):
            raise BuildError(f"an order has each of the {len(dims)} dims once; it is {list(order)}")
        placed = packed_strides([dims[dim] for dim in order])
        return [placed[list(order).index(dim)] for dim in range(len(dims))]

    def _measure(self, name: str) -> ir.Value:
        if name not in self._measured:
            raise BuildError(
                f"the size {name} is needed, but no input has it so far",
                "write the input that has it first",
            )
        buffer, axis = self._measured[name]
        number = self.constant_value(self.index, axis)
        return self.prologue("memref.dim", [buffer, number], self.index)
