// The part of cuDNN's C ABI that the support library calls, declared here so that the library
// compiles on a machine with no header of NVIDIA's, and found with dlsym so that programs start
// where cuDNN is not installed.
//
// Source of every prototype and number: cudnn_graph.h, cudnn_ops.h and cudnn_cnn.h of cuDNN 9 (of
// cuDNN 8 cudnn_ops_infer.h and cudnn_cnn_infer.h, which agree in them but for the numbers of
// statuses) and the "Legacy API" of NVIDIA's cuDNN documentation. Handles and descriptors are
// pointers to opaque objects; every enum has the size and passing of an int.
#ifndef HIRC_CUDNN_ABI_H
#define HIRC_CUDNN_ABI_H

#include "cuda_runtime_abi.h"

typedef void *cudnn_handle;
typedef void *cudnn_tensor;      // cudnnTensorDescriptor_t
typedef void *cudnn_filter;      // cudnnFilterDescriptor_t
typedef void *cudnn_convolution; // cudnnConvolutionDescriptor_t

// cudnnStatus_t: all others are failures. CUDNN_STATUS_NOT_SUPPORTED is a number of cuDNN 8, or from
// one on of cuDNN 9, with what it does not support.
enum {
  CUDNN_SUCCESS = 0,
  CUDNN_8_NOT_SUPPORTED = 9,
  CUDNN_9_NOT_SUPPORTED = 3000,
  CUDNN_9_NOT_SUPPORTED_END = 4000,
};

// cudnnDataType_t.
enum {
  CUDNN_F32 = 0,  // CUDNN_DATA_FLOAT
  CUDNN_F16 = 2,  // CUDNN_DATA_HALF
  CUDNN_BF16 = 9, // CUDNN_DATA_BFLOAT16
};

// cudnnTensorFormat_t, of filters: the first dim is the filters', and the channels come second or last.
enum {
  CUDNN_CHANNELS_SECOND = 0, // CUDNN_TENSOR_NCHW
  CUDNN_CHANNELS_LAST = 1,   // CUDNN_TENSOR_NHWC
};

// cudnnConvolutionMode_t: the one that does not turn filters round.
enum { CUDNN_CROSS_CORRELATION = 1 };

// cudnnMathType_t. With DEFAULT f32 may be rounded to tf32, with TENSOR_OP too; with
// TENSOR_OP_ALLOW_CONVERSION to 16 bits; FMA is arithmetic in the data's type.
enum {
  CUDNN_MATH_DEFAULT = 0,
  CUDNN_MATH_TENSOR_OP = 1,
  CUDNN_MATH_TENSOR_OP_ALLOW_CONVERSION = 2,
  CUDNN_MATH_FMA = 3,
};

// cudnnDeterminism_t.
enum { CUDNN_DETERMINISTIC = 1 };

// cudnnConvolutionFwdAlgo_t. The first four sum products of elements; the others multiply what is
// transformed.
enum {
  CUDNN_FORWARD_IMPLICIT_GEMM = 0,
  CUDNN_FORWARD_IMPLICIT_PRECOMP_GEMM = 1,
  CUDNN_FORWARD_GEMM = 2,
  CUDNN_FORWARD_DIRECT = 3,
  CUDNN_FORWARD_FFT = 4,
  CUDNN_FORWARD_FFT_TILING = 5,
  CUDNN_FORWARD_WINOGRAD = 6,
  CUDNN_FORWARD_WINOGRAD_NONFUSED = 7,
};

// cudnnConvolutionBwdDataAlgo_t. The first two sum products of elements.
enum {
  CUDNN_GRADIENT_0 = 0, // in an order that differs from call to call
  CUDNN_GRADIENT_1 = 1,
  CUDNN_GRADIENT_FFT = 2,
  CUDNN_GRADIENT_FFT_TILING = 3,
  CUDNN_GRADIENT_WINOGRAD = 4,
  CUDNN_GRADIENT_WINOGRAD_NONFUSED = 5,
};

// cudnnConvolutionFwdAlgoPerf_t and cudnnConvolutionBwdDataAlgoPerf_t, which are laid out alike.
struct cudnn_choice {
  int algorithm;
  int status;
  float milliseconds;
  size_t workspace_bytes;
  int determinism;
  int math;
  int reserved[3];
};

// The library's functions; each member is named as the function without its prefix, cudnn.
struct cudnn {
  size_t (*GetVersion)(void);
  const char *(*GetErrorString)(int status);
  void (*GetLastErrorString)(char *message, size_t bytes); // NULL in cuDNN 8
  int (*Create)(cudnn_handle *handle);
  int (*Destroy)(cudnn_handle handle);
  int (*SetStream)(cudnn_handle handle, cuda_stream stream);
  int (*CreateTensorDescriptor)(cudnn_tensor *tensor);
  int (*DestroyTensorDescriptor)(cudnn_tensor tensor);
  int (*SetTensorNdDescriptor)(cudnn_tensor tensor, int type, int rank, const int *sizes,
                               const int *strides);
  int (*CreateFilterDescriptor)(cudnn_filter *filter);
  int (*DestroyFilterDescriptor)(cudnn_filter filter);
  int (*SetFilterNdDescriptor)(cudnn_filter filter, int type, int format, int rank,
                               const int *sizes);
  int (*CreateConvolutionDescriptor)(cudnn_convolution *convolution);
  int (*DestroyConvolutionDescriptor)(cudnn_convolution convolution);
  int (*SetConvolutionNdDescriptor)(cudnn_convolution convolution, int places, const int *padding,
                                    const int *strides, const int *dilations, int mode,
                                    int compute_type);
  int (*SetConvolutionMathType)(cudnn_convolution convolution, int math);
  int (*SetConvolutionGroupCount)(cudnn_convolution convolution, int groups);
  int (*GetConvolutionForwardAlgorithm_v7)(cudnn_handle handle, cudnn_tensor image,
                                           cudnn_filter weights, cudnn_convolution convolution,
                                           cudnn_tensor result, int wanted, int *found,
                                           struct cudnn_choice *choices);
  int (*GetConvolutionForwardWorkspaceSize)(cudnn_handle handle, cudnn_tensor image,
                                            cudnn_filter weights, cudnn_convolution convolution,
                                            cudnn_tensor result, int algorithm, size_t *bytes);
  int (*ConvolutionForward)(cudnn_handle handle, const void *alpha, cudnn_tensor image_layout,
                            const void *image, cudnn_filter weights_layout, const void *weights,
                            cudnn_convolution convolution, int algorithm, void *workspace,
                            size_t workspace_bytes, const void *beta, cudnn_tensor result_layout,
                            void *result);
  // Of the gradient of a forward convolution's image, which is the result here, by that of its
  // result.
  int (*GetConvolutionBackwardDataAlgorithm_v7)(cudnn_handle handle, cudnn_filter weights,
                                                cudnn_tensor image, cudnn_convolution convolution,
                                                cudnn_tensor result, int wanted, int *found,
                                                struct cudnn_choice *choices);
  int (*GetConvolutionBackwardDataWorkspaceSize)(cudnn_handle handle, cudnn_filter weights,
                                                 cudnn_tensor image, cudnn_convolution convolution,
                                                 cudnn_tensor result, int algorithm,
                                                 size_t *bytes);
  int (*ConvolutionBackwardData)(cudnn_handle handle, const void *alpha,
                                 cudnn_filter weights_layout, const void *weights,
                                 cudnn_tensor image_layout, const void *image,
                                 cudnn_convolution convolution, int algorithm, void *workspace,
                                 size_t workspace_bytes, const void *beta,
                                 cudnn_tensor result_layout, void *result);
};

#endif
