// A cuDNN that convolves on the host, for testing what calls it.
//
// It has the entry points of the legacy API that the support library uses, takes tensors as cuDNN
// defines them (images, channels, two or three places, with a stride each; filters packed), and
// refuses with CUDNN_STATUS_BAD_PARAM what cuDNN would: sizes that do not fit together, strides by
// which elements share a place, groups that do not divide, an algorithm that was not chosen for the
// convolution, a workspace that is too small or less aligned than 256 bytes. As cuDNN it has no algorithm
// for gradients of images with channels last, where weights or results lie otherwise. Its heuristics put
// algorithms first that a caller may have reasons not to take: one of transformed tiles, one that
// fails, one that is not deterministic, one that needs too much memory. Where f32 need not be
// multiplied as it is, it is rounded to tf32. It logs its calls, and any call can be made to fail.

#include "fake_library.h"

enum { F32 = 0, F16 = 2, BF16 = 9, FMA = 3, BAD_PARAM = 2000, NOT_SUPPORTED = 3000 };
enum { MOST = 5 };

struct tensor {
  int type, rank, sizes[MOST], strides[MOST];
};
struct filter {
  int type, format, rank, sizes[MOST];
};
struct convolution {
  int places, padding[3], strides[3], dilations[3], mode, compute, math, groups;
};
struct choice {
  int algorithm, status;
  float time;
  size_t workspace;
  int determinism, math, reserved[3];
};
struct handle {
  void *stream;
  bool has_stream;
};

const char *cudnnGetErrorString(int status) {
  return status == BAD_PARAM       ? "CUDNN_STATUS_BAD_PARAM"
         : status == NOT_SUPPORTED ? "CUDNN_STATUS_NOT_SUPPORTED"
         : status == 0             ? "CUDNN_STATUS_SUCCESS"
                                   : "CUDNN_STATUS_OTHER";
}
#ifndef WITHOUT_LAST_ERROR
void cudnnGetLastErrorString(char *message, size_t bytes) {
  snprintf(message, bytes, "the reason that the stand-in gives");
}
#endif
size_t cudnnGetVersion(void) { return 91002; }

static int create(void *made, size_t bytes) {
  if (is_planted())
    return BAD_PARAM;
  void *object = make(bytes);
  memcpy(made, &object, sizeof object);
  return 0;
}

int cudnnCreate(struct handle **handle) {
  int status = answer("cudnnCreate", "%s", "");
  return status ? status : create(handle, sizeof **handle);
}
int cudnnDestroy(struct handle *handle) { return destroy(handle); }
int cudnnSetStream(struct handle *handle, void *stream) {
  if (is_planted())
    return BAD_PARAM;
  handle->stream = stream;
  return answer("cudnnSetStream", "%s", "");
}

int cudnnCreateTensorDescriptor(struct tensor **tensor) { return create(tensor, sizeof **tensor); }
int cudnnDestroyTensorDescriptor(struct tensor *tensor) { return destroy(tensor); }
int cudnnSetTensorNdDescriptor(struct tensor *tensor, int type, int rank, const int *sizes,
                               const int *strides) {
  if (is_planted() || rank < 4 || rank > MOST || (type != F32 && type != F16 && type != BF16))
    return BAD_PARAM;
  tensor->type = type;
  tensor->rank = rank;
  for (int i = 0; i < rank; ++i) {
    if (sizes[i] < 1 || strides[i] < 0)
      return BAD_PARAM;
    tensor->sizes[i] = sizes[i];
    tensor->strides[i] = strides[i];
  }
  return 0;
}

int cudnnCreateFilterDescriptor(struct filter **filter) { return create(filter, sizeof **filter); }
int cudnnDestroyFilterDescriptor(struct filter *filter) { return destroy(filter); }
int cudnnSetFilterNdDescriptor(struct filter *filter, int type, int format, int rank,
                               const int *sizes) {
  if (is_planted() || rank < 4 || rank > MOST || (format != 0 && format != 1))
    return BAD_PARAM;
  filter->type = type;
  filter->format = format;
  filter->rank = rank;
  for (int i = 0; i < rank; ++i) {
    if (sizes[i] < 1)
      return BAD_PARAM;
    filter->sizes[i] = sizes[i];
  }
  return 0;
}

