// The calls on streams: creating, waiting, host functions. What a stream is, is in stream.c.

#include "capture.h"
#include "checks/checks.h"
#include "pool.h"

#include <string.h>

enum { LEAST_PRIORITY = 0, GREATEST_PRIORITY = -5 };

static int create(cuda_stream *handle, unsigned flags, int priority) {
  int error = hirc_device_status();
  if (error != 0)
    return error;
  if (!handle || flags & ~(unsigned)CUDA_STREAM_NON_BLOCKING)
    return CUDA_ERROR_INVALID_VALUE;
  priority = priority > LEAST_PRIORITY ? LEAST_PRIORITY : priority;
  priority = priority < GREATEST_PRIORITY ? GREATEST_PRIORITY : priority;
  *handle = hirc_stream_open(flags, priority);
  return *handle ? 0 : CUDA_ERROR_MEMORY_ALLOCATION;
}

int cudaStreamCreateWithPriority(cuda_stream *stream, unsigned flags, int priority) {
  return hirc_report(create(stream, flags, priority));
}

int cudaStreamCreateWithFlags(cuda_stream *stream, unsigned flags) {
  return hirc_report(create(stream, flags, 0));
}

int cudaStreamCreate(cuda_stream *stream) { return hirc_report(create(stream, 0, 0)); }

int cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
  if (least)
    *least = LEAST_PRIORITY;
  if (greatest)
    *greatest = GREATEST_PRIORITY;
  return hirc_report(hirc_device_status());
}

// What was enqueued still runs.
int cudaStreamDestroy(cuda_stream handle) {
  struct hirc_stream *stream = hirc_stream_of(handle);
  if ((uintptr_t)handle <= CUDA_STREAM_PER_THREAD || !stream)
    return hirc_report(CUDA_ERROR_INVALID_RESOURCE_HANDLE);
  hirc_capture_leave(stream);
  hirc_stream_close(stream);
  return hirc_report(hirc_device_status());
}

int cudaStreamSynchronize(cuda_stream handle) {
  struct hirc_stream *stream = hirc_stream_of(handle);
  int error = stream ? hirc_device_status() : CUDA_ERROR_INVALID_RESOURCE_HANDLE;
  if (error == 0)
    error = hirc_capture_forbid_stream(stream);
  if (error != 0)
    return hirc_report(error);
  hirc_wait_for_stream(stream);
  hirc_flush_printf();
  return hirc_report(hirc_device_status());
}

int cudaStreamQuery(cuda_stream handle) {
  struct hirc_stream *stream = hirc_stream_of(handle);
  int error = stream ? hirc_device_status() : CUDA_ERROR_INVALID_RESOURCE_HANDLE;
  if (error == 0)
    error = hirc_capture_forbid_stream(stream);
  if (error != 0)
    return hirc_report(error);
  bool done = hirc_ask_reached(hirc_end_of(stream)) &&
              (stream != &hirc_legacy_stream || hirc_stream_is_idle(stream));
  if (!done)
    return hirc_report(CUDA_ERROR_NOT_READY);
  if (hirc_checks_order())
    hirc_wait_for_stream(stream); // it is known now that all is done
  return hirc_report(hirc_device_status());
}

// Whether something can be asked of the stream, with room for the answer.
static int check_question(const struct hirc_stream *stream, const void *answer) {
  if (!stream)
    return CUDA_ERROR_INVALID_RESOURCE_HANDLE;
  return answer ? 0 : CUDA_ERROR_INVALID_VALUE;
}

int cudaStreamGetFlags(cuda_stream handle, unsigned *flags) {
  struct hirc_stream *stream = hirc_stream_of(handle);
  int error = check_question(stream, flags);
  if (error != 0)
    return hirc_report(error);
  *flags = stream->flags;
  return hirc_report(hirc_device_status());
}

int cudaStreamGetPriority(cuda_stream handle, int *priority) {
  struct hirc_stream *stream = hirc_stream_of(handle);
  int error = check_question(stream, priority);
  if (error != 0)
    return hirc_report(error);
  *priority = stream->priority;
  return hirc_report(hirc_device_status());
}

int cudaStreamGetId(cuda_stream handle, unsigned long long *id) {
  struct hirc_stream *stream = hirc_stream_of(handle);
  int error = check_question(stream, id);
  if (error != 0)
    return hirc_report(error);
  *id = stream == &hirc_legacy_stream ? CUDA_STREAM_LEGACY : stream->id;
  return hirc_report(hirc_device_status());
}

