// Programs over several streams, one for each name: test_stream_orders.py says which of them race.

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS = 64, BYTES = WORDS * sizeof(float) };

void launch_write(cudaStream_t stream, void *data);
void launch_copy(cudaStream_t stream, const void *from, void *to);
void launch_write_bytes(cudaStream_t stream, void *data); // every second one of 2 * WORDS
void launch_count(cudaStream_t stream, void *counter);

static cudaStream_t a, b;
static cudaEvent_t event;
static float *data, *other, pageable[2 * WORDS];

// --- two kernels ---------------------------------------------------------------------------------

static void write_then_read(void) {
  launch_write(a, data);
  launch_copy(b, data, other);
}

static void read_then_write(void) {
  launch_copy(a, data, other);
  launch_write(b, data);
}

static void write_twice(void) {
  launch_write(a, data);
  launch_write(b, data);
}

static void one_of_two_readers_waited_for(void) {
  launch_copy(a, data, other);
  cudaEventRecord(event, a);
  launch_copy(b, data, other + WORDS);
  cudaStream_t c;
  cudaStreamCreateWithFlags(&c, cudaStreamNonBlocking);
  cudaStreamWaitEvent(c, event, 0);
  launch_write(c, data);
}

static void same_stream(void) {
  launch_write(a, data);
  launch_copy(a, data, other);
  launch_write(a, data);
}

static void ordered_by_event(void) {
  launch_write(a, data);
  cudaEventRecord(event, a);
  cudaStreamWaitEvent(b, event, 0);
  launch_copy(b, data, other);
}

static void event_recorded_too_early(void) {
  cudaEventRecord(event, a);
  launch_write(a, data);
  cudaStreamWaitEvent(b, event, 0);
  launch_copy(b, data, other);
}

static void waited_too_late(void) {
  launch_write(a, data);
  cudaEventRecord(event, a);
  launch_copy(b, data, other);
  cudaStreamWaitEvent(b, event, 0);
}

static void waited_too_late_elsewhere(void) {
  launch_write(b, data);
  cudaEventRecord(event, b);
  launch_copy(a, data, other);
  cudaStreamWaitEvent(a, event, 0);
}

static void ordered_over_a_third(void) {
  cudaStream_t c;
  cudaEvent_t second;
  cudaStreamCreateWithFlags(&c, cudaStreamNonBlocking);
  cudaEventCreate(&second);
  launch_write(a, data);
  cudaEventRecord(event, a);
  cudaStreamWaitEvent(c, event, 0);
  cudaEventRecord(second, c);
  cudaStreamWaitEvent(b, second, 0);
  launch_copy(b, data, other);
}

// --- what is done long before --------------------------------------------------------------------

static void pause_for_others(void) { usleep(20000); }

static void written_long_before(void) {
  launch_write(a, data);
  pause_for_others();
  launch_copy(b, data, other);
}

static void event_long_past(void) {
  launch_write(a, data);
  cudaEventRecord(event, a);
  pause_for_others();
  cudaStreamWaitEvent(b, event, 0);
  launch_copy(b, data, other);
}

static void default_stream_long_after(void) {
  cudaStream_t blocking;
  cudaStreamCreate(&blocking);
  launch_write(blocking, data);
  pause_for_others();
  launch_write(NULL, data);
  pause_for_others();
  launch_copy(blocking, data, other);
}

static void stream_of_one_destroyed(void) {
  cudaStream_t first, second;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  launch_write(first, data);
  pause_for_others();
  cudaStreamDestroy(first);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  launch_copy(second, data, other);
}

// --- what the host waits for ---------------------------------------------------------------------

static void ordered_by_stream_wait(void) {
  launch_write(a, data);
  cudaStreamSynchronize(a);
  launch_copy(b, data, other);
}

static void ordered_by_event_wait(void) {
  launch_write(a, data);
  cudaEventRecord(event, a);
  cudaEventSynchronize(event);
  launch_copy(b, data, other);
}

static void ordered_by_question(void) {
  launch_write(a, data);
  while (cudaStreamQuery(a) == cudaErrorNotReady) {
  }
  launch_copy(b, data, other);
}

static void ordered_by_device_wait(void) {
  launch_write(a, data);
  cudaDeviceSynchronize();
  launch_copy(b, data, other);
}

static _Atomic int called, enqueued;

static void tell_and_wait(void *unused) {
  (void)unused;
  called = 1;
  while (!enqueued) {
  }
}

// In a program whose memory is checked nothing runs before somebody waits for it.
static void *wait_in_another_thread(void *stream) {
  cudaStreamSynchronize(stream);
  return NULL;
}

static void ordered_by_host_function(void) {
  pthread_t thread;
  launch_write(a, data);
  cudaLaunchHostFunc(a, tell_and_wait, NULL);
  pthread_create(&thread, NULL, wait_in_another_thread, a);
  while (!called) {
  }
  launch_copy(b, data, other);
  enqueued = 1;
  pthread_join(thread, NULL);
}

static void another_stream_waited_for(void) {
  launch_write(a, data);
  cudaStreamSynchronize(b);
  launch_copy(b, data, other);
}

