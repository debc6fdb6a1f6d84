// Weights: where their values come from, and their memory on each device.
//
// All weights that a linked file's programs share lie in one piece of memory on a device, each at
// the offset that the compiler chose. A program loads its address; where that is NULL it calls
// hirc_weights_load. Of what programs over a mesh divide, a device has its part alone, packed. Values
// come, in this order, from
//   a file that the program was told of (hirc_weights_use_file, --weights=FILE),
//   the file that HIRC_WEIGHTS names, or the folder that it is in,
//   the linked file itself, where they are embedded,
//   the safetensors file beside the linked file.
// Everything that can be wrong is found before the address is there for others to see.
#define _GNU_SOURCE

#include "cpu_device.h"
#include "current_device.h"
#include "failure.h"
#include "kept_memory.h"
#include "program.h"
#include "weights.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// What is to be done with a device's memory when it is no longer needed; a larger number is the
// bytes to unmap. GIVEN is to be freed by CUDA too: its values are of the caller's tensors, and
// nothing else has them.
enum { NOTHING_TO_FREE = 0, FREE_BY_CUDA = 1, GIVEN = 2 };

// The bytes of a header without weights, "{}": of programs that have state alone.
enum { NO_WEIGHTS = 2 };

// The compiler makes room for it: two words a device.
struct hirc_weights_state {
  _Atomic(void *) memory[MAX_DEVICES];
  uint64_t owned[MAX_DEVICES];
};

// State: see streams.c. The lock is for all but reading an address that is there.
__attribute__((weak, visibility("hidden"))) pthread_mutex_t hirc_state_weights_lock_1;
__attribute__((weak, visibility("hidden"))) char *hirc_state_weights_path_1;

__attribute__((weak, visibility("hidden"))) extern unsigned hirc_checks; // what a program checks

// Whether kernels may read memory that is none of the device's. A checked program is given memory
// that is, so that accesses beyond it are found.
static bool reads_host_memory(void) {
  return on_cpu_device() && !(&hirc_checks && hirc_checks);
}

static void copy_part(const struct hirc_place *place, int64_t rank, void *to) {
  struct strided_copy copy;
  struct strided_walk walk;
  if (!hirc_value_part(place, rank, to, &copy))
    return;
  strided_begin(&copy, &walk);
  do
    memcpy(walk.dst, walk.src, (size_t)copy.width);
  while (strided_advance(&copy, &walk));
}

// Puts what is in place of a mapped file there, copies the rest, and returns the memory.
static void *map_in_place(const struct hirc_weights *weights, const struct hirc_values *values,
                          int64_t rank, uint64_t *owned) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size_t bytes = ((size_t)weights->bytes + page - 1) & ~(page - 1);
  char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    hirc_error_say("weights: there is no memory for %" PRId64 " bytes", weights->bytes);
    return NULL;
  }
  uint64_t mapped = hirc_values_in_place(values, page);
  if (mapped && mmap(memory, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED,
                     values->file.descriptor, (off_t)values->file.data_offset) == MAP_FAILED) {
    hirc_error_say("weights file %s cannot be mapped: %s", values->file.path, strerror(errno));
    munmap(memory, bytes);
    return NULL;
  }
  for (int64_t i = 0; i < values->count; ++i) {
    const struct hirc_place *place = &values->places[i];
    if (place->part)
      copy_part(place, rank, memory + place->start);
    else if (!mapped || !hirc_value_is_in_place(values, i))
      memcpy(memory + place->start, place->from, place->end - place->start);
  }
  mprotect(memory, bytes, PROT_READ);
  *owned = bytes;
  return memory;
}

static void *cuda_failed(int rc, const char *call, int64_t bytes, void *memory) {
  hirc_error_say("weights: %s of %" PRId64 " bytes: %s (%s)", call, bytes, cudaGetErrorString(rc),
                 cudaGetErrorName(rc));
  hirc_error_blame(rc);
  cudaGetLastError(); // nothing later may report it
  if (memory)
    cudaFree(memory);
  return NULL;
}

