"""Loading modules of a package, for tables whose entries register themselves."""

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules


@cache
def load_modules(package: str) -> None:
    """Imports the modules of a package once, by name; those of its subpackages stay out."""
    for module in iter_modules(import_module(package).__path__):
        if not module.ispkg:
            import_module(f"{package}.{module.name}")


@cache
def load_module(package: str, name: str) -> None:
    """Imports one module of a package, if there is one of that name."""
    if name.isidentifier() and find_spec(f"{package}.{name}") is not None:
        import_module(f"{package}.{name}")
