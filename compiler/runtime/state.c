// State: what programs keep from call to call, and write in place.
//
// An instance has one piece of memory for all states of a linked file on each device where it was
// used. They begin as zeros, or as the weights of their names. A thread's calls use the instance that
// it named last (hirc_use_state), or the one that the linked file has itself. Nobody orders calls
// that use one instance but the stream that they are given.
#include "amd_device.h"
#include "calls.h"
#include "current_device.h"
#include "failure.h"
#include "kept_memory.h"
#include "program.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// The memory of one instance on one device. A linked file has several descriptions where it is made
// of several objects.
struct place {
  struct place *next;
  const struct hirc_weights *weights;
  int device;
  char *memory;
};

// `holders` are whoever created it, and tensors in its memory.
struct hirc_instance {
  _Atomic int64_t holders;
  struct place *first;
};

// State: see streams.c. The lock is for the places of all instances.
__attribute__((weak, visibility("hidden"))) pthread_mutex_t hirc_state_instances_lock_1;
__attribute__((weak, visibility("hidden"))) struct hirc_instance hirc_state_own_instance_1;

static bool failed(int rc, const char *call) {
  if (rc == 0)
    return false;
  hirc_error_say("state: %s: %s (%s)", call, cudaGetErrorString(rc), cudaGetErrorName(rc));
  hirc_error_blame(rc);
  cudaGetLastError(); // nothing later may report it
  return true;
}

static struct hirc_instance *current(void) {
  return hirc_state_instance_1 ? hirc_state_instance_1 : &hirc_state_own_instance_1;
}

// Puts the first values there, in the order of a stream.
static bool begin(const struct place *place, void *stream) {
  const struct hirc_weights *weights = place->weights;
  for (int64_t i = 0; i < weights->state_count; ++i) {
    const struct hirc_state_info *state = &weights->states[i];
    char *to = place->memory + state->offset;
    if (!state->bytes)
      continue;
    if (state->initial < 0) {
      if (failed(cudaMemsetAsync(to, 0, (size_t)state->bytes, stream), "cudaMemsetAsync"))
        return false;
      continue;
    }
    const char *values = weights->load(weights);
    if (!values || failed(cudaMemcpyAsync(to, values + state->initial, (size_t)state->bytes,
                                          CUDA_MEMCPY_DEFAULT, stream),
                          "cudaMemcpyAsync"))
      return false;
  }
  return true;
}

static void drop(struct hirc_instance *instance) {
  int device = 0;
  bool knows_device = cudaGetDevice(&device) == 0;
  hirc_kept_memory_goes();
  for (struct place *place = instance->first, *next; place; place = next) {
    next = place->next;
    if (knows_device && cudaSetDevice(place->device) == 0)
      cudaFree(place->memory);
    free(place);
  }
  instance->first = NULL;
  cudaGetLastError();
  if (knows_device)
    cudaSetDevice(device);
}

static void drop_own(void) { drop(&hirc_state_own_instance_1); }

// The memory of the current instance on the current device; what is new has its first values. NULL,
// and a message, where there is none. Under the lock.
static struct place *find(const struct hirc_weights *weights, void *stream, bool *is_new) {
  struct hirc_instance *instance = current();
  int device = 0;
  if (failed(cudaGetDevice(&device), "cudaGetDevice"))
    return NULL;
  for (struct place *place = instance->first; place; place = place->next)
    if (place->weights == weights && place->device == device)
      return place;
  struct place *made = calloc(1, sizeof *made);
  void *memory = NULL;
  size_t bytes = weights->state_bytes ? (size_t)weights->state_bytes : 1;
  if (!made) {
    hirc_error_say("state: no memory is left on the host");
    hirc_error_blame(CUDA_ERROR_MEMORY_ALLOCATION);
  }
  if (!made || failed(cudaMalloc(&memory, bytes), "cudaMalloc")) {
    free(made);
    return NULL;
  }
  *made = (struct place){instance->first, weights, device, memory};
  if (!begin(made, stream)) {
    cudaFree(memory);
    free(made);
    return NULL;
  }
  if (on_cpu_device() && instance == &hirc_state_own_instance_1)
    hirc_cpu_device_at_unload(drop_own);
  *is_new = true;
  return instance->first = made;
}

// Where the states of a call lie; NULL, and a message, where there is no memory or no weights. First
// values are no part of a graph that the call becomes: they get their place before it, in the
// caller's stream.
void *hirc_state_address(const struct hirc_weights *weights, void *stream) {
  bool is_new = false;
  if (hirc_state_call_2)
    stream = hirc_state_call_2->stream;
  pthread_mutex_lock(&hirc_state_instances_lock_1);
  const struct place *place = find(weights, stream, &is_new);
  pthread_mutex_unlock(&hirc_state_instances_lock_1);
  return place ? place->memory : NULL;
}

// Calls `visit` with each description of the linked file that has states, until it returns something
// else than 0.
static int each_description(int (*visit)(const struct hirc_weights *, void *), void *context) {
  int64_t count;
  const struct hirc_program_info *const *programs = hirc_program_list(&count);
  for (int64_t i = 0; i < count; ++i) {
    const struct hirc_weights *weights = programs[i]->weights;
    bool is_known = !weights || !weights->state_count;
    for (int64_t j = 0; j < i && !is_known; ++j)
      is_known = programs[j]->weights == weights;
    int status = is_known ? 0 : visit(weights, context);
    if (status)
      return status;
  }
  return 0;
}

static int reset(const struct hirc_weights *weights, void *stream) {
  bool is_new = false;
  const struct place *place = find(weights, stream, &is_new);
  bool is_done = place && (is_new || begin(place, stream));
  return is_done ? 0 : hirc_error_status();
}

