"""Names shared between the host's and the device's side of a program."""


def stub_symbol(kernel: str) -> str:
    """The host symbol whose address stands for a kernel."""
    return f"{kernel}_stub"


def device_symbol(module: str, symbol: str, unit: str) -> str:
    """The name of a kernel or variable in the device code.

    Equal names in two images are merged silently by the device linker, so the gpu.module and the
    translation unit are part of it. Only characters PTX allows are used.
    """
    scope = symbol if module == symbol else f"{module}__{symbol}"
    name = f"{scope}__{unit}" if unit else scope
    return "".join(char if char.isalnum() or char in "_$" else "_" for char in name)
