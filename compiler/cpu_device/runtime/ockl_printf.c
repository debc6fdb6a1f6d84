// printf of AMD's device code, as ROCm's ockl has it: a message is begun, strings and arguments of
// 64 bits are added to it, the first string is the format, and the last part sends it.
//
// A thread of the host adds all the parts of a message before it does anything else.
#include "execution.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_ARGUMENTS = 128 };

static _Thread_local struct {
  const char *format;
  bool is_error;
  uint32_t count;
  uint64_t arguments[MOST_ARGUMENTS];
} message;

static uint64_t begin(bool is_error) {
  message.format = NULL;
  message.is_error = is_error;
  message.count = 0;
  return 0;
}

uint64_t hirc_ockl_printf_begin(struct hirc_block *block, uint32_t thread, uint64_t version) {
  (void)block;
  (void)thread;
  (void)version;
  return begin(false);
}

uint64_t hirc_ockl_stderr_begin(struct hirc_block *block, uint32_t thread) {
  (void)block;
  (void)thread;
  return begin(true);
}

static void add(uint64_t argument) {
  if (message.count < MOST_ARGUMENTS) {
    message.arguments[message.count++] = argument;
  }
}

// The bytes of what a conversion takes, after which `*at` stands; 0 for %%. Each * before it takes
// four, and is counted in `stars`.
static uint32_t conversion_bytes(const char **at, uint32_t *stars) {
  bool is_long = false;
  for (*stars = 0; **at != '\0'; ++*at) {
    char c = **at;
    if (c == '*') {
      ++*stars;
    } else if (strchr("lzjtq", c) != NULL) {
      is_long = true;
    } else if (strchr("-+ #0123456789.h", c) == NULL) {
      ++*at;
      return c == '%' ? 0 : strchr("diouxXc", c) != NULL && !is_long ? 4 : 8;
    }
  }
  return 0;
}

// Packs the arguments as vprintf of CUDA takes them: each in its own size, and aligned to it.
static void pack(char *to) {
  size_t offset = 0;
  uint32_t next = 0;
  for (const char *at = message.format; (at = strchr(at, '%')) != NULL;) {
    at++;
    uint32_t stars, bytes = conversion_bytes(&at, &stars);
    for (uint32_t i = 0; i <= stars; i++) {
      uint32_t size = i < stars ? 4 : bytes;
      if (size != 0 && next < message.count) {
        offset = (offset + size - 1) / size * size;
        memcpy(to + offset, &message.arguments[next++], size);
        offset += size;
      }
    }
  }
}

static void send(struct hirc_block *block, uint32_t thread) {
  // Room for arguments that a format names and nobody gave.
  char packed[(MOST_ARGUMENTS + 64) * sizeof(uint64_t)] = {0};
  if (message.format == NULL) {
    return;
  }
  if (!message.is_error) {
    pack(packed);
    (void)hirc_device_printf(block, thread, message.format, packed);
    return;
  }
  // What is sent there has no arguments: an assertion's text.
  char text[1024];
  size_t used = 0;
  for (const char *at = message.format; *at != '\0' && used < sizeof text; at++) {
    at += at[0] == '%' && at[1] == '%';
    text[used++] = *at;
  }
  ssize_t written = write(STDERR_FILENO, text, used);
  (void)written;
}

uint64_t hirc_ockl_append_string(struct hirc_block *block, uint32_t thread, uint64_t handle,
                                 const char *string, uint64_t bytes, uint32_t is_last) {
  (void)bytes;
  if (message.format == NULL) {
    message.format = string;
  } else {
    add((uint64_t)(uintptr_t)string);
  }
  if (is_last != 0) {
    send(block, thread);
  }
  return handle;
}

uint64_t hirc_ockl_append_args(struct hirc_block *block, uint32_t thread, uint64_t handle,
                               uint32_t count, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                               uint64_t e, uint64_t f, uint64_t g, uint32_t is_last) {
  const uint64_t given[] = {a, b, c, d, e, f, g};
  for (uint32_t i = 0; i < count && i < sizeof given / sizeof *given; i++) {
    add(given[i]);
  }
  if (is_last != 0) {
    send(block, thread);
  }
  return handle;
}
