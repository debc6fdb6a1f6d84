// Making a plan: the descriptors of a convolution, and the algorithm that cuDNN's heuristics put
// first of those that are allowed.

#include "convolution_plan.h"
#include "calls.h"
#include "failure.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

// Descriptors have two dims of places at least: a convolution along one has a first of size 1.
enum { LEAST_PLACES = 2, MOST_CHOICES = 16 };

static const char *const operand_names[] = {"image", "weights", "result"};

static int added_places(const struct hirc_convolution_site *site) {
  return site->places < LEAST_PLACES ? LEAST_PLACES - (int)site->places : 0;
}

static bool is_empty(const struct hirc_convolution_site *site, struct convolution_plan *plan,
                     int operand) {
  const struct convolution_extent *extents = convolution_extents(site, plan, operand);
  for (int i = 0; i < convolution_rank(site); ++i)
    if (extents[i].size <= 0)
      return true;
  return false;
}

__attribute__((cold, noinline)) static _Noreturn void refuse_lying(const char *operand,
                                                                   const char *location) {
  char text[192];
  snprintf(text, sizeof text,
           "the %s of this convolution lie%s in memory in a way that cuDNN cannot take; "
           "--convolutions=own builds the program without it",
           operand, operand == operand_names[CONVOLUTION_WEIGHTS] ? "" : "s");
  hirc_refuse(text, 0, 0, location);
}

static int as_int(int64_t number, const char *operand, const char *location) {
  if (number > INT_MAX)
    refuse_lying(operand, location);
  return (int)number;
}

// Whether elements lie without gaps in this order of the dims, outermost first. Dims of one element
// get the strides that they would have there.
static bool pack(const int *sizes, int64_t *strides, const int *order, int rank) {
  int64_t expected[LEAST_PLACES + CONVOLUTION_MOST_DIMS], next = 1;
  for (int i = rank - 1; i >= 0; --i) {
    int dim = order[i];
    if (sizes[dim] != 1 && strides[dim] != next)
      return false;
    expected[dim] = next;
    next *= sizes[dim];
  }
  memcpy(strides, expected, (size_t)rank * sizeof *strides);
  return true;
}

// Writes the sizes and strides of an operand as descriptors have them. Returns whether, and how, it
// is packed: -1 where it is not.
static int describe(const struct hirc_convolution_site *site, struct convolution_plan *plan,
                    int operand, int *sizes, int64_t *strides, const char *location) {
  const struct convolution_extent *extents = convolution_extents(site, plan, operand);
  int added = added_places(site), rank = convolution_rank(site) + added;
  for (int i = 0; i < rank; ++i) {
    int from = i < 2 ? i : i - added;
    bool is_added = i >= 2 && i < 2 + added;
    sizes[i] = is_added ? 1 : as_int(extents[from].size, operand_names[operand], location);
    strides[i] = is_added ? 0 : extents[from].stride;
  }
  int second[2 + HIRC_CONVOLUTION_PLACES], last[2 + HIRC_CONVOLUTION_PLACES];
  for (int i = 0; i < rank; ++i) {
    second[i] = i;
    last[i] = i == 0 ? 0 : i < rank - 1 ? i + 1 : 1;
  }
  if (pack(sizes, strides, second, rank))
    return CUDNN_CHANNELS_SECOND;
  if (pack(sizes, strides, last, rank))
    return CUDNN_CHANNELS_LAST;
  for (int i = 2; i < 2 + added; ++i)
    strides[i] = strides[i + 1] * sizes[i + 1];
  return -1;
}

static void make_tensor(cudnn_tensor *made, const struct hirc_convolution_site *site,
                        struct convolution_plan *plan, const struct cudnn *library,
                        int operand, const char *location) {
  int sizes[2 + HIRC_CONVOLUTION_PLACES], whole[2 + HIRC_CONVOLUTION_PLACES];
  int64_t strides[2 + HIRC_CONVOLUTION_PLACES];
  describe(site, plan, operand, sizes, strides, location);
  int rank = convolution_rank(site) + added_places(site);
  for (int i = 0; i < rank; ++i)
    whole[i] = as_int(strides[i], operand_names[operand], location);
  cudnn_check(library, library->CreateTensorDescriptor(made), "cudnnCreateTensorDescriptor",
              location);
  cudnn_check(library,
              library->SetTensorNdDescriptor(*made, (int)site->element, rank, sizes, whole),
              "cudnnSetTensorNdDescriptor", location);
}