// --- the default stream --------------------------------------------------------------------------

static void ordered_by_default_stream(void) {
  cudaStream_t first, second;
  cudaStreamCreate(&first);
  cudaStreamCreate(&second);
  launch_write(first, data);
  launch_copy(NULL, data, other);
  launch_write(second, data);
}

static void default_stream_orders_no_others(void) {
  launch_write(NULL, data);
  launch_copy(a, data, other);
}

// --- the host's copies and fills -----------------------------------------------------------------

static void copy_to_host_too_early(void) {
  launch_write(a, data);
  cudaMemcpy(pageable, data, BYTES, cudaMemcpyDeviceToHost);
}

static void copy_to_host_in_turn(void) {
  launch_write(a, data);
  cudaStreamSynchronize(a);
  cudaMemcpy(pageable, data, BYTES, cudaMemcpyDeviceToHost);
  launch_write(b, data);
}

static void copy_to_host_orders(void) {
  launch_write(a, data);
  cudaMemcpyAsync(pageable, data, BYTES, cudaMemcpyDeviceToHost, a);
  launch_write(b, data);
}

static void copy_to_device_too_early(void) {
  launch_copy(a, data, other);
  cudaMemcpyAsync(data, pageable, BYTES, cudaMemcpyHostToDevice, b);
}

static void copy_not_waited_for(void) {
  cudaMemcpyAsync(data, pageable, BYTES, cudaMemcpyHostToDevice, a);
  launch_copy(b, data, other);
}

static void fill_not_waited_for(void) {
  cudaMemsetAsync(data, 0, BYTES, a);
  launch_copy(b, data, other);
}

static void pinned_not_waited_for(void) {
  float *pinned;
  cudaMallocHost((void **)&pinned, BYTES);
  cudaMemcpyAsync(pinned, data, BYTES, cudaMemcpyDeviceToHost, a);
  cudaMemcpyAsync(other, pinned, BYTES, cudaMemcpyHostToDevice, b);
}

// --- memory side by side -------------------------------------------------------------------------

static void halves(void) {
  launch_write(a, data);
  launch_write(b, data + WORDS);
}

static void interleaved_bytes(void) {
  launch_write_bytes(a, data);
  launch_write_bytes(b, (char *)data + 1);
}

static void same_bytes(void) {
  launch_write_bytes(a, data);
  launch_write_bytes(b, data);
}

static void bytes_then_words(void) {
  launch_write_bytes(a, (char *)data + 1);
  launch_copy(b, data, other);
}

static void unaligned_neighbours(void) {
  cudaMemsetAsync(data, 0, 13, a);
  cudaMemsetAsync((char *)data + 13, 0, 20, b);
}

static void read_by_both(void) {
  launch_copy(a, data, other);
  launch_copy(b, data, other + WORDS);
}

static void counted_by_both(void) {
  launch_count(a, data);
  launch_count(b, data);
}

static void counted_and_read(void) {
  launch_count(a, data);
  launch_copy(b, data, other);
}

// --- memory of a stream's order ------------------------------------------------------------------

static void free_too_early(void) {
  float *own;
  cudaMallocAsync((void **)&own, BYTES, a);
  cudaMemsetAsync(own, 0, BYTES, a);
  cudaEventRecord(event, a);
  cudaStreamWaitEvent(b, event, 0);
  launch_copy(b, own, other);
  cudaFreeAsync(own, a);
}

static void free_in_turn(void) {
  float *own;
  cudaMallocAsync((void **)&own, BYTES, a);
  cudaMemsetAsync(own, 0, BYTES, a);
  cudaEventRecord(event, a);
  cudaStreamWaitEvent(b, event, 0);
  launch_copy(b, own, other);
  cudaEventRecord(event, b);
  cudaStreamWaitEvent(a, event, 0);
  cudaFreeAsync(own, a);
}

static void used_again(void) {
  for (int i = 0; i < 40; ++i) {
    cudaStream_t stream = i % 3 == 0 ? a : b;
    float *own;
    cudaMallocAsync((void **)&own, BYTES, stream);
    launch_write(stream, own);
    cudaFreeAsync(own, stream);
    if (i % 7 == 0)
      cudaStreamSynchronize(stream);
  }
}

static void addresses_used_again(void) {
  enum { ENOUGH = 20000, SOME = 1000 }; // freed memory is not used again at once
  for (int i = 0; i < ENOUGH; ++i) {
    cudaStream_t stream = i / 5 % 2 == 0 ? a : b;
    void *own;
    cudaMallocAsync(&own, BYTES, stream);
    launch_write(stream, own);
    cudaFreeAsync(own, stream);
    if (i % SOME == 0)
      pause_for_others();
  }
}

static void free_of_all(void) {
  float *own;
  cudaMalloc((void **)&own, BYTES);
  launch_write(a, own);
  cudaFree(own);
  cudaMalloc((void **)&own, BYTES);
  launch_write(b, own);
}

// --- many ----------------------------------------------------------------------------------------

enum { MANY = 40 };

