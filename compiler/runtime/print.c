// What vector.print and user programs call to print single values, and to measure time. Names, ABI
// and text are those of MLIR's C runner utilities; printIndex is hirc's. Free of CUDA: a program
// without a GPU op links no CUDA runtime.

#include "numbers.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

void printI64(int64_t value);
void printU64(uint64_t value);
void printIndex(uint64_t value);
void printF16(uint16_t bits);
void printBF16(uint16_t bits);
void printF32(float value);
void printF64(double value);
void printString(const char *text);
void printCString(const char *text);
void printOpen(void);
void printClose(void);
void printComma(void);
void printNewline(void);
void printFlops(double flops);
double rtclock(void);
int64_t nanoTime(void);
int64_t _mlir_ciface_nanoTime(void);

void printI64(int64_t value) { printf("%" PRId64, value); }
void printU64(uint64_t value) { printf("%" PRIu64, value); }
void printIndex(uint64_t value) { printf("%" PRIu64, value); }
void printF32(float value) { printf("%g", (double)value); }
void printF64(double value) { printf("%g", value); }

// Callers lowered from MLIR pass an i16 with arbitrary upper bits in its register, where C's ABI
// lets a callee rely on zeros: going through memory keeps the lower 16 alone.
void printF16(uint16_t bits) {
  volatile uint16_t exact = bits;
  printF32(float_of_f16(exact));
}

void printBF16(uint16_t bits) {
  volatile uint16_t exact = bits;
  printF32(float_of_bf16(exact));
}

void printString(const char *text) { fputs(text, stdout); }
void printCString(const char *text) { fputs(text, stdout); }
void printOpen(void) { fputs("( ", stdout); }
void printClose(void) { fputs(" )", stdout); }
void printComma(void) { fputs(", ", stdout); }
void printNewline(void) { fputc('\n', stdout); }

// A rate given in operations a second, on standard error.
void printFlops(double flops) { fprintf(stderr, "%f GFLOPS\n", flops / 1e9); }

// Seconds since 1970.
double rtclock(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Nanoseconds since 1970.
int64_t nanoTime(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t _mlir_ciface_nanoTime(void) { return nanoTime(); }
