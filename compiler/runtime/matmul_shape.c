// Loops over strided operands as a product of column-major matrices. Free of CUDA.
//
// Loops that step through memory as one are merged. Of those left, one each becomes m, n and k and
// one the library's batch; the others run around the library's calls. Every choice of loops is
// tried, there are few, and that which leaves most work to one call is taken.

#include "matmul_shape.h"

#include <string.h>

struct loops {
  int count;
  int64_t kinds[MATMUL_MAX_LOOPS];
  struct matmul_loop of[MATMUL_MAX_LOOPS];
};

// What of the loops becomes m, n and k; NULL stands for one iteration.
struct choice {
  const struct matmul_loop *m, *n, *k;
};

bool hirc_matmul_has_result(int count, const int64_t *kinds, const struct matmul_loop *loops) {
  for (int i = 0; i < count; ++i)
    if (kinds[i] & 1 << MATMUL_RESULT && loops[i].size <= 0)
      return false;
  return true;
}

static void drop(struct loops *loops, int place) {
  --loops->count;
  for (int i = place; i < loops->count; ++i) {
    loops->kinds[i] = loops->kinds[i + 1];
    loops->of[i] = loops->of[i + 1];
  }
}

static bool steps_as_one(const struct matmul_loop *outer, const struct matmul_loop *inner) {
  for (int i = 0; i < MATMUL_OPERANDS; ++i)
    if (outer->strides[i] != inner->strides[i] * inner->size)
      return false;
  return true;
}

// The library's sizes are of 32 bits.
static bool fits_together(const struct matmul_loop *outer, const struct matmul_loop *inner) {
  return outer->size <= INT32_MAX / inner->size;
}

static bool merge_one(struct loops *loops) {
  for (int outer = 0; outer < loops->count; ++outer)
    for (int inner = 0; inner < loops->count; ++inner)
      if (outer != inner && loops->kinds[outer] == loops->kinds[inner] &&
          fits_together(&loops->of[outer], &loops->of[inner]) &&
          steps_as_one(&loops->of[outer], &loops->of[inner])) {
        loops->of[inner].size *= loops->of[outer].size;
        drop(loops, outer);
        return true;
      }
  return false;
}

static void merge_all(struct loops *loops) {
  while (merge_one(loops)) {
  }
}

// A batch that repeats one operand is more rows, or columns, of the other.
static int64_t without_repeated(int64_t kind, const struct matmul_loop *loop) {
  bool has_first = loop->strides[MATMUL_FIRST] != 0, has_second = loop->strides[MATMUL_SECOND] != 0;
  if ((kind & MATMUL_LOOP_BATCH) != MATMUL_LOOP_BATCH || has_first == has_second)
    return kind;
  return kind & ~(INT64_C(1) << (has_first ? MATMUL_SECOND : MATMUL_FIRST));
}

static void simplify(struct loops *loops) {
  for (int i = loops->count - 1; i >= 0; --i)
    if (loops->of[i].size == 1)
      drop(loops, i);
    else
      loops->kinds[i] = without_repeated(loops->kinds[i], &loops->of[i]);
  merge_all(loops);
}

static int64_t size_of(const struct matmul_loop *loop) { return loop ? loop->size : 1; }

// A matrix whose rows and columns are those loops of the operand, in whichever order is column-major.
static bool find_matrix(struct matmul_matrix *matrix, const struct matmul_loop *row,
                        const struct matmul_loop *column, int operand) {
  int64_t rows = size_of(row), columns = size_of(column);
  // A dim of one element may have any stride.
  int64_t row_stride = row ? row->strides[operand] : 1;
  int64_t column_stride = column ? column->strides[operand] : rows;
  if (row_stride == 1 && column_stride >= rows) {
    *matrix = (struct matmul_matrix){rows, columns, column_stride, 0, false};
    return true;
  }
  column_stride = column ? column->strides[operand] : 1;
  row_stride = row ? row->strides[operand] : columns;
  if (column_stride == 1 && row_stride >= columns) {
    *matrix = (struct matmul_matrix){columns, rows, row_stride, 0, true};
    return true;
  }
  return false;
}

static bool find_matrices(struct matmul_shape *shape, const struct choice *choice, bool is_swapped,
                          bool has_addend) {
  const struct matmul_loop *row = is_swapped ? choice->n : choice->m;
  const struct matmul_loop *column = is_swapped ? choice->m : choice->n;
  shape->is_swapped = is_swapped;
  shape->inner = size_of(choice->k);
  return find_matrix(&shape->result, row, column, MATMUL_RESULT) &&
         !shape->result.is_transposed &&
         find_matrix(&shape->addend, row, column, has_addend ? MATMUL_ADDEND : MATMUL_RESULT) &&
         !shape->addend.is_transposed &&
         find_matrix(&shape->left, row, choice->k, is_swapped ? MATMUL_SECOND : MATMUL_FIRST) &&
         find_matrix(&shape->right, choice->k, column, is_swapped ? MATMUL_FIRST : MATMUL_SECOND);
}