int cudnnCreateConvolutionDescriptor(struct convolution **convolution) {
  int status = create(convolution, sizeof **convolution);
  if (!status)
    (*convolution)->groups = 1;
  return status;
}
int cudnnDestroyConvolutionDescriptor(struct convolution *convolution) {
  return destroy(convolution);
}
int cudnnSetConvolutionNdDescriptor(struct convolution *convolution, int places, const int *padding,
                                    const int *strides, const int *dilations, int mode,
                                    int compute) {
  if (is_planted() || places < 2 || places > 3 || mode != 1 || compute != F32)
    return BAD_PARAM;
  convolution->places = places;
  convolution->mode = mode;
  convolution->compute = compute;
  for (int i = 0; i < places; ++i) {
    if (padding[i] < 0 || strides[i] < 1 || dilations[i] < 1)
      return BAD_PARAM;
    convolution->padding[i] = padding[i];
    convolution->strides[i] = strides[i];
    convolution->dilations[i] = dilations[i];
  }
  return 0;
}
int cudnnSetConvolutionMathType(struct convolution *convolution, int math) {
  if (is_planted() || math < 0 || math > FMA)
    return BAD_PARAM;
  convolution->math = math;
  return 0;
}
int cudnnSetConvolutionGroupCount(struct convolution *convolution, int groups) {
  if (is_planted() || groups < 1)
    return BAD_PARAM;
  convolution->groups = groups;
  return 0;
}

// Whether each element has a place of its own: by strides from the least to the greatest.
static bool has_own_places(const struct tensor *tensor) {
  int order[MOST];
  for (int i = 0; i < tensor->rank; ++i) {
    int at = i;
    for (; at > 0 && tensor->strides[order[at - 1]] > tensor->strides[i]; --at)
      order[at] = order[at - 1];
    order[at] = i;
  }
  int64_t reach = 0;
  for (int i = 0; i < tensor->rank; ++i) {
    int64_t size = tensor->sizes[order[i]], stride = tensor->strides[order[i]];
    if (size > 1 && stride <= reach)
      return false;
    reach += (size - 1) * stride;
  }
  return true;
}

// Whether `image` convolved by `filter` is `result`.
static bool fits(const struct tensor *image, const struct filter *filter,
                 const struct convolution *convolution, const struct tensor *result) {
  int rank = convolution->places + 2, groups = convolution->groups;
  if (image->rank != rank || filter->rank != rank || result->rank != rank ||
      image->type != filter->type || image->type != result->type ||
      image->sizes[0] != result->sizes[0] || result->sizes[1] != filter->sizes[0] ||
      image->sizes[1] != filter->sizes[1] * groups || filter->sizes[0] % groups != 0 ||
      !has_own_places(result) || !has_own_places(image))
    return false;
  for (int i = 0; i < convolution->places; ++i) {
    int reach = convolution->dilations[i] * (filter->sizes[2 + i] - 1) + 1;
    int places = image->sizes[2 + i] + 2 * convolution->padding[i] - reach;
    if (places < 0 || places / convolution->strides[i] + 1 != result->sizes[2 + i])
      return false;
  }
  return true;
}

static void write_tensor(char described[160], const struct tensor *tensor) {
  int at = 0;
  for (int i = 0; i < tensor->rank; ++i)
    at += snprintf(described + at, 160 - (size_t)at, "%s%d", i ? "x" : "", tensor->sizes[i]);
  for (int i = 0; i < tensor->rank; ++i)
    at += snprintf(described + at, 160 - (size_t)at, "%s%d", i ? "," : " strides ",
                   tensor->strides[i]);
}