static void make_filter(struct convolution_plan *plan, const struct hirc_convolution_site *site,
                        const struct cudnn *library, const char *location) {
  int sizes[2 + HIRC_CONVOLUTION_PLACES];
  int64_t strides[2 + HIRC_CONVOLUTION_PLACES];
  int format = describe(site, plan, CONVOLUTION_WEIGHTS, sizes, strides, location);
  if (format < 0)
    refuse_lying(operand_names[CONVOLUTION_WEIGHTS], location);
  cudnn_check(library, library->CreateFilterDescriptor(&plan->weights),
              "cudnnCreateFilterDescriptor", location);
  cudnn_check(library,
              library->SetFilterNdDescriptor(plan->weights, (int)site->element, format,
                                             convolution_rank(site) + added_places(site), sizes),
              "cudnnSetFilterNdDescriptor", location);
}

static void make_convolution(struct convolution_plan *plan,
                             const struct hirc_convolution_site *site, const struct cudnn *library,
                             const char *location) {
  int added = added_places(site), places = (int)site->places + added;
  int padding[HIRC_CONVOLUTION_PLACES], strides[HIRC_CONVOLUTION_PLACES];
  int dilations[HIRC_CONVOLUTION_PLACES];
  for (int i = 0; i < places; ++i) {
    padding[i] = i < added ? 0 : (int)site->padding[i - added];
    strides[i] = i < added ? 1 : (int)site->strides[i - added];
    dilations[i] = i < added ? 1 : (int)site->dilations[i - added];
  }
  cudnn_check(library, library->CreateConvolutionDescriptor(&plan->convolution),
              "cudnnCreateConvolutionDescriptor", location);
  // Sums of all element types are f32.
  cudnn_check(library,
              library->SetConvolutionNdDescriptor(plan->convolution, places, padding, strides,
                                                  dilations, CUDNN_CROSS_CORRELATION, CUDNN_F32),
              "cudnnSetConvolutionNdDescriptor", location);
  if (site->groups != 1)
    cudnn_check(library,
                library->SetConvolutionGroupCount(plan->convolution, (int)site->groups),
                "cudnnSetConvolutionGroupCount", location);
  cudnn_check(library, library->SetConvolutionMathType(plan->convolution, (int)site->math),
              "cudnnSetConvolutionMathType", location);
}

// A forward convolution may leave the end of an image unread: cuDNN is told of what is read.
static void cut_image(struct convolution_plan *plan, const struct hirc_convolution_site *site) {
  if (site->is_gradient)
    return;
  for (int i = 0; i < site->places; ++i) {
    struct convolution_extent *image = &convolution_extents(site, plan, CONVOLUTION_IMAGE)[2 + i];
    int64_t window = convolution_extents(site, plan, CONVOLUTION_WEIGHTS)[2 + i].size;
    int64_t results = convolution_extents(site, plan, CONVOLUTION_RESULT)[2 + i].size;
    int64_t read = (results - 1) * site->strides[i] + site->dilations[i] * (window - 1) + 1;
    if (site->padding[i] == 0 && image->size > read)
      image->size = read;
  }
}

// The arithmetic of an algorithm that was chosen, as it was asked for, and no less exact.
static int math_of(const struct hirc_convolution_site *site, const struct cudnn_choice *choice) {
  return site->math == CUDNN_MATH_FMA ? CUDNN_MATH_FMA : choice->math;
}

static bool is_allowed(const struct hirc_convolution_site *site,
                       const struct cudnn_choice *choice) {
  // What is summed: products of elements, or of what is transformed.
  int last = site->is_gradient ? CUDNN_GRADIENT_1 : CUDNN_FORWARD_DIRECT;
  bool has_math = site->math != CUDNN_MATH_FMA || choice->math != CUDNN_MATH_TENSOR_OP;
  return choice->status == CUDNN_SUCCESS && choice->determinism == CUDNN_DETERMINISTIC &&
         choice->workspace_bytes <= CONVOLUTION_WORKSPACE_BYTES && has_math &&
         choice->math != CUDNN_MATH_TENSOR_OP_ALLOW_CONVERSION &&
         (site->transforms || choice->algorithm <= last);
}

__attribute__((cold, noinline)) static _Noreturn void
refuse_choices(struct convolution_plan *plan, const struct hirc_convolution_site *site,
               const struct cudnn *library, const char *location) {
  static const char *const before[] = {"", " by ", " to "};
  hirc_error_begin(location);
  hirc_error_add("cuDNN %zu has no algorithm for this convolution of ", library->GetVersion());
  for (int operand = 0; operand < CONVOLUTION_OPERANDS; ++operand) {
    const struct convolution_extent *extents = convolution_extents(site, plan, operand);
    hirc_error_add("%s%s", before[operand], operand_names[operand]);
    for (int i = 0; i < convolution_rank(site); ++i)
      hirc_error_add("%s%lld", i ? "x" : " ", (long long)extents[i].size);
  }
  hirc_error_add(" in %lld group%s that is deterministic, rounds no more than the program allows and "
                 "takes up to %zu bytes of memory\n"
                 "note: --convolutions=own builds the program without it",
                 (long long)site->groups, site->groups == 1 ? "" : "s",
                 CONVOLUTION_WORKSPACE_BYTES);
  hirc_fail(hirc_end_program);
}