// Gives the current instance its first values on the current device, in the order of a stream.
// Returns 0, or there is a message: HIRC_FAILED where CUDA failed, or HIRC_REFUSED.
int hirc_instance_reset(void *stream) {
  pthread_mutex_lock(&hirc_state_instances_lock_1);
  int status = each_description(reset, stream);
  pthread_mutex_unlock(&hirc_state_instances_lock_1);
  return status;
}

// The state that a model's random numbers are drawn of: a seed and an offset.
#define GENERATOR "hirc.generator"

static bool has_generator(const struct hirc_weights *weights, int64_t *place) {
  for (*place = 0; *place < weights->state_count; ++*place)
    if (strcmp(weights->states[*place].name, GENERATOR) == 0)
      return true;
  return false;
}

// Gives the current instance's generator on the current device a seed and an offset, in the order
// of a stream, which it waits for. Returns 0, or there is a message and its status.
int hirc_generator_set(const struct hirc_weights *weights, uint64_t seed, uint64_t offset,
                       void *stream) {
  bool is_new = false;
  int64_t number;
  uint64_t values[2] = {seed, offset};
  if (!weights || !has_generator(weights, &number)) {
    hirc_error_say("there are no random numbers to seed");
    return 1;
  }
  pthread_mutex_lock(&hirc_state_instances_lock_1);
  const struct place *place = find(weights, stream, &is_new);
  int status = !place ||
               failed(cudaMemcpyAsync(place->memory + weights->states[number].offset, values,
                                      sizeof values, CUDA_MEMCPY_DEFAULT, stream),
                      "cudaMemcpyAsync") ||
               failed(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  pthread_mutex_unlock(&hirc_state_instances_lock_1);
  return status ? hirc_error_status() : 0;
}

struct seeding {
  uint64_t seed, offset;
  void *stream;
  bool is_done;
};

static int seed_one(const struct hirc_weights *weights, void *context) {
  struct seeding *seeding = context;
  int64_t place;
  if (!has_generator(weights, &place))
    return 0;
  seeding->is_done = true;
  return hirc_generator_set(weights, seeding->seed, seeding->offset, seeding->stream);
}

// The same of all that a linked file draws of.
int hirc_generator_seed(uint64_t seed, uint64_t offset, void *stream) {
  struct seeding seeding = {seed, offset, stream, false};
  int status = each_description(seed_one, &seeding);
  if (status)
    return status;
  return seeding.is_done ? 0 : hirc_generator_set(NULL, seed, offset, stream);
}

enum { FOUND = -1 };

struct wanted {
  const char *name;
  struct dl_tensor *tensor;
};

static int find_named(const struct hirc_weights *weights, void *context) {
  const struct wanted *wanted = context;
  for (int64_t i = 0; i < weights->state_count; ++i) {
    const struct hirc_state_info *state = &weights->states[i];
    if (strcmp(state->name, wanted->name) != 0)
      continue;
    bool is_new = false;
    const struct place *place = find(weights, NULL, &is_new);
    if (!place)
      return hirc_error_status();
    struct dl_device device = {on_cpu_device() ? DL_CPU : gpu_kind(), on_cpu_device() ? 0 : place->device};
    struct dl_data_type type;
    memcpy(&type, &state->dtype, sizeof type);
    *wanted->tensor = (struct dl_tensor){.data = place->memory + state->offset,
                                         .device = device,
                                         .rank = state->rank,
                                         .type = type,
                                         .sizes = (int64_t *)(uintptr_t)state->sizes};
    return FOUND;
  }
  return 0;
}

// Fills in the tensor with a state of the current instance on the current device: its very memory,
// packed. What runs on other streams than the default one may still write it. Returns 0, or there
// is a message: HIRC_FAILED where CUDA failed, or HIRC_REFUSED.
int hirc_instance_tensor(const char *name, struct dl_tensor *tensor) {
  struct wanted wanted = {name, tensor};
  *tensor = (struct dl_tensor){0};
  pthread_mutex_lock(&hirc_state_instances_lock_1);
  int status = each_description(find_named, &wanted);
  pthread_mutex_unlock(&hirc_state_instances_lock_1);
  if (status == FOUND)
    return 0;
  if (status == 0)
    hirc_error_say("there is no state '%s'", name);
  return hirc_error_status();
}

// Another instance, the caller's to free; NULL where there is no memory. Its memory on a device comes
// with its first use there.
struct hirc_instance *hirc_instance_create(void) {
  struct hirc_instance *instance = calloc(1, sizeof *instance);
  if (instance)
    atomic_store(&instance->holders, 1);
  return instance;
}

// Frees an instance, whose work has to be done by then, once no tensor holds it.
void hirc_instance_free(struct hirc_instance *instance) {
  if (!instance || atomic_fetch_sub(&instance->holders, 1) != 1)
    return;
  pthread_mutex_lock(&hirc_state_instances_lock_1);
  drop(instance);
  pthread_mutex_unlock(&hirc_state_instances_lock_1);
  if (hirc_state_instance_1 == instance)
    hirc_state_instance_1 = NULL;
  free(instance);
}

static void let_go(struct dl_managed_tensor *held) {
  hirc_instance_free(held->owner);
  free(held);
}

// Something to give to hirc_own_output for a tensor in the memory of an instance; NULL where there
// is no memory.
struct dl_managed_tensor *hirc_instance_hold(struct hirc_instance *instance) {
  struct dl_managed_tensor *held = calloc(1, sizeof *held);
  if (held) {
    atomic_fetch_add(&instance->holders, 1);
    *held = (struct dl_managed_tensor){.owner = instance, .deleter = let_go};
  }
  return held;
}

// The instance of the calling thread's calls from now on; NULL is the linked file's own.
void hirc_instance_use(struct hirc_instance *instance) { hirc_state_instance_1 = instance; }
