// A cuBLASLt that multiplies on the host, for testing what calls it.
//
// It has the entry points that the support library uses, takes matrices as cuBLASLt defines them
// (column-major, strided batches), and refuses with CUBLAS_STATUS_INVALID_VALUE what cuBLASLt would:
// leading dimensions that are too small, operands that do not fit, pointers less aligned than was
// promised or than their elements are, an algorithm that was chosen for something else, a workspace
// that is too small or less aligned than 256 bytes. Beyond that it refuses what has no defined result:
// batches of results that overlap, and a result that shares elements with an operand or the bias. It has
// no epilogue for f64, and one activation at most, as cuBLASLt. It logs its calls, and any call can be
// made to fail.

#include "fake_library.h"

enum { F32 = 0, F64 = 1, F16 = 2, BF16 = 14, COMPUTE_32F = 68, COMPUTE_64F = 70, COMPUTE_TF32 = 77 };
enum { INVALID_VALUE = 7, NOT_SUPPORTED = 15 };
enum { RELU = 2, BIAS = 4, GELU = 32 };

struct matmul {
  int compute, scale, transpose_a, transpose_b;
  unsigned epilogue;
  const void *bias;
};
struct layout {
  int type, batch;
  uint64_t rows, columns;
  int64_t leading, stride;
};
struct preference {
  uint64_t workspace;
  uint32_t alignments[4], reductions;
};
// What a product was chosen for; fits cublasLtMatmulAlgo_t.
struct algorithm {
  uint64_t mark, m, n, k, alignments, workspace, kinds, batch;
};
struct choice {
  struct algorithm algorithm;
  size_t workspace;
  int state;
  float waves;
  int reserved[4];
};
_Static_assert(sizeof(struct algorithm) == 64, "as cuBLASLt's");

const char *cublasLtGetStatusName(int status) {
  return status == INVALID_VALUE    ? "CUBLAS_STATUS_INVALID_VALUE"
         : status == NOT_SUPPORTED ? "CUBLAS_STATUS_NOT_SUPPORTED"
         : status == 13            ? "CUBLAS_STATUS_EXECUTION_FAILED"
                                   : "CUBLAS_STATUS_OTHER";
}
size_t cublasLtGetVersion(void) { return 130002; }

int cublasLtCreate(void **handle) {
  static int made;
  *handle = &made;
  return answer("cublasLtCreate", "%s", "");
}
int cublasLtDestroy(void *handle) {
  (void)handle;
  return answer("cublasLtDestroy", "%s", "");
}

int cublasLtMatmulDescCreate(struct matmul **matmul, int compute, int scale) {
  if (is_planted())
    return INVALID_VALUE;
  *matmul = make(sizeof **matmul);
  (*matmul)->compute = compute;
  (*matmul)->scale = scale;
  (*matmul)->epilogue = 1;
  return 0;
}
int cublasLtMatmulDescDestroy(struct matmul *matmul) { return destroy(matmul); }
int cublasLtMatmulDescSetAttribute(struct matmul *matmul, int attribute, const void *value,
                                   size_t bytes) {
  if (is_planted())
    return INVALID_VALUE;
  struct {
    int attribute;
    void *place;
    size_t bytes;
  } known[] = {{3, &matmul->transpose_a, 4},
               {4, &matmul->transpose_b, 4},
               {7, &matmul->epilogue, 4},
               {8, &matmul->bias, 8}};
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
    if (known[i].attribute == attribute && known[i].bytes == bytes) {
      memcpy(known[i].place, value, bytes);
      return 0;
    }
  return INVALID_VALUE;
}

int cublasLtMatrixLayoutCreate(struct layout **layout, int type, uint64_t rows, uint64_t columns,
                               int64_t leading) {
  if (is_planted())
    return INVALID_VALUE;
  *layout = make(sizeof **layout);
  **layout = (struct layout){type, 1, rows, columns, leading, 0};
  return 0;
}
int cublasLtMatrixLayoutDestroy(struct layout *layout) { return destroy(layout); }
int cublasLtMatrixLayoutSetAttribute(struct layout *layout, int attribute, const void *value,
                                     size_t bytes) {
  if (is_planted())
    return INVALID_VALUE;
  if (attribute == 5 && bytes == 4)
    memcpy(&layout->batch, value, bytes);
  else if (attribute == 6 && bytes == 8)
    memcpy(&layout->stride, value, bytes);
  else
    return INVALID_VALUE;
  return 0;
}

