// What the libraries that compute on the host have in common (fake_cublaslt.c, fake_cudnn.c): a log of
// their calls, calls that fail, and how many of their objects are there.
//
// They know nothing of streams: `fake_library_synchronize`, where it is set, is called before what
// computes.
#ifndef FAKE_LIBRARY_H
#define FAKE_LIBRARY_H

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOG_BYTES = 1 << 20 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char text[LOG_BYTES];
static size_t used;
static char failing_call[64];
static int failing_status;

int (*fake_library_synchronize)(void *stream);
size_t fake_library_workspace; // the bytes that a call needs
int fake_library_finds_nothing;
int fake_library_alive;
int fake_library_at, fake_library_calls; // the call that fails, from 1 on, and those so far

const char *fake_library_log(void) { return text; }
void fake_library_reset(void) {
  used = 0;
  text[0] = 0;
  failing_call[0] = 0;
}
void fake_library_fail(const char *call, int status) {
  snprintf(failing_call, sizeof failing_call, "%s", call);
  failing_status = status;
}

// Commands have no other way to make a call fail: FAKE_LIBRARY_FAIL is "call status".
__attribute__((constructor)) static void read_environment(void) {
  const char *wanted = getenv("FAKE_LIBRARY_FAIL");
  if (wanted)
    sscanf(wanted, "%63s %d", failing_call, &failing_status);
}

__attribute__((format(printf, 2, 3))) static int answer(const char *call, const char *format, ...) {
  va_list arguments;
  pthread_mutex_lock(&lock);
  if (used > LOG_BYTES / 2)
    used = 0;
  va_start(arguments, format);
  used += (size_t)snprintf(text + used, LOG_BYTES - used, "%s", call);
  used += (size_t)vsnprintf(text + used, LOG_BYTES - used, format, arguments);
  used += (size_t)snprintf(text + used, LOG_BYTES - used, "\n");
  va_end(arguments);
  pthread_mutex_unlock(&lock);
  return strcmp(call, failing_call) == 0 ? failing_status : 0;
}

// Whether this call is the one that fails.
static bool is_planted(void) {
  return __atomic_add_fetch(&fake_library_calls, 1, __ATOMIC_RELAXED) == fake_library_at;
}

static void *make(size_t bytes) {
  __atomic_fetch_add(&fake_library_alive, 1, __ATOMIC_RELAXED);
  return calloc(1, bytes);
}
static int destroy(void *object) {
  __atomic_fetch_sub(&fake_library_alive, 1, __ATOMIC_RELAXED);
  free(object);
  return 0;
}

// Numbers of 16 bits.

static float half(uint16_t bits) {
  float magnitude;
  uint32_t exponent = bits >> 10 & 31, fraction = bits & 1023;
  uint32_t wide = (exponent == 31 ? 255 : exponent + 112) << 23 | fraction << 13;
  memcpy(&magnitude, &wide, sizeof magnitude);
  if (exponent == 0)
    magnitude = (float)fraction * 0x1p-24f;
  return bits & 0x8000 ? -magnitude : magnitude;
}

static float from_bits(uint32_t bits) {
  float number;
  memcpy(&number, &bits, sizeof number);
  return number;
}

// The bits of the nearest number of so many digits fewer, and those behind them.
static uint32_t rounded_bits(float number, int dropped) {
  uint32_t bits;
  memcpy(&bits, &number, sizeof bits);
  return bits + (1u << (dropped - 1)) - 1 + (bits >> dropped & 1);
}

static uint16_t to_half(float number) {
  uint32_t bits;
  memcpy(&bits, &number, sizeof bits);
  uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
  float size = number < 0 ? -number : number;
  if (number != number)
    return 0x7e00;
  if (size >= 65520.0f)
    return sign | 0x7c00;
  if (size < 0x1p-14f) // adding puts the last digit where a denormal has it
    return sign | (uint16_t)((size + 0x1p-1f - 0x1p-1f) / 0x1p-24f);
  return sign | (uint16_t)((rounded_bits(size, 13) >> 13) - (112 << 10));
}

#endif