static void write_window(char described[160], const struct filter *filter,
                         const struct convolution *convolution) {
  int at = 0;
  for (int i = 0; i < filter->rank; ++i)
    at += snprintf(described + at, 160 - (size_t)at, "%s%d", i ? "x" : "", filter->sizes[i]);
  at += snprintf(described + at, 160 - (size_t)at, " %s groups %d",
                 filter->format ? "last" : "second", convolution->groups);
  const int *numbers[] = {convolution->padding, convolution->strides, convolution->dilations};
  const char *names[] = {"padding ", "steps ", "dilations "};
  for (int kind = 0; kind < 3; ++kind)
    for (int i = 0; i < convolution->places; ++i)
      at += snprintf(described + at, 160 - (size_t)at, "%s%s%d", i ? "," : " ", i ? "" : names[kind],
                     numbers[kind][i]);
}

static bool has_channels_last(const struct tensor *tensor) {
  int last = tensor->rank - 1;
  return tensor->strides[1] < tensor->strides[last] && tensor->sizes[1] > 1 &&
         tensor->sizes[last] > 1;
}

static int find_algorithms(const char *call, const struct tensor *image,
                           const struct filter *filter, const struct convolution *convolution,
                           const struct tensor *result, int wanted, int *found,
                           struct choice *choices, int transformed, int loose, int exact) {
  if (is_planted())
    return BAD_PARAM;
  *found = 0;
  int status = answer(call, " math %d type %d", convolution->math, image->type);
  if (status)
    return status;
  if (wanted < 5 || !fits(image, filter, convolution, result))
    return BAD_PARAM;
  if (fake_library_finds_nothing)
    return 0;
  int math = convolution->math;
  struct choice all[] = {
      {.algorithm = transformed, .workspace = 1024, .determinism = 1, .math = math},
      {.algorithm = exact, .status = NOT_SUPPORTED, .determinism = 1, .math = math},
      {.algorithm = loose, .workspace = 512, .determinism = 0, .math = math},
      {.algorithm = exact, .workspace = (size_t)1 << 40, .determinism = 1, .math = math},
      {.algorithm = exact, .workspace = fake_library_workspace, .determinism = 1, .math = math},
  };
  memcpy(choices, all, sizeof all);
  *found = 5;
  return 0;
}

int cudnnGetConvolutionForwardAlgorithm_v7(struct handle *handle, const struct tensor *image,
                                           const struct filter *filter,
                                           const struct convolution *convolution,
                                           const struct tensor *result, int wanted, int *found,
                                           struct choice *choices) {
  (void)handle;
  return find_algorithms("cudnnGetConvolutionForwardAlgorithm_v7", image, filter, convolution,
                         result, wanted, found, choices, 5, 2, 1);
}
int cudnnGetConvolutionBackwardDataAlgorithm_v7(struct handle *handle, const struct filter *filter,
                                                const struct tensor *image,
                                                const struct convolution *convolution,
                                                const struct tensor *result, int wanted, int *found,
                                                struct choice *choices) {
  (void)handle;
  if (has_channels_last(image) && !(filter->format && has_channels_last(result)))
    return NOT_SUPPORTED;
  return find_algorithms("cudnnGetConvolutionBackwardDataAlgorithm_v7", result, filter,
                         convolution, image, wanted, found, choices, 3, 0, 1);
}

static int workspace_of(int algorithm, size_t *bytes) {
  if (is_planted())
    return BAD_PARAM;
  *bytes = algorithm == 1 ? fake_library_workspace : 1024;
  return 0;
}
int cudnnGetConvolutionForwardWorkspaceSize(struct handle *handle, const struct tensor *image,
                                            const struct filter *filter,
                                            const struct convolution *convolution,
                                            const struct tensor *result, int algorithm,
                                            size_t *bytes) {
  (void)handle, (void)image, (void)filter, (void)convolution, (void)result;
  return workspace_of(algorithm, bytes);
}
int cudnnGetConvolutionBackwardDataWorkspaceSize(struct handle *handle, const struct filter *filter,
                                                 const struct tensor *image,
                                                 const struct convolution *convolution,
                                                 const struct tensor *result, int algorithm,
                                                 size_t *bytes) {
  (void)handle, (void)image, (void)filter, (void)convolution, (void)result;
  return workspace_of(algorithm, bytes);
}

