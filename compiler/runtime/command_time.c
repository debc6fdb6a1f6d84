// Running a program several times, and how long it takes.

#define _POSIX_C_SOURCE 200809L

#include "check.h"
#include "command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int compare(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

// Prints seconds in the unit that leaves one to three digits before the point.
static void print_seconds(double seconds) {
  double scaled = seconds * 1e6;
  const char *unit = "us";
  if (scaled >= 1e6) {
    scaled *= 1e-6;
    unit = "s";
  } else if (scaled >= 1e3) {
    scaled *= 1e-3;
    unit = "ms";
  }
  printf("%.4g %s", scaled, unit);
}

// Prints the median of the times, and the least and the most of the middle half.
static void print_times(const char *what, double *times, int64_t count) {
  qsort(times, (size_t)count, sizeof *times, compare);
  int64_t quarter = (count - 1) / 4;
  double median = (times[(count - 1) / 2] + times[count / 2]) / 2;
  printf("  %-7s median ", what);
  print_seconds(median);
  fputs(", half of them from ", stdout);
  print_seconds(times[quarter]);
  fputs(" to ", stdout);
  print_seconds(times[count - 1 - quarter]);
  fputs(", least ", stdout);
  print_seconds(times[0]);
  putchar('\n');
}

static cuda_event make_event(void) {
  cuda_event event = NULL;
  check(cudaEventCreateWithFlags(&event, 0), "cudaEventCreateWithFlags", NULL);
  return event;
}

// Runs the program `repeat` times, each after the one before has ended. With `report`, prints how
// long the calls took on the host, and from a run's beginning to its end on the device.
void hirc_time_runs(const struct hirc_program_info *program, hirc_program_function *run,
                    struct dl_tensor *const *inputs, struct dl_tensor *const *outputs,
                    int64_t repeat, bool report, void *stream) {
  double *host = hirc_command_memory(repeat, sizeof *host);
  double *device = hirc_command_memory(repeat, sizeof *device);
  cuda_event start = make_event(), end = make_event();
  for (int64_t i = 0; i < repeat; ++i) {
    float milliseconds = 0;
    hirc_free_outputs(program, inputs, outputs, stream);
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize", NULL);
    check(cudaEventRecord(start, stream), "cudaEventRecord", NULL);
    double began = now();
    hirc_command_require(run((const struct dl_tensor *const *)inputs, outputs, stream));
    host[i] = now() - began;
    check(cudaEventRecord(end, stream), "cudaEventRecord", NULL);
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize", NULL);
    check(cudaEventElapsedTime(&milliseconds, start, end), "cudaEventElapsedTime", NULL);
    device[i] = 1e-3 * (double)milliseconds;
  }
  if (report) {
    printf("time of %" PRId64 " run%s:\n", repeat, repeat == 1 ? "" : "s");
    print_times("host", host, repeat);
    print_times("device", device, repeat);
  }
  check(cudaEventDestroy(start), "cudaEventDestroy", NULL);
  check(cudaEventDestroy(end), "cudaEventDestroy", NULL);
  free(host);
  free(device);
}