int cublasLtMatmulPreferenceCreate(struct preference **preference) {
  if (is_planted())
    return INVALID_VALUE;
  *preference = make(sizeof **preference);
  for (int i = 0; i < 4; ++i)
    (*preference)->alignments[i] = 256;
  (*preference)->reductions = 7;
  return 0;
}
int cublasLtMatmulPreferenceDestroy(struct preference *preference) {
  return is_planted() ? INVALID_VALUE : destroy(preference);
}
int cublasLtMatmulPreferenceSetAttribute(struct preference *preference, int attribute,
                                         const void *value, size_t bytes) {
  if (is_planted())
    return INVALID_VALUE;
  if (attribute == 1 && bytes == 8)
    memcpy(&preference->workspace, value, bytes);
  else if (attribute == 3 && bytes == 4)
    memcpy(&preference->reductions, value, bytes);
  else if (attribute >= 5 && attribute <= 8 && bytes == 4)
    memcpy(&preference->alignments[attribute - 5], value, bytes);
  else
    return INVALID_VALUE;
  return 0;
}

static bool types_fit(const struct matmul *matmul, int a, int b, int d) {
  if (a != b)
    return false;
  if (matmul->compute == COMPUTE_64F)
    return matmul->scale == F64 && a == F64 && d == F64;
  if (matmul->scale != F32)
    return false;
  if (matmul->compute == COMPUTE_TF32)
    return a == F32 && d == F32;
  return matmul->compute == COMPUTE_32F &&
         (d == F32 ? a == F32 || a == F16 || a == BF16 : a == d && (a == F16 || a == BF16));
}

// Epilogues are flags, of which 1, DEFAULT, stands alone.
static bool epilogue_fits(const struct matmul *matmul) {
  unsigned activations = matmul->epilogue & (RELU | GELU), known = RELU | GELU | BIAS;
  if (matmul->epilogue == 1)
    return true;
  return matmul->compute != COMPUTE_64F && matmul->epilogue != 0 && !(matmul->epilogue & ~known) &&
         activations != (RELU | GELU) && (!(matmul->epilogue & BIAS) || matmul->bias);
}

static bool is_matrix(const struct layout *layout) {
  return layout->rows > 0 && layout->columns > 0 && layout->leading >= (int64_t)layout->rows &&
         layout->batch > 0;
}

// The algorithm for a product; its mark stays 0 for one that is none.
static struct algorithm describe(const struct matmul *matmul, const struct layout *a,
                                 const struct layout *b, const struct layout *c,
                                 const struct layout *d) {
  struct algorithm found = {0};
  uint64_t k = matmul->transpose_a ? a->rows : a->columns;
  found.m = matmul->transpose_a ? a->columns : a->rows;
  found.n = matmul->transpose_b ? b->rows : b->columns;
  bool fits = k == (matmul->transpose_b ? b->columns : b->rows) && d->rows == found.m &&
              d->columns == found.n && c->type == d->type && c->rows == d->rows &&
              c->columns == d->columns && c->batch == d->batch && is_matrix(c) &&
              a->batch == d->batch &&
              b->batch == d->batch && is_matrix(a) && is_matrix(b) && is_matrix(d) &&
              types_fit(matmul, a->type, b->type, d->type) && epilogue_fits(matmul) &&
              (matmul->transpose_a | matmul->transpose_b) <= 1;
  if (!fits)
    return found;
  found.k = k;
  found.batch = (uint64_t)d->batch;
  found.kinds = (uint64_t)(a->type + 100 * d->type + 10000 * matmul->epilogue);
  found.mark = 0xb1a5;
  return found;
}

static void write_layout(char described[96], const struct layout *layout) {
  snprintf(described, 96, "%dx %llux%llu type %d leading %lld stride %lld", layout->batch,
           (unsigned long long)layout->rows, (unsigned long long)layout->columns, layout->type,
           (long long)layout->leading, (long long)layout->stride);
}