static double load(const void *start, int type, int64_t place, bool is_rounded) {
  if (type == F32) {
    float number = ((const float *)start)[place];
    return is_rounded ? from_bits(rounded_bits(number, 13) & ~8191u) : number;
  }
  uint16_t bits = ((const uint16_t *)start)[place];
  return type == F16 ? half(bits) : from_bits((uint32_t)bits << 16);
}

static void store(void *start, int type, int64_t place, double number) {
  if (type == F32)
    ((float *)start)[place] = (float)number;
  else if (type == F16)
    ((uint16_t *)start)[place] = to_half((float)number);
  else
    ((uint16_t *)start)[place] =
        number != number ? 0x7fc0 : (uint16_t)(rounded_bits((float)number, 16) >> 16);
}

// An index of a tensor of three places, of which the first may be none.
struct point {
  int64_t at[3];
};

static int64_t size_of(const int *sizes, int rank, int place) {
  int from = place - (3 - (rank - 2));
  return from < 0 ? 1 : sizes[2 + from];
}

static int64_t number_of(const int *numbers, int places, int place, int otherwise) {
  int from = place - (3 - places);
  return from < 0 ? otherwise : numbers[from];
}

static int64_t offset_of(const struct tensor *tensor, int64_t image, int64_t channel,
                         struct point point) {
  int64_t offset = image * tensor->strides[0] + channel * tensor->strides[1];
  for (int i = 0; i < tensor->rank - 2; ++i)
    offset += point.at[3 - (tensor->rank - 2) + i] * tensor->strides[2 + i];
  return offset;
}

static int64_t filter_offset(const struct filter *filter, int64_t number, int64_t channel,
                             struct point point) {
  int64_t offset = number, places = filter->rank - 2;
  if (filter->format == 0)
    offset = offset * filter->sizes[1] + channel;
  for (int64_t i = 0; i < places; ++i)
    offset = offset * filter->sizes[2 + i] + point.at[3 - places + i];
  return filter->format ? offset * filter->sizes[1] + channel : offset;
}

// All points, in order; false at the end.
static bool next(struct point *point, const int64_t *sizes) {
  for (int i = 2; i >= 0; --i) {
    if (++point->at[i] < sizes[i])
      return true;
    point->at[i] = 0;
  }
  return false;
}