int cudaStreamGetDevice(cuda_stream handle, int *device) {
  struct hirc_stream *stream = hirc_stream_of(handle);
  int error = check_question(stream, device);
  if (error != 0)
    return hirc_report(error);
  *device = 0;
  return hirc_report(hirc_device_status());
}

// --- functions of the host in a stream -----------------------------------------------------------

struct host_call {
  cuda_host_function *function;
  void *data;
};

static void begin_function(void) {
  hirc_pool_begin_outside();
  hirc_in_host_function = true;
}

static void end_function(void) {
  hirc_in_host_function = false;
  hirc_pool_end_outside();
}

static int run_host_call(void *payload) {
  const struct host_call *call = payload;
  begin_function();
  call->function(call->data);
  end_function();
  return 0;
}

static int enqueue_function(struct hirc_stream *stream, enum hirc_node_type type,
                            cuda_host_function *function, void *data) {
  struct hirc_command *command;
  int error = hirc_command_begin(stream, sizeof(struct host_call), &command);
  if (error != 0)
    return error;
  *(struct host_call *)command->payload = (struct host_call){function, data};
  command->run = run_host_call;
  command->type = type;
  hirc_command_end(stream, command);
  return 0;
}

int hirc_enqueue_communication(struct hirc_stream *stream, cuda_host_function *function,
                               void *data) {
  return enqueue_function(stream, HIRC_NODE_COMMUNICATION, function, data);
}

static int launch_host(cuda_stream handle, cuda_host_function *function, void *data) {
  struct hirc_stream *stream = hirc_stream_of(handle);
  if (!stream)
    return CUDA_ERROR_INVALID_RESOURCE_HANDLE;
  return function ? enqueue_function(stream, HIRC_NODE_HOST, function, data)
                  : CUDA_ERROR_INVALID_VALUE;
}

int cudaLaunchHostFunc(cuda_stream stream, cuda_host_function *function, void *data) {
  return hirc_report(launch_host(stream, function, data));
}

struct callback {
  cuda_stream_callback *function;
  cuda_stream stream;
  void *data;
};

static int run_callback(void *payload) {
  const struct callback *callback = payload;
  int status = hirc_device_status();
  begin_function();
  callback->function(callback->stream, status, callback->data);
  end_function();
  return 0;
}

static int add_callback(cuda_stream handle, cuda_stream_callback *function, void *data,
                        unsigned flags) {
  struct hirc_stream *stream = hirc_stream_of(handle);
  if (!stream)
    return CUDA_ERROR_INVALID_RESOURCE_HANDLE;
  if (!function || flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  int error = hirc_captures_running() ? hirc_capture_forbid_stream(stream) : 0;
  struct hirc_command *command;
  if (error == 0)
    error = hirc_command_begin(stream, sizeof(struct callback), &command);
  if (error != 0)
    return error;
  *(struct callback *)command->payload = (struct callback){function, handle, data};
  command->run = run_callback;
  command->always = true;
  command->type = HIRC_NODE_HOST;
  hirc_command_end(stream, command);
  return 0;
}

int cudaStreamAddCallback(cuda_stream stream, cuda_stream_callback *function, void *data,
                          unsigned flags) {
  return hirc_report(add_callback(stream, function, data, flags));
}

// --- attributes ----------------------------------------------------------------------------------

int cudaStreamGetAttribute(cuda_stream handle, int attribute,
                           union cuda_launch_attribute_value *value) {
  struct hirc_stream *stream = hirc_stream_of(handle);
  if (!stream)
    return hirc_report(CUDA_ERROR_INVALID_RESOURCE_HANDLE);
  if (!value)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  memset(value, 0, sizeof *value);
  if (attribute == CUDA_LAUNCH_PRIORITY)
    value->priority = stream->priority;
  return hirc_report(hirc_device_status());
}

// Attributes of streams are hints for caches and scheduling.
int cudaStreamSetAttribute(cuda_stream handle, int attribute,
                           const union cuda_launch_attribute_value *value) {
  struct hirc_stream *stream = hirc_stream_of(handle);
  if (!stream)
    return hirc_report(CUDA_ERROR_INVALID_RESOURCE_HANDLE);
  if (!value)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  if (attribute == CUDA_LAUNCH_PRIORITY)
    stream->priority = value->priority;
  return hirc_report(hirc_device_status());
}

int cudaStreamCopyAttributes(cuda_stream dst, cuda_stream src) {
  struct hirc_stream *to = hirc_stream_of(dst), *from = hirc_stream_of(src);
  if (!to || !from)
    return hirc_report(CUDA_ERROR_INVALID_RESOURCE_HANDLE);
  to->priority = from->priority;
  return hirc_report(hirc_device_status());
}