int cublasLtMatmulAlgoGetHeuristic(void *handle, const struct matmul *matmul,
                                   const struct layout *a, const struct layout *b,
                                   const struct layout *c, const struct layout *d,
                                   const struct preference *preference, int wanted,
                                   struct choice *choices, int *found) {
  if (is_planted())
    return INVALID_VALUE;
  (void)handle;
  char layouts[3][96];
  write_layout(layouts[0], a);
  write_layout(layouts[1], b);
  write_layout(layouts[2], d);
  int status = answer("cublasLtMatmulAlgoGetHeuristic",
                      " alignments %u %u %u %u reductions %u compute %d workspace %llu epilogue %u "
                      "%c %s %c %s to %s",
                      preference->alignments[0], preference->alignments[1],
                      preference->alignments[2], preference->alignments[3],
                      preference->reductions, matmul->compute,
                      (unsigned long long)preference->workspace, matmul->epilogue,
                      matmul->transpose_a ? 'T' : 'N', layouts[0],
                      matmul->transpose_b ? 'T' : 'N', layouts[1], layouts[2]);
  *found = 0;
  if (status)
    return status;
  if (wanted < 1 || fake_library_workspace > preference->workspace)
    return INVALID_VALUE;
  if (fake_library_finds_nothing)
    return 0;
  choices->algorithm = describe(matmul, a, b, c, d);
  if (!choices->algorithm.mark)
    return INVALID_VALUE;
  for (int i = 0; i < 4; ++i)
    choices->algorithm.alignments |= (uint64_t)preference->alignments[i] << 16 * i;
  choices->algorithm.workspace = choices->workspace = fake_library_workspace;
  choices->state = 0;
  *found = 1;
  return 0;
}

static double load(const void *start, int type, int64_t place) {
  switch (type) {
  case F64:
    return ((const double *)start)[place];
  case F32:
    return ((const float *)start)[place];
  case F16:
    return half(((const uint16_t *)start)[place]);
  default:
    return from_bits((uint32_t)((const uint16_t *)start)[place] << 16);
  }
}

static void store(void *start, int type, int64_t place, double number) {
  if (type == F64)
    ((double *)start)[place] = number;
  else if (type == F32)
    ((float *)start)[place] = (float)number;
  else if (type == F16)
    ((uint16_t *)start)[place] = to_half((float)number);
  else
    ((uint16_t *)start)[place] = number != number
                                     ? 0x7fc0
                                     : (uint16_t)(rounded_bits((float)number, 16) >> 16);
}

// tanh without libm: by the exponential's series of a small part.
static double hyperbolic(double x) {
  double part = 2 * x / 4096, e = 1 + part * (1 + part / 2 * (1 + part / 3 * (1 + part / 4)));
  if (x > 20 || x < -20)
    return x > 0 ? 1 : -1;
  for (int i = 0; i < 12; ++i)
    e *= e;
  return (e - 1) / (e + 1);
}

static double activated(double x, unsigned epilogue) {
  if (epilogue & RELU)
    return x < 0 ? 0 : x; // A nan stays, as it does in cuBLASLt's on an H200.
  if (epilogue & GELU)
    return 0.5 * x * (1 + hyperbolic(0.7978845608028654 * (x + 0.044715 * x * x * x)));
  return x;
}

static uint64_t bytes_of(int type) { return type == F64 ? 8 : type == F32 ? 4 : 2; }

static bool is_aligned(const void *pointer, int type, uint64_t alignments, int place) {
  uint64_t alignment = alignments >> 16 * place & 0xffff;
  return pointer && alignment != 0 && (uintptr_t)pointer % alignment == 0 &&
         (uintptr_t)pointer % bytes_of(type) == 0;
}

// Whether a matrix has the element at an address.
static bool has_element(const void *start, const struct layout *layout, const char *address) {
  int64_t bytes = (int64_t)bytes_of(layout->type), far = address - (const char *)start;
  for (int64_t each = 0; each < layout->batch; ++each) {
    int64_t place = far - each * layout->stride * bytes;
    if (place % bytes == 0 && place >= 0 && place / bytes / layout->leading < (int64_t)layout->columns &&
        place / bytes % layout->leading < (int64_t)layout->rows)
      return true;
    if (layout->stride == 0)
      break;
  }
  return false;
}

