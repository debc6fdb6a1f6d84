// Functions of NVIDIA's driver, found through the runtime so that nothing links to libcuda.

#include "driver.h"
#include "cuda_runtime_abi.h"

enum { FIRST_CUDA_VERSION = 12000 };

bool hirc_driver_find(const char *name, void *function) {
  void *symbol = NULL;
  int status = 0;
  if (cudaGetDriverEntryPointByVersion(name, &symbol, FIRST_CUDA_VERSION, 0, &status) != 0)
    cudaGetLastError();
  else if (status == 0)
    __atomic_store_n((void **)function, symbol, __ATOMIC_RELEASE);
  return status == 0 && symbol != NULL;
}