// Copies a part to memory of the current device. Returns 0 or CUDA's error.
static int upload_part(const struct hirc_place *place, int64_t rank, void *to) {
  struct strided_copy copy;
  struct strided_walk walk;
  if (!hirc_value_part(place, rank, to, &copy))
    return 0;
  // Its rows go at once.
  int rows = copy.rank - 1, rc = 0;
  bool are_rows = rows >= 0 && copy.src_strides[rows] <= MAX_PITCH;
  size_t width = (size_t)copy.width, height = 0, pitch = 0, from_pitch = 0;
  if (are_rows) {
    height = (size_t)copy.sizes[rows];
    pitch = (size_t)copy.dst_strides[rows];
    from_pitch = (size_t)copy.src_strides[rows];
    strided_drop(&copy, rows);
  }
  strided_begin(&copy, &walk);
  do
    rc = are_rows ? cudaMemcpy2DAsync(walk.dst, pitch, walk.src, from_pitch, width, height,
                                      CUDA_MEMCPY_DEFAULT, NULL)
                  : cudaMemcpyAsync(walk.dst, walk.src, width, CUDA_MEMCPY_DEFAULT, NULL);
  while (rc == 0 && strided_advance(&copy, &walk));
  return rc;
}

// Copies the values to memory of the current device: what lies together there and here in one go,
// but for the caller's tensors. Theirs may be allocations that lie side by side, and a copy must not
// go from one to the next.
static void *upload(const struct hirc_weights *weights, const struct hirc_values *values,
                    int64_t rank, uint64_t *owned) {
  void *memory = NULL;
  int rc = cudaMalloc(&memory, (size_t)weights->bytes);
  if (rc != 0)
    return cuda_failed(rc, "cudaMalloc", weights->bytes, NULL);
  const struct hirc_place *places = values->places;
  for (int64_t i = 0, next; i < values->count; i = next) {
    uint64_t start = places[i].start, end = places[i].end;
    next = i + 1;
    if (places[i].part) {
      if ((rc = upload_part(&places[i], rank, (char *)memory + start)) != 0)
        return cuda_failed(rc, "a copy", (int64_t)(end - start), memory);
      continue;
    }
    for (; next < values->count && values->is_one_memory; ++next) {
      const struct hirc_place *place = &places[next];
      if (place->part || place->start < end ||
          place->from != places[i].from + (place->start - start) ||
          (place->start != end && !values->has_gaps))
        break;
      end = place->end;
    }
    if (end > start &&
        (rc = cudaMemcpy((char *)memory + start, places[i].from, end - start,
                         CUDA_MEMCPY_DEFAULT)) != 0)
      return cuda_failed(rc, "cudaMemcpy", (int64_t)(end - start), memory);
  }
  // The last copy may still be on its way, and other streams do not wait for it.
  if ((rc = cudaDeviceSynchronize()) != 0)
    return cuda_failed(rc, "cudaDeviceSynchronize after a copy", weights->bytes, memory);
  *owned = FREE_BY_CUDA;
  return memory;
}

// The file that an address lies in, of the process's memory map: what the dynamic linker knows may
// be relative to a folder that is no longer the current one.
static bool own_path(const void *address, char *path) {
  FILE *maps = fopen("/proc/self/maps", "re");
  char *line = NULL;
  size_t room = 0;
  bool is_found = false;
  while (maps && !is_found && getline(&line, &room, maps) > 0) {
    unsigned long start, end;
    int name = 0;
    if (sscanf(line, "%lx-%lx %*s %*s %*s %*s %n", &start, &end, &name) < 2 || !name ||
        (uintptr_t)address < start || (uintptr_t)address >= end || line[name] != '/' ||
        strncmp(line + name, "/memfd:", 7) == 0)
      continue;
    line[strcspn(line, "\n")] = 0;
    is_found = strlen(line + name) < PATH_MAX;
    if (is_found)
      strcpy(path, line + name);
  }
  free(line);
  if (maps)
    fclose(maps);
  return is_found;
}

static char *with_memory(char *path) {
  if (!path)
    hirc_error_say("weights: no memory is left on the host for a path");
  return path;
}

// The path of the file with the values, in memory from malloc. NULL, and a message, where there is
// none; or, where they are embedded and nothing says otherwise, NULL alone.
static char *find_file(const struct hirc_weights *weights) {
  if (hirc_state_weights_path_1)
    return with_memory(strdup(hirc_state_weights_path_1));
  const char *named = getenv("HIRC_WEIGHTS"), *file = weights->file ? weights->file : "";
  struct stat status;
  char *path = NULL, own[PATH_MAX];
  if (named && named[0]) {
    bool is_folder = stat(named, &status) == 0 && S_ISDIR(status.st_mode);
    return with_memory(
        asprintf(&path, is_folder ? "%s/%s" : "%s", named, file) < 0 ? NULL : path);
  }
  if (weights->embedded)
    return NULL;
  if (!file[0] || !own_path(weights, own))
    hirc_error_say("weights: no file is given: --weights=FILE, HIRC_WEIGHTS or "
                   "hirc_use_weights_file names a safetensors file");
  else
    path = with_memory(asprintf(&path, "%.*s%s", (int)(strrchr(own, '/') + 1 - own), own, file) < 0
                           ? NULL
                           : path);
  return path;
}