// Whether a result has an element twice, or one that is read. What is added may be the result.
static bool overlaps(const struct matmul *matmul, const void *a, const struct layout *a_layout,
                     const void *b, const struct layout *b_layout, const void *c,
                     const struct layout *c_layout, const char *d, const struct layout *d_layout) {
  bool in_place = c == d && memcmp(c_layout, d_layout, sizeof *c_layout) == 0;
  int64_t bytes = (int64_t)bytes_of(d_layout->type);
  struct layout bias = {d_layout->type, 1, d_layout->rows, 1, (int64_t)d_layout->rows, 0};
  struct layout first = *d_layout;
  first.batch = 1;
  for (int64_t each = 0; each < d_layout->batch; ++each)
    for (int64_t column = 0; column < (int64_t)d_layout->columns; ++column)
      for (int64_t row = 0; row < (int64_t)d_layout->rows; ++row) {
        const char *address =
            d + bytes * (each * d_layout->stride + column * d_layout->leading + row);
        if (has_element(a, a_layout, address) || has_element(b, b_layout, address) ||
            (!in_place && has_element(c, c_layout, address)) ||
            (matmul->epilogue & BIAS && has_element(matmul->bias, &bias, address)) ||
            (each > 0 && has_element(d, &first, address)))
          return true;
      }
  return false;
}

int cublasLtMatmul(void *handle, const struct matmul *matmul, const void *alpha, const void *a,
                   const struct layout *a_layout, const void *b, const struct layout *b_layout,
                   const void *beta, const void *c, const struct layout *c_layout, void *d,
                   const struct layout *d_layout, const struct algorithm *algorithm,
                   void *workspace, size_t workspace_bytes, void *stream) {
  if (is_planted())
    return INVALID_VALUE;
  (void)handle;
  struct algorithm wanted = describe(matmul, a_layout, b_layout, c_layout, d_layout);
  bool is_f64 = matmul->scale == F64;
  double factor = is_f64 ? *(const double *)alpha : *(const float *)alpha;
  double kept = is_f64 ? *(const double *)beta : *(const float *)beta;
  int status =
      answer("cublasLtMatmul", " %c%c %dx %llux%llux%llu ld %lld %lld %lld beta %g epilogue %u",
             matmul->transpose_a ? 'T' : 'N', matmul->transpose_b ? 'T' : 'N', d_layout->batch,
             (unsigned long long)wanted.m, (unsigned long long)wanted.n,
             (unsigned long long)wanted.k, (long long)a_layout->leading,
             (long long)b_layout->leading, (long long)d_layout->leading, kept, matmul->epilogue);
  if (status)
    return status;
  if (!wanted.mark || wanted.m != algorithm->m || wanted.n != algorithm->n ||
      wanted.k != algorithm->k || wanted.batch != algorithm->batch ||
      wanted.kinds != algorithm->kinds || workspace_bytes < algorithm->workspace ||
      (uintptr_t)workspace % 256 != 0 ||
      !is_aligned(a, a_layout->type, algorithm->alignments, 0) ||
      !is_aligned(b, b_layout->type, algorithm->alignments, 1) ||
      !is_aligned(c, c_layout->type, algorithm->alignments, 2) ||
      !is_aligned(d, d_layout->type, algorithm->alignments, 3) ||
      (uintptr_t)matmul->bias % bytes_of(d_layout->type) != 0 ||
      overlaps(matmul, a, a_layout, b, b_layout, c, c_layout, d, d_layout))
    return INVALID_VALUE;
  if (fake_library_synchronize)
    fake_library_synchronize(stream);
  if (algorithm->workspace)
    memset(workspace, 0xff, algorithm->workspace);
  for (int64_t each = 0; each < d_layout->batch; ++each)
    for (int64_t row = 0; row < (int64_t)wanted.m; ++row)
      for (int64_t column = 0; column < (int64_t)wanted.n; ++column) {
        double sum = 0;
        for (int64_t k = 0; k < (int64_t)wanted.k; ++k) {
          int64_t in_a = matmul->transpose_a ? k + row * a_layout->leading
                                             : row + k * a_layout->leading;
          int64_t in_b = matmul->transpose_b ? column + k * b_layout->leading
                                             : k + column * b_layout->leading;
          sum += load(a, a_layout->type, each * a_layout->stride + in_a) *
                 load(b, b_layout->type, each * b_layout->stride + in_b);
        }
        int64_t place = each * d_layout->stride + row + column * d_layout->leading;
        int64_t in_c = each * c_layout->stride + row + column * c_layout->leading;
        double result = factor * sum;
        if (kept != 0)
          result += kept * load(c, c_layout->type, in_c);
        if (matmul->epilogue & BIAS)
          result += load(matmul->bias, d_layout->type, row);
        store(d, d_layout->type, place, activated(result, matmul->epilogue));
      }
  return 0;
}
