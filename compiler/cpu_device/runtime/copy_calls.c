// The calls that copy: cudaMemcpy and its variants. What they do is in copies.c.

#include "copies.h"
#include "registration.h"

static int copy_1d(void *dst, const void *src, size_t bytes, int kind, cuda_stream stream,
                   bool waits) {
  struct hirc_copy copy = {.dst = dst,
                           .src = src,
                           .dst_pitch = bytes,
                           .src_pitch = bytes,
                           .dst_slice = bytes,
                           .src_slice = bytes,
                           .width = bytes,
                           .height = 1,
                           .depth = 1};
  return hirc_report(hirc_begin_copy(&copy, kind, stream, waits));
}

int cudaMemcpy(void *dst, const void *src, size_t bytes, int kind) {
  return copy_1d(dst, src, bytes, kind, NULL, true);
}

int cudaMemcpyAsync(void *dst, const void *src, size_t bytes, int kind, cuda_stream stream) {
  return copy_1d(dst, src, bytes, kind, stream, false);
}

static int copy_2d(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width,
                   size_t height, int kind, cuda_stream stream, bool waits) {
  if (width != 0 && height != 0) {
    if (width > dst_pitch || width > src_pitch)
      return hirc_report(CUDA_ERROR_INVALID_PITCH_VALUE);
    if (dst_pitch > CUDA_MAX_PITCH || src_pitch > CUDA_MAX_PITCH)
      return hirc_report(CUDA_ERROR_INVALID_VALUE);
  }
  struct hirc_copy copy = {.dst = dst,
                           .src = src,
                           .dst_pitch = dst_pitch,
                           .src_pitch = src_pitch,
                           .dst_slice = dst_pitch * height,
                           .src_slice = src_pitch * height,
                           .width = width,
                           .height = height,
                           .depth = 1};
  return hirc_report(hirc_begin_copy(&copy, kind, stream, waits));
}

int cudaMemcpy2D(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width,
                 size_t height, int kind) {
  return copy_2d(dst, dst_pitch, src, src_pitch, width, height, kind, NULL, true);
}

int cudaMemcpy2DAsync(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width,
                      size_t height, int kind, cuda_stream stream) {
  return copy_2d(dst, dst_pitch, src, src_pitch, width, height, kind, stream, false);
}

static int copy_3d(const struct cuda_memcpy_3d *parameters, cuda_stream stream, bool waits) {
  if (!parameters)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  const struct cuda_memcpy_3d *p = parameters;
  if (p->src_array || p->dst_array) // arrays are for textures: not for this device
    return hirc_report(CUDA_ERROR_NOT_SUPPORTED);
  struct cuda_extent_bytes size = p->extent;
  if (size.width != 0 && size.height != 0 && size.depth != 0) {
    if (size.width + p->dst_position.x > p->dst.pitch ||
        size.width + p->src_position.x > p->src.pitch)
      return hirc_report(CUDA_ERROR_INVALID_PITCH_VALUE);
    if (size.depth > 1 && (size.height + p->dst_position.y > p->dst.height ||
                           size.height + p->src_position.y > p->src.height))
      return hirc_report(CUDA_ERROR_INVALID_VALUE);
  }
  size_t dst_slice = p->dst.pitch * p->dst.height, src_slice = p->src.pitch * p->src.height;
  struct hirc_copy copy = {
      .dst = (char *)p->dst.pointer + p->dst_position.z * dst_slice +
             p->dst_position.y * p->dst.pitch + p->dst_position.x,
      .src = (const char *)p->src.pointer + p->src_position.z * src_slice +
             p->src_position.y * p->src.pitch + p->src_position.x,
      .dst_pitch = p->dst.pitch,
      .src_pitch = p->src.pitch,
      .dst_slice = dst_slice,
      .src_slice = src_slice,
      .width = size.width,
      .height = size.height,
      .depth = size.depth};
  return hirc_report(hirc_begin_copy(&copy, p->kind, stream, waits));
}

int cudaMemcpy3D(const struct cuda_memcpy_3d *parameters) {
  return copy_3d(parameters, NULL, true);
}

int cudaMemcpy3DAsync(const struct cuda_memcpy_3d *parameters, cuda_stream stream) {
  return copy_3d(parameters, stream, false);
}

// --- symbols -------------------------------------------------------------------------------------

int cudaGetSymbolAddress(void **address, const void *symbol) {
  const struct hirc_variable *variable = hirc_variable_of(symbol);
  if (!address)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  if (!variable)
    return hirc_report(CUDA_ERROR_INVALID_SYMBOL);
  *address = variable->address;
  return hirc_report(hirc_device_status());
}

int cudaGetSymbolSize(size_t *bytes, const void *symbol) {
  const struct hirc_variable *variable = hirc_variable_of(symbol);
  if (!bytes)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  if (!variable)
    return hirc_report(CUDA_ERROR_INVALID_SYMBOL);
  *bytes = variable->bytes;
  return hirc_report(hirc_device_status());
}

// The variable's bytes that a copy touches; NULL and an error if it has no such bytes.
static char *symbol_bytes(const void *symbol, size_t offset, size_t bytes, int *error) {
  const struct hirc_variable *variable = hirc_variable_of(symbol);
  if (variable && offset <= variable->bytes && bytes <= variable->bytes - offset)
    return (char *)variable->address + offset;
  *error = variable ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_SYMBOL;
  return NULL;
}

static int copy_to_symbol(const void *symbol, const void *src, size_t bytes, size_t offset,
                          int kind, cuda_stream stream, bool waits) {
  int error = 0;
  char *dst = symbol_bytes(symbol, offset, bytes, &error);
  if (dst && (kind == CUDA_MEMCPY_DEVICE_TO_HOST || kind == CUDA_MEMCPY_HOST_TO_HOST))
    error = CUDA_ERROR_INVALID_MEMCPY_DIRECTION;
  return error ? hirc_report(error) : copy_1d(dst, src, bytes, kind, stream, waits);
}

static int copy_from_symbol(void *dst, const void *symbol, size_t bytes, size_t offset, int kind,
                            cuda_stream stream, bool waits) {
  int error = 0;
  char *src = symbol_bytes(symbol, offset, bytes, &error);
  if (src && (kind == CUDA_MEMCPY_HOST_TO_DEVICE || kind == CUDA_MEMCPY_HOST_TO_HOST))
    error = CUDA_ERROR_INVALID_MEMCPY_DIRECTION;
  return error ? hirc_report(error) : copy_1d(dst, src, bytes, kind, stream, waits);
}

int cudaMemcpyToSymbol(const void *symbol, const void *src, size_t bytes, size_t offset,
                       int kind) {
  return copy_to_symbol(symbol, src, bytes, offset, kind, NULL, true);
}

int cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t bytes, size_t offset,
                            int kind, cuda_stream stream) {
  return copy_to_symbol(symbol, src, bytes, offset, kind, stream, false);
}

int cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t bytes, size_t offset, int kind) {
  return copy_from_symbol(dst, symbol, bytes, offset, kind, NULL, true);
}

int cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t bytes, size_t offset, int kind,
                              cuda_stream stream) {
  return copy_from_symbol(dst, symbol, bytes, offset, kind, stream, false);
}