// Whether the bias, of one element a row of the library's result, fits: -1 where there is none,
// else whether the rows are to be n's.
static bool takes_bias(const struct choice *choice, bool is_swapped, int bias_of_n) {
  if (bias_of_n < 0)
    return true;
  const struct matmul_loop *row = is_swapped ? choice->n : choice->m;
  return is_swapped == bias_of_n && (!row || row->strides[MATMUL_BIAS] == 1);
}

static bool is_batch_stride(const struct matmul_loop *loop) {
  return loop->strides[MATMUL_FIRST] >= 0 && loop->strides[MATMUL_SECOND] >= 0 &&
         loop->strides[MATMUL_RESULT] > 0 && loop->strides[MATMUL_BIAS] == 0 &&
         loop->strides[MATMUL_ADDEND] >= 0;
}

// Gives the loops that are not chosen to the library's batch and to the calls around it.
static void spread_rest(struct matmul_shape *shape, const struct loops *loops,
                        const struct choice *choice, bool has_addend) {
  struct loops rest = {0};
  for (int adding = 0; adding <= 1; ++adding)
    for (int i = 0; i < loops->count; ++i) {
      const struct matmul_loop *loop = &loops->of[i];
      if ((loops->kinds[i] == MATMUL_LOOP_K) != adding || loop == choice->m || loop == choice->n ||
          loop == choice->k)
        continue;
      rest.kinds[rest.count] = adding ? MATMUL_LOOP_K : MATMUL_LOOP_BATCH;
      rest.of[rest.count++] = *loop;
    }
  merge_all(&rest);
  int best = -1;
  for (int i = 0; i < rest.count; ++i)
    if (rest.kinds[i] == MATMUL_LOOP_BATCH && is_batch_stride(&rest.of[i]) &&
        rest.of[i].size <= INT32_MAX && (best < 0 || rest.of[i].size > rest.of[best].size))
      best = i;
  shape->batch = 1;
  shape->outer_count = shape->outer_adding = 0;
  for (int i = 0; i < rest.count; ++i) {
    const struct matmul_loop *loop = &rest.of[i];
    if (i == best) {
      shape->batch = loop->size;
      shape->left.batch_stride =
          loop->strides[shape->is_swapped ? MATMUL_SECOND : MATMUL_FIRST];
      shape->right.batch_stride =
          loop->strides[shape->is_swapped ? MATMUL_FIRST : MATMUL_SECOND];
      shape->result.batch_stride = loop->strides[MATMUL_RESULT];
      shape->addend.batch_stride = loop->strides[has_addend ? MATMUL_ADDEND : MATMUL_RESULT];
    } else {
      shape->outer_adding += rest.kinds[i] == MATMUL_LOOP_K;
      shape->outer[shape->outer_count++] = *loop;
    }
  }
}

// The next loop of a kind from `place` on, where the bits of what is added do not count; loops->count for
// none at all, which comes last.
static int next_of_kind(const struct loops *loops, int place, int64_t kind) {
  while (place < loops->count && (loops->kinds[place] & MATMUL_LOOP_BATCH) != kind)
    ++place;
  return place;
}

static const struct matmul_loop *chosen(const struct loops *loops, int place) {
  return place < loops->count ? &loops->of[place] : NULL;
}

bool hirc_matmul_find_shape(struct matmul_shape *shape, int count, const int64_t *kinds,
                            const struct matmul_loop *given) {
  struct loops loops = {.count = count};
  memcpy(loops.kinds, kinds, (size_t)count * sizeof *kinds);
  memcpy(loops.of, given, (size_t)count * sizeof *given);
  int bias_of_n = -1;
  bool has_addend = false;
  for (int i = 0; i < count; ++i) {
    if (kinds[i] & 1 << MATMUL_BIAS)
      bias_of_n = (kinds[i] & 1 << MATMUL_SECOND) != 0;
    has_addend |= (kinds[i] & 1 << MATMUL_ADDEND) != 0;
  }
  simplify(&loops);
  struct choice best = {0};
  struct matmul_shape tried;
  __int128 most = 0;
  int i = -1, j, l;
  do {
    i = next_of_kind(&loops, i + 1, MATMUL_LOOP_M);
    j = -1;
    do {
      j = next_of_kind(&loops, j + 1, MATMUL_LOOP_N);
      l = -1;
      do {
        l = next_of_kind(&loops, l + 1, MATMUL_LOOP_K);
        struct choice choice = {chosen(&loops, i), chosen(&loops, j), chosen(&loops, l)};
        __int128 work = (__int128)size_of(choice.m) * size_of(choice.n) * size_of(choice.k);
        // One whose result's last dim is contiguous is tried first.
        for (int swapped = 1; swapped >= 0; --swapped)
          if (work > most && takes_bias(&choice, swapped, bias_of_n) &&
              find_matrices(&tried, &choice, swapped, has_addend)) {
            *shape = tried;
            best = choice;
            most = work;
          }
      } while (l < loops.count);
    } while (j < loops.count);
  } while (i < loops.count);
  if (most == 0)
    return false;
  spread_rest(shape, &loops, &best, has_addend);
  return true;
}