// Convolves, or, for the gradient of the image, is asked for each of its elements what it adds to.
static void convolve(const struct tensor *image, const void *given, const struct filter *filter,
                     const void *weights, const struct convolution *convolution,
                     const struct tensor *result, void *taken, bool is_gradient) {
  bool is_rounded = convolution->math != FMA;
  int groups = convolution->groups, places = convolution->places;
  int64_t window[3], inner[3], outer[3], strides[3], padding[3], dilations[3];
  // The tensors of the forward convolution.
  const struct tensor *read = is_gradient ? result : image, *made = is_gradient ? image : result;
  for (int i = 0; i < 3; ++i) {
    window[i] = size_of(filter->sizes, filter->rank, i);
    inner[i] = size_of(read->sizes, read->rank, i);
    outer[i] = size_of(made->sizes, made->rank, i);
    strides[i] = number_of(convolution->strides, places, i, 1);
    padding[i] = number_of(convolution->padding, places, i, 0);
    dilations[i] = number_of(convolution->dilations, places, i, 1);
  }
  int64_t filters = filter->sizes[0] / groups, channels = filter->sizes[1];
  const int64_t *own = is_gradient ? inner : outer;
  int64_t own_channels = is_gradient ? channels : filters;
  int64_t summed = is_gradient ? filters : channels;
  for (int64_t n = 0; n < result->sizes[0]; ++n)
    for (int64_t g = 0; g < groups; ++g)
      for (int64_t c = 0; c < own_channels; ++c) {
        struct point point = {{0, 0, 0}};
        do {
          double sum = 0;
          struct point step = {{0, 0, 0}};
          do {
            struct point other;
            bool is_inside = true;
            for (int i = 0; i < 3; ++i) {
              int64_t far = step.at[i] * dilations[i];
              int64_t at = is_gradient ? point.at[i] + padding[i] - far
                                       : point.at[i] * strides[i] - padding[i] + far;
              is_inside &= !is_gradient || at % strides[i] == 0;
              other.at[i] = is_gradient ? at / strides[i] : at;
              is_inside &= at >= 0 && other.at[i] < (is_gradient ? outer : inner)[i];
            }
            for (int64_t s = 0; is_inside && s < summed; ++s) {
              int64_t f = g * filters + (is_gradient ? s : c);
              int64_t in_filter = filter_offset(filter, f, is_gradient ? c : s, step);
              int64_t in_image = offset_of(image, n, g * summed + s, other);
              sum += load(given, image->type, in_image, is_rounded) *
                     load(weights, filter->type, in_filter, is_rounded);
            }
          } while (next(&step, window));
          store(taken, result->type, offset_of(result, n, g * own_channels + c, point), sum);
        } while (next(&point, own));
      }
}

static int run(const char *call, struct handle *handle, const void *alpha, const void *beta,
               const struct tensor *image, const void *given, const struct filter *filter,
               const void *weights, const struct convolution *convolution, int algorithm,
               void *workspace, size_t workspace_bytes, const struct tensor *result, void *taken,
               bool is_gradient) {
  if (is_planted())
    return BAD_PARAM;
  char tensors[2][160], window[160];
  write_tensor(tensors[0], image);
  write_tensor(tensors[1], result);
  write_window(window, filter, convolution);
  int status = answer(call, " algorithm %d math %d type %d %s by %s to %s", algorithm,
                      convolution->math, image->type, tensors[0], window, tensors[1]);
  if (status)
    return status;
  size_t needed = algorithm == 1 ? fake_library_workspace : 1024;
  bool is_whole = is_gradient ? fits(result, filter, convolution, image)
                              : fits(image, filter, convolution, result);
  if (!is_whole || *(const float *)alpha != 1 || *(const float *)beta != 0 || !given ||
      !weights || !taken || given == taken || weights == taken || workspace_bytes < needed ||
      (needed && !workspace) || (uintptr_t)workspace % 256 != 0)
    return BAD_PARAM;
  if (fake_library_synchronize)
    fake_library_synchronize(handle->stream);
  if (needed)
    memset(workspace, 0xff, needed);
  convolve(image, given, filter, weights, convolution, result, taken, is_gradient);
  return 0;
}

int cudnnConvolutionForward(struct handle *handle, const void *alpha, const struct tensor *image,
                            const void *given, const struct filter *filter, const void *weights,
                            const struct convolution *convolution, int algorithm, void *workspace,
                            size_t workspace_bytes, const void *beta, const struct tensor *result,
                            void *taken) {
  return run("cudnnConvolutionForward", handle, alpha, beta, image, given, filter, weights,
             convolution, algorithm, workspace, workspace_bytes, result, taken, false);
}
#ifndef WITHOUT_GRADIENTS
int cudnnConvolutionBackwardData(struct handle *handle, const void *alpha,
                                 const struct filter *filter, const void *weights,
                                 const struct tensor *image, const void *given,
                                 const struct convolution *convolution, int algorithm,
                                 void *workspace, size_t workspace_bytes, const void *beta,
                                 const struct tensor *result, void *taken) {
  return run("cudnnConvolutionBackwardData", handle, alpha, beta, image, given, filter, weights,
             convolution, algorithm, workspace, workspace_bytes, result, taken, true);
}
#endif