static void choose_algorithm(struct convolution_plan *plan,
                             const struct hirc_convolution_site *site, const struct cudnn *library,
                             cudnn_handle handle, const char *location) {
  struct cudnn_choice choices[MOST_CHOICES];
  int found = 0;
  const char *call = site->is_gradient ? "cudnnGetConvolutionBackwardDataAlgorithm_v7"
                                       : "cudnnGetConvolutionForwardAlgorithm_v7";
  int status = site->is_gradient
                   ? library->GetConvolutionBackwardDataAlgorithm_v7(
                         handle, plan->weights, plan->image, plan->convolution, plan->result,
                         MOST_CHOICES, &found, choices)
                   : library->GetConvolutionForwardAlgorithm_v7(
                         handle, plan->image, plan->weights, plan->convolution, plan->result,
                         MOST_CHOICES, &found, choices);
  bool is_none = status == CUDNN_8_NOT_SUPPORTED ||
                 (status >= CUDNN_9_NOT_SUPPORTED && status < CUDNN_9_NOT_SUPPORTED_END);
  if (!is_none)
    cudnn_check(library, status, call, location);
  for (int i = 0; !is_none && i < found; ++i) {
    if (!is_allowed(site, &choices[i]))
      continue;
    plan->algorithm = choices[i].algorithm;
    cudnn_check(library, library->SetConvolutionMathType(plan->convolution,
                                                math_of(site, &choices[i])),
                "cudnnSetConvolutionMathType", location);
    status = site->is_gradient
                 ? library->GetConvolutionBackwardDataWorkspaceSize(
                       handle, plan->weights, plan->image, plan->convolution, plan->result,
                       plan->algorithm, &plan->workspace_bytes)
                 : library->GetConvolutionForwardWorkspaceSize(
                       handle, plan->image, plan->weights, plan->convolution, plan->result,
                       plan->algorithm, &plan->workspace_bytes);
    cudnn_check(library, status, "cudnnGetConvolutionWorkspaceSize", location);
    if (plan->workspace_bytes <= CONVOLUTION_WORKSPACE_BYTES)
      return;
  }
  refuse_choices(plan, site, library, location);
}

struct convolution_plan *hirc_convolution_plan(const struct hirc_convolution_site *site,
                                               const int64_t *extents, int device, void *stream,
                                               const char *location) {
  struct convolution_plan *plan = calloc(1, sizeof *plan);
  if (!plan)
    hirc_refuse("no memory is left on the host", 0, 0, location);
  hirc_own(plan, hirc_convolution_plan_release, HIRC_OBJECT, location);
  memcpy(plan->key.extents, extents, convolution_extents_bytes(site));
  plan->key.device = device;
  if (is_empty(site, plan, CONVOLUTION_RESULT)) {
    plan->work = CONVOLUTION_NOTHING;
    return plan;
  }
  if (is_empty(site, plan, CONVOLUTION_WEIGHTS) || is_empty(site, plan, CONVOLUTION_IMAGE)) {
    plan->work = CONVOLUTION_ZERO;
    return plan;
  }
  plan->work = CONVOLUTION_SUMS;
  const struct cudnn *library = hirc_cudnn(location);
  cut_image(plan, site);
  make_tensor(&plan->image, site, plan, library, CONVOLUTION_IMAGE, location);
  make_tensor(&plan->result, site, plan, library, CONVOLUTION_RESULT, location);
  make_filter(plan, site, library, location);
  make_convolution(plan, site, library, location);
  struct convolution_handle *handle = hirc_cudnn_handle(library, device, stream, location);
  choose_algorithm(plan, site, library, handle->handle, location);
  hirc_cudnn_handle_done(handle, device);
  // The extents are compared with those of the calls that follow.
  memcpy(plan->key.extents, extents, convolution_extents_bytes(site));
  return plan;
}

void hirc_convolution_plan_release(void *made, void *stream) {
  (void)stream;
  struct convolution_plan *plan = made;
  const struct cudnn *library = plan->image ? hirc_cudnn(NULL) : NULL;
  if (plan->convolution)
    library->DestroyConvolutionDescriptor(plan->convolution);
  if (plan->weights)
    library->DestroyFilterDescriptor(plan->weights);
  if (plan->result)
    library->DestroyTensorDescriptor(plan->result);
  if (plan->image)
    library->DestroyTensorDescriptor(plan->image);
  free(plan);
}
