// Memory that matrix products and convolutions of one stream share while they run.
#ifndef HIRC_MATMUL_WORKSPACE_H
#define HIRC_MATMUL_WORKSPACE_H

#include <stdbool.h>
#include <stddef.h>

// Memory for one call; is_kept where it stays for those that follow.
struct matmul_workspace {
  void *memory;
  bool is_kept;
};

// The bytes that are kept, and that a product may use at most: what cuBLAS takes by itself on sm_90,
// which its heuristics are tuned for.
enum { MATMUL_WORKSPACE_BYTES = 32 << 20 };

// Memory of `bytes` or more, for what is put into `stream` next.
struct matmul_workspace hirc_matmul_workspace(size_t bytes, int device, void *stream,
                                              const char *location);

// To be called once the call is in the stream.
void hirc_matmul_workspace_done(struct matmul_workspace workspace, void *stream,
                                const char *location);

#endif