static void many(int forgotten) {
  for (int round = 0; round < 5; ++round) {
    cudaStream_t streams[MANY];
    cudaEvent_t events[MANY];
    launch_write(a, data);
    cudaEventRecord(event, a);
    for (int i = 0; i < MANY; ++i) {
      cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking);
      cudaEventCreate(&events[i]);
      cudaStreamWaitEvent(streams[i], event, 0);
      void *own;
      cudaMallocAsync(&own, BYTES, streams[i]);
      launch_copy(streams[i], data, own);
      cudaFreeAsync(own, streams[i]);
      cudaEventRecord(events[i], streams[i]);
      if (i != forgotten)
        cudaStreamWaitEvent(a, events[i], 0);
      cudaEventDestroy(events[i]);
      cudaStreamDestroy(streams[i]);
    }
  }
  launch_write(a, data);
}

static void many_streams(void) { many(-1); }

static void one_of_many_forgotten(void) { many(17); }

static void many_launches(void) {
  for (int i = 0; i < 4000; ++i) {
    launch_write(a, data);
    cudaEventRecord(event, a);
    cudaStreamWaitEvent(b, event, 0);
    launch_copy(b, data, other);
    cudaEventRecord(event, b);
    cudaStreamWaitEvent(a, event, 0);
    if (i % 2000 == 1999)
      cudaDeviceSynchronize();
  }
  launch_write(b, data);
}

static void many_launches_and_a_race(void) {
  many_launches();
  launch_write(a, data);
}

// --- graphs --------------------------------------------------------------------------------------

static void graph(cudaStream_t stream) {
  cudaGraph_t captured;
  cudaGraphExec_t executable;
  cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
  launch_write(a, data);
  launch_copy(a, data, other);
  cudaStreamEndCapture(a, &captured);
  cudaGraphInstantiate(&executable, captured, 0);
  cudaGraphLaunch(executable, stream);
  cudaGraphLaunch(executable, stream);
}

static void graph_in_turn(void) {
  graph(a);
  launch_write(a, data);
}

static void graph_not_waited_for(void) {
  graph(a);
  launch_write(b, data);
}

static const struct {
  const char *name;
  void (*run)(void);
} programs[] = {
#define PROGRAM(name) {#name, name}
    PROGRAM(write_then_read),
    PROGRAM(read_then_write),
    PROGRAM(write_twice),
    PROGRAM(one_of_two_readers_waited_for),
    PROGRAM(same_stream),
    PROGRAM(ordered_by_event),
    PROGRAM(event_recorded_too_early),
    PROGRAM(waited_too_late),
    PROGRAM(waited_too_late_elsewhere),
    PROGRAM(ordered_over_a_third),
    PROGRAM(written_long_before),
    PROGRAM(event_long_past),
    PROGRAM(default_stream_long_after),
    PROGRAM(stream_of_one_destroyed),
    PROGRAM(ordered_by_stream_wait),
    PROGRAM(ordered_by_event_wait),
    PROGRAM(ordered_by_question),
    PROGRAM(ordered_by_device_wait),
    PROGRAM(ordered_by_host_function),
    PROGRAM(another_stream_waited_for),
    PROGRAM(ordered_by_default_stream),
    PROGRAM(default_stream_orders_no_others),
    PROGRAM(copy_to_host_too_early),
    PROGRAM(copy_to_host_in_turn),
    PROGRAM(copy_to_host_orders),
    PROGRAM(copy_to_device_too_early),
    PROGRAM(copy_not_waited_for),
    PROGRAM(fill_not_waited_for),
    PROGRAM(pinned_not_waited_for),
    PROGRAM(halves),
    PROGRAM(interleaved_bytes),
    PROGRAM(same_bytes),
    PROGRAM(bytes_then_words),
    PROGRAM(unaligned_neighbours),
    PROGRAM(read_by_both),
    PROGRAM(counted_by_both),
    PROGRAM(counted_and_read),
    PROGRAM(free_too_early),
    PROGRAM(free_in_turn),
    PROGRAM(used_again),
    PROGRAM(addresses_used_again),
    PROGRAM(free_of_all),
    PROGRAM(many_streams),
    PROGRAM(one_of_many_forgotten),
    PROGRAM(many_launches),
    PROGRAM(many_launches_and_a_race),
    PROGRAM(graph_in_turn),
    PROGRAM(graph_not_waited_for),
};

int main(int argc, char **argv) {
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  cudaEventCreate(&event);
  cudaMalloc((void **)&data, 2 * BYTES);
  cudaMalloc((void **)&other, 2 * BYTES);
  cudaMemset(data, 0, 2 * BYTES);
  cudaMemset(other, 0, 2 * BYTES);
  cudaDeviceSynchronize();
  for (size_t i = 0; i < sizeof programs / sizeof *programs; ++i)
    if (argc == 2 && strcmp(argv[1], programs[i].name) == 0) {
      programs[i].run();
      cudaError_t error = cudaDeviceSynchronize();
      puts(cudaGetErrorName(error));
      return error != cudaSuccess;
    }
  return EXIT_FAILURE;
}
