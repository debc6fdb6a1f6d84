"""What the library needs at link time, and that its numbers are CUDA's and MLIR's."""

from __future__ import annotations

import importlib
import importlib.metadata
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import Library

_FREE_OF_CUDA = (
    "assert",
    "calls",
    "ranges",
    "failure",
    "refuse",
    "memref_copy",
    "print",
    "print_memref",
    "program_end",
    "strided",
)
_HEADERS = Path(__file__).parents[3] / "compiler" / "runtime"


def _cuda_file(name: str) -> Path:
    files = importlib.metadata.files("nvidia-cuda-runtime") or []
    return next(Path(str(file.locate())) for file in files if file.name == name)


def test_a_program_without_gpu_ops_links_without_cuda(library: Library) -> None:
    source = """void printI64(long); void printNewline(void);
    int main(void) { printI64(42); printNewline(); }"""
    objects = [library.bitcode[name] for name in _FREE_OF_CUDA]
    done = library.execute("host_only", source, *objects)
    assert (done.returncode, done.stdout) == (0, "42\n")


def test_everything_links_with_the_static_runtime_and_fails_in_words(library: Library) -> None:
    source = """void hirc_wait_for_device(const char *);
    int main(void) { hirc_wait_for_device("prog.mlir:2:3"); }"""
    system = ["-lpthread", "-ldl", "-lrt", "-lm"]
    runtime = _cuda_file("libcudart_static.a")
    done = library.execute("whole", source, *library.bitcode.values(), runtime, *system)
    error, note = done.stderr.splitlines()
    assert done.returncode == 1
    # No driver here, or one that shows no GPU: tests run with none visible.
    assert re.search(r"^prog.mlir:2:3: error: cudaDeviceSynchronize failed: .* \((35|100)\)", error)
    assert re.match("note: (this program needs an NVIDIA driver|the driver shows no GPU)", note)


_SAME_ENUMERATOR = {
    "CUDA_MEMORY_ATTACH_GLOBAL": "cudaMemAttachGlobal",
    "CUDA_MEMORY_POOL_RELEASE_THRESHOLD": "cudaMemPoolAttrReleaseThreshold",
    "CUDA_ERROR_FIRST_OF_EXECUTION": "cudaErrorIllegalAddress",
    "CUDA_MEMCPY_DEFAULT": "cudaMemcpyDefault",
    "CUDA_STREAM_NON_BLOCKING": "cudaStreamNonBlocking",
    "CUDA_CAPTURE_RELAXED": "cudaStreamCaptureModeRelaxed",
    "CUDA_EVENT_DISABLE_TIMING": "cudaEventDisableTiming",
    "CUDA_HOST_REGISTER_DEFAULT": "cudaHostRegisterDefault",
    "CUDA_FUNCTION_MAX_DYNAMIC_SHARED_BYTES": "cudaFuncAttributeMaxDynamicSharedMemorySize",
    "CUDA_FUNCTION_NON_PORTABLE_CLUSTER_SIZE_ALLOWED": (
        "cudaFuncAttributeNonPortableClusterSizeAllowed"
    ),
    "CUDA_LAUNCH_COOPERATIVE": "cudaLaunchAttributeCooperative",
    "CUDA_LAUNCH_CLUSTER_DIMENSION": "cudaLaunchAttributeClusterDimension",
    "CUDA_LAUNCH_PROGRAMMATIC_STREAM_SERIALIZATION": (
        "cudaLaunchAttributeProgrammaticStreamSerialization"
    ),
    "CUDA_DEVICE_COMPUTE_CAPABILITY_MAJOR": "cudaDevAttrComputeCapabilityMajor",
    "CUDA_DEVICE_COMPUTE_CAPABILITY_MINOR": "cudaDevAttrComputeCapabilityMinor",
    "CUDA_DEVICE_MAX_SHARED_BYTES_OPT_IN": "cudaDevAttrMaxSharedMemoryPerBlockOptin",
}
_OURS_ALONE = {"CUDA_ERROR_LAST_OF_EXECUTION"}


