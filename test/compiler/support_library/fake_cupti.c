// CUPTI as far as gpu_trace.c calls it: a kernel, a copy, a fill and something else are done before
// the program ends. FAKE_CUPTI_REFUSES=1: another tool listens already.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void (*request)(uint8_t **, size_t *, size_t *);
static void (*complete)(void *, uint32_t, uint8_t *, size_t, size_t);
static uint64_t (*now)(void);
static uint32_t enabled;

struct kernel {
  uint32_t kind;
  uint8_t configuration[4];
  uint32_t cache[2];
  uint64_t start, end, completed;
  uint32_t device, context, stream;
  int32_t grid[3], block[3], shared[2];
  uint32_t local[2], correlation;
  int64_t number;
  const char *name;
  uint64_t more[20];
};

struct memory {
  uint32_t kind;
  uint8_t what[4];
  uint64_t bytes, start, end;
  uint32_t device, context, stream, correlation;
  uint64_t more[8];
};

int cuptiActivityRegisterCallbacks(void (*first)(uint8_t **, size_t *, size_t *),
                                   void (*second)(void *, uint32_t, uint8_t *, size_t, size_t)) {
  request = first;
  complete = second;
  return getenv("FAKE_CUPTI_REFUSES") != NULL;
}

int cuptiActivityRegisterTimestampCallback(uint64_t (*clock)(void)) {
  now = clock;
  return 0;
}

int cuptiActivityEnable(uint32_t kind) {
  enabled |= 1u << kind;
  return 0;
}

// Records have their sizes behind them here.
static size_t add(uint8_t *buffer, size_t at, const void *record, size_t bytes) {
  memcpy(buffer + at, record, bytes);
  return at + bytes;
}

int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, uint8_t **record) {
  uint8_t *next = buffer;
  if (*record)
    next = *record + (*(uint32_t *)*record == 10 ? sizeof(struct kernel) : sizeof(struct memory));
  if (next >= buffer + valid)
    return 12; // CUPTI_ERROR_MAX_LIMIT_REACHED
  *record = next;
  return 0;
}

int cuptiActivityFlushAll(uint32_t flag) {
  uint8_t *buffer = NULL;
  size_t bytes = 0, most = 0, used = 0;
  uint64_t start = now();
  struct kernel kernel = {.kind = 10, .start = start, .end = start + 5000, .device = 1, .stream = 7,
                          .grid = {4, 3, 2}, .block = {32, 8, 1}, .name = "scale_kernel"};
  struct memory copy = {.kind = 1, .bytes = 4096, .start = start, .end = start + 1000, .stream = 7};
  struct memory fill = {.kind = 2, .bytes = 64, .start = start, .end = start + 500, .stream = 7};
  struct memory other = {.kind = 4};
  if (flag != 1 || enabled != (1u << 10 | 1u << 1 | 1u << 2))
    return 1;
  request(&buffer, &bytes, &most);
  if (bytes < sizeof kernel + 3 * sizeof copy || most != 0)
    return 1;
  used = add(buffer, used, &kernel, sizeof kernel);
  used = add(buffer, used, &other, sizeof other);
  used = add(buffer, used, &copy, sizeof copy);
  used = add(buffer, used, &fill, sizeof fill);
  complete(NULL, 0, buffer, bytes, used);
  // A buffer in which nothing is.
  request(&buffer, &bytes, &most);
  complete(NULL, 0, buffer, bytes, 0);
  return 0;
}
