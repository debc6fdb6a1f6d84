"""Names shared between the host's and the device's side of a program."""

import re
from collections.abc import Container


def stub_symbol(kernel: str) -> str:
    """Returns the host symbol whose address stands for a kernel."""
    return f"{kernel}_stub"


def device_symbol(module: str, symbol: str, unit: str) -> str:
    """Returns the name of a kernel or variable in the device code.

    Equal names in two images are merged silently by the device linker, so the gpu.module and the
    translation unit are part of it. Only characters PTX allows are used, so that two symbols may
    get one name: see `unlike`.
    """
    scope = symbol if module == symbol else f"{module}__{symbol}"
    name = f"{scope}__{unit}" if unit else scope
    name = re.sub(r"[^A-Za-z0-9_$]", "_", name)
    return f"_{name}" if name[0].isdigit() else name


def unlike(name: str, taken: Container[str]) -> str:
    """`name`, with as many `_` behind it as make it none of `taken`."""
    while name in taken:
        name += "_"
    return name
