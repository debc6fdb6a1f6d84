"""Python's operators, on buffers and on scalars."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from .errors import BuildError

_Operand = TypeVar("_Operand")
_Result = TypeVar("_Result")


def refused_by_torch(function: Any) -> BuildError:
    """Returns the error for a torch function that is called with a value of a program."""
    return BuildError(
        f"torch's {getattr(function, '__name__', 'function')} takes tensors, not what a program "
        "computes with",
        "a tensor goes in as an input: p.input(...), and to hirc.interpret",
    )


class Operators(Generic[_Operand, _Result]):
    """Each operator is the kind of that meaning; a class says how a kind is computed of its values.

    Operators give fresh values and write to none of their operands.
    """

    # numpy's arrays leave operators to what they are computed with.
    __array_ufunc__ = None

    @classmethod
    def __torch_function__(cls, function: Any, *_: object) -> Any:
        raise refused_by_torch(function)

    def apply(self, kind: str, *operands: _Operand | Operators[_Operand, _Result]) -> _Result:
        """Returns the kind of these operands, one of them self; NotImplemented where it is not for
        them.
        """
        raise NotImplementedError

    def __add__(self, other: _Operand) -> _Result:
        return self.apply("add", self, other)

    def __radd__(self, other: _Operand) -> _Result:
        return self.apply("add", other, self)

    def __sub__(self, other: _Operand) -> _Result:
        return self.apply("sub", self, other)

    def __rsub__(self, other: _Operand) -> _Result:
        return self.apply("sub", other, self)

    def __mul__(self, other: _Operand) -> _Result:
        return self.apply("mul", self, other)

    def __rmul__(self, other: _Operand) -> _Result:
        return self.apply("mul", other, self)

    def __truediv__(self, other: _Operand) -> _Result:
        return self.apply("div", self, other)

    def __rtruediv__(self, other: _Operand) -> _Result:
        return self.apply("div", other, self)

    def __floordiv__(self, other: _Operand) -> _Result:
        return self.apply("floordiv", self, other)

    def __rfloordiv__(self, other: _Operand) -> _Result:
        return self.apply("floordiv", other, self)

    def __mod__(self, other: _Operand) -> _Result:
        return self.apply("mod", self, other)

    def __rmod__(self, other: _Operand) -> _Result:
        return self.apply("mod", other, self)

    def __pow__(self, other: _Operand) -> _Result:
        return self.apply("pow", self, other)

    def __rpow__(self, other: _Operand) -> _Result:
        return self.apply("pow", other, self)

    def __and__(self, other: _Operand) -> _Result:
        return self.apply("and", self, other)

    def __rand__(self, other: _Operand) -> _Result:
        return self.apply("and", other, self)

    def __or__(self, other: _Operand) -> _Result:
        return self.apply("or", self, other)

    def __ror__(self, other: _Operand) -> _Result:
        return self.apply("or", other, self)

    def __xor__(self, other: _Operand) -> _Result:
        return self.apply("xor", self, other)

    def __rxor__(self, other: _Operand) -> _Result:
        return self.apply("xor", other, self)

    def __neg__(self) -> _Result:
        return self.apply("neg", self)

    def __abs__(self) -> _Result:
        return self.apply("abs", self)

    def __invert__(self) -> _Result:
        return self.apply("not", self)

    # `object` declares that == gives a bool; here it gives a value of the program.
    def __eq__(self, other: Any) -> Any:
        return self.apply("eq", self, other)

    def __ne__(self, other: Any) -> Any:
        return self.apply("ne", self, other)

    def __lt__(self, other: _Operand) -> _Result:
        return self.apply("lt", self, other)

    def __le__(self, other: _Operand) -> _Result:
        return self.apply("le", self, other)

    def __gt__(self, other: _Operand) -> _Result:
        return self.apply("gt", self, other)

    def __ge__(self, other: _Operand) -> _Result:
        return self.apply("ge", self, other)

    __hash__ = object.__hash__