// The device that has values of the caller's tensors, or -1.
static int device_given(const struct hirc_weights *weights) {
  for (int device = 0; device < MAX_DEVICES; ++device)
    if (weights->state->owned[device] == GIVEN)
      return device;
  return -1;
}

// Copies what another device has to memory of the current one.
static void *copy_from(const struct hirc_weights *weights, int other, uint64_t *owned) {
  void *memory = NULL, *from = atomic_load(&weights->state->memory[other]);
  size_t bytes = (size_t)weights->bytes;
  int rc = cudaMalloc(&memory, bytes);
  if (rc != 0)
    return cuda_failed(rc, "cudaMalloc", weights->bytes, NULL);
  if ((rc = cudaMemcpy(memory, from, bytes, CUDA_MEMCPY_DEFAULT)) != 0)
    return cuda_failed(rc, "cudaMemcpy", weights->bytes, memory);
  if ((rc = cudaDeviceSynchronize()) != 0)
    return cuda_failed(rc, "cudaDeviceSynchronize after a copy", weights->bytes, memory);
  *owned = GIVEN;
  return memory;
}

// Loads the weights, or the parts of them that process number `rank` has, into the current device's
// memory. Under the lock.
static void *load(const struct hirc_weights *weights, int device, int64_t rank,
                  const struct hirc_named_tensors *given) {
  struct hirc_values values = {0};
  uint64_t owned = NOTHING_TO_FREE;
  void *memory = NULL;
  int other = given ? -1 : device_given(weights);
  char *path = given || other >= 0 ? NULL : find_file(weights);
  bool is_embedded = !given && !path && weights->embedded;
  if (other >= 0) {
    memory = copy_from(weights, other, &owned);
  } else if (is_embedded && reads_host_memory() && !weights->parts) {
    memory = (void *)(uintptr_t)weights->embedded;
  } else if ((is_embedded || path || given) &&
             hirc_values_open(&values, weights, is_embedded, path, given)) {
    memory = reads_host_memory() ? map_in_place(weights, &values, rank, &owned)
                                 : upload(weights, &values, rank, &owned);
  }
  hirc_values_close(&values);
  free(path);
  if (!memory)
    return NULL;
  if (given && owned == FREE_BY_CUDA)
    owned = GIVEN;
  if (on_cpu_device())
    hirc_cpu_device_at_unload(hirc_weights_unload);
  weights->state->owned[device] = owned;
  atomic_store_explicit(&weights->state->memory[device], memory, memory_order_release);
  return memory;
}

// This process's rank, 0 where that says nothing of the weights; -1 and a message where it is none
// of those that they are divided among.
static int64_t rank_of(const struct hirc_weights *weights) {
  return weights->parts ? weights->rank(weights->processes) : 0;
}

// The current device, or -1 and a message.
static int weights_device(void) {
  int device = 0, rc = cudaGetDevice(&device);
  if (rc != 0) {
    hirc_error_say("weights: cudaGetDevice: %s (%s)", cudaGetErrorString(rc), cudaGetErrorName(rc));
    hirc_error_blame(rc);
    cudaGetLastError(); // nothing later may report it
    return -1;
  }
  if (device >= 0 && device < MAX_DEVICES)
    return device;
  hirc_error_say("weights: state is kept for the first %d devices only, and this is device %d",
                 MAX_DEVICES, device);
  return -1;
}

// The weights' address on the current device, loaded where they are not there yet; NULL, and a
// message, where that fails.
__attribute__((cold, noinline)) void *hirc_weights_load(const struct hirc_weights *weights) {
  int device = weights_device();
  if (device < 0)
    return NULL;
  if (weights->header_bytes <= NO_WEIGHTS)
    return (void *)(uintptr_t)weights; // nothing reads there
  int64_t rank = rank_of(weights);
  if (rank < 0)
    return NULL;
  pthread_mutex_lock(&hirc_state_weights_lock_1);
  void *memory = atomic_load_explicit(&weights->state->memory[device], memory_order_acquire);
  if (!memory)
    memory = load(weights, device, rank, NULL);
  pthread_mutex_unlock(&hirc_state_weights_lock_1);
  return memory;
}