def _theirs(name: str) -> str:
    """CUDA's enumerator of the same meaning: CUDA_ERROR_NO_DEVICE is cudaErrorNoDevice."""
    if name in _SAME_ENUMERATOR:
        return _SAME_ENUMERATOR[name]
    words = name.removeprefix("CUDA_ERROR_").split("_")
    return "cudaError" + "".join(word.capitalize() for word in words)


def test_numbers_and_layouts_are_cuda_s(library: Library) -> None:
    text = (_HEADERS / "cuda_runtime_abi.h").read_text()
    names = set(re.findall(r"^  (CUDA_\w+) = ", text, re.MULTILINE)) - _OURS_ALONE
    assert len(names) > 25
    checks = [f"(int){name} == (int){_theirs(name)}" for name in sorted(names)]
    layouts = {
        "cuda_launch_attribute": ("cudaLaunchAttribute", {"kind": "id", "value": "val"}),
        "cuda_launch_configuration": (
            "cudaLaunchConfig_t",
            {
                "block": "blockDim",
                "dynamic_shared_bytes": "dynamicSmemBytes",
                "stream": "stream",
                "attributes": "attrs",
                "attribute_count": "numAttrs",
            },
        ),
    }
    for ours, (theirs, members) in layouts.items():
        checks.append(f"sizeof(struct {ours}) == sizeof({theirs})")
        checks += [
            f"offsetof(struct {ours}, {mine}) == offsetof({theirs}, {other})"
            for mine, other in members.items()
        ]
    attributes = "struct cuda_function_attributes", "struct cudaFuncAttributes"
    checks.append(f"sizeof({attributes[0]}) >= sizeof({attributes[1]})")
    checks.append(
        f"offsetof({attributes[0]}, max_dynamic_shared_bytes) == "
        f"offsetof({attributes[1]}, maxDynamicSharedSizeBytes)"
    )
    source = library.folder / "numbers.c"
    lines = ['#include "driver_types.h"', '#include "cuda_runtime_abi.h"']
    lines += [f'_Static_assert({check}, "{check}");' for check in checks]
    source.write_text("\n".join(lines))
    include = f"-isystem{_cuda_file('driver_types.h').parent}"
    library.compile(source, library.folder / "numbers.o", include)


def test_mlir_s_tensor_map_enums_are_cuda_s(library: Library) -> None:
    nvgpu = importlib.import_module("hirc.dialects.mlir").nvgpu
    pairs = {
        **{f"INTERLEAVE_{size}": nvgpu.TensorMapInterleaveKind for size in ("NONE", "16B", "32B")},
        **{f"SWIZZLE_{s}": nvgpu.TensorMapSwizzleKind for s in ("NONE", "32B", "64B", "128B")},
    }
    checks = [f"CU_TENSOR_MAP_{name} == {int(getattr(kind, name))}" for name, kind in pairs.items()]
    for size in ("NONE", "64B", "128B", "256B"):
        ours = int(getattr(nvgpu.TensorMapL2PromoKind, f"L2PROMO_{size}"))
        theirs = size if size == "NONE" else f"L2_{size}"
        checks.append(f"CU_TENSOR_MAP_L2_PROMOTION_{theirs} == {ours}")
    fill = "CU_TENSOR_MAP_FLOAT_OOB_FILL_"
    checks.append(f"{fill}NONE == {int(nvgpu.TensorMapOOBKind.OOB_ZERO)}")
    checks.append(f"{fill}NAN_REQUEST_ZERO_FMA == {int(nvgpu.TensorMapOOBKind.OOB_NAN)}")
    source = library.folder / "enums.c"
    lines = ["#include <cuda.h>", *(f'_Static_assert({check}, "");' for check in checks)]
    source.write_text("\n".join(lines))
    include = f"-isystem{_cuda_file('driver_types.h').parent}"
    library.compile(source, library.folder / "enums.o", include)