// Loads the weights of all programs of the linked file. Returns 0, or there is a message:
// HIRC_FAILED where CUDA failed, else HIRC_REFUSED.
int hirc_weights_load_all(void) {
  int64_t count;
  const struct hirc_program_info *const *programs = hirc_program_list(&count);
  for (int64_t i = 0; i < count; ++i)
    if (programs[i]->weights && !hirc_weights_load(programs[i]->weights))
      return hirc_error_status();
  return 0;
}

static bool is_any_loaded(void) {
  int64_t count;
  const struct hirc_program_info *const *programs = hirc_program_list(&count);
  for (int64_t i = 0; i < count; ++i)
    for (int device = 0; programs[i]->weights && device < MAX_DEVICES; ++device)
      if (atomic_load(&programs[i]->weights->state->memory[device]))
        return true;
  return false;
}

// Says which file has the values from now on; NULL, that nothing is said. Returns 0, or 1 and there
// is a message, where there are others already.
int hirc_weights_use_file(const char *path) {
  char *copy = path ? strdup(path) : NULL;
  int status = 1;
  pthread_mutex_lock(&hirc_state_weights_lock_1);
  const char *before = hirc_state_weights_path_1;
  if (path && before && strcmp(path, before) == 0) {
    status = 0;
  } else if (is_any_loaded()) {
    hirc_error_say("weights are loaded already: hirc_unload_weights comes before others are named");
  } else if (path && !copy) {
    hirc_error_say("there is no memory for a path");
  } else {
    free(hirc_state_weights_path_1);
    hirc_state_weights_path_1 = copy;
    copy = NULL;
    status = 0;
  }
  pthread_mutex_unlock(&hirc_state_weights_lock_1);
  free(copy);
  return status;
}

// Copies the values of tensors, in the host's or the current device's memory, to the weights of
// these names on the current device; other devices copy them from there. Returns 0, or 1 and there is a message.
int hirc_weights_use_tensors(const char *const *names, const struct dl_tensor *const *tensors,
                             int64_t count) {
  struct hirc_named_tensors given = {names, tensors, count};
  int64_t programs_count;
  const struct hirc_program_info *const *programs = hirc_program_list(&programs_count);
  int device = weights_device(), status = 0;
  if (device < 0)
    return hirc_error_status();
  pthread_mutex_lock(&hirc_state_weights_lock_1);
  for (int64_t i = 0; i < programs_count && !status; ++i)
    if (programs[i]->weights && atomic_load(&programs[i]->weights->state->memory[device])) {
      hirc_error_say("weights are loaded already: hirc_unload_weights comes before others");
      status = 1;
    }
  for (int64_t i = 0; i < programs_count && !status; ++i) {
    const struct hirc_weights *weights = programs[i]->weights;
    if (!weights || atomic_load(&weights->state->memory[device]))
      continue;
    int64_t rank = rank_of(weights);
    status = rank >= 0 && load(weights, device, rank, &given) ? 0 : hirc_error_status();
  }
  pthread_mutex_unlock(&hirc_state_weights_lock_1);
  return status;
}

// Frees the weights of all devices; the next call of a program loads them again. No program may
// run meanwhile. Memory that went with a reset device is gone already.
void hirc_weights_unload(void) {
  int64_t count;
  const struct hirc_program_info *const *programs = hirc_program_list(&count);
  int current = 0;
  bool knows_device = cudaGetDevice(&current) == 0;
  pthread_mutex_lock(&hirc_state_weights_lock_1);
  hirc_kept_memory_goes();
  for (int64_t i = 0; i < count; ++i)
    for (int device = 0; programs[i]->weights && device < MAX_DEVICES; ++device) {
      struct hirc_weights_state *state = programs[i]->weights->state;
      void *memory = atomic_exchange(&state->memory[device], NULL);
      uint64_t owned = state->owned[device];
      state->owned[device] = NOTHING_TO_FREE;
      if (!memory || owned == NOTHING_TO_FREE)
        continue;
      if (owned > GIVEN) {
        munmap(memory, owned);
      } else if (knows_device && cudaSetDevice(device) == 0) {
        cudaFree(memory);
        cudaGetLastError();
      }
    }
  pthread_mutex_unlock(&hirc_state_weights_lock_1);
  if (knows_device)
    cudaSetDevice(current);
}
