// Finds the values of all weights, in a safetensors file, in the linked file or among the caller's
// tensors, and compares them with what the program was built for.

#define _GNU_SOURCE

#include "weights.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEXT = 200, LENGTH_BYTES = 8 };

static const char digest_key[] = "hirc.digest";

// The format's types as DLPack's codes and bits.
static const struct {
  const char *name;
  uint8_t code, bits;
} types[] = {
    {"BOOL", DL_BOOL, 8},   {"U8", DL_UINT, 8},    {"I8", DL_INT, 8},
    {"F8_E5M2", DL_FLOAT8_E5M2, 8},                {"F8_E4M3", DL_FLOAT8_E4M3FN, 8},
    {"U16", DL_UINT, 16},   {"I16", DL_INT, 16},   {"F16", DL_FLOAT, 16},
    {"BF16", DL_BFLOAT, 16}, {"U32", DL_UINT, 32}, {"I32", DL_INT, 32},
    {"F32", DL_FLOAT, 32},  {"U64", DL_UINT, 64},  {"I64", DL_INT, 64},
    {"F64", DL_FLOAT, 64},  {"C64", DL_COMPLEX, 64},
};

static const char *name_of_type(struct dl_data_type type) {
  for (size_t i = 0; i < sizeof types / sizeof *types; ++i)
    if (types[i].code == type.code && types[i].bits == type.bits && type.lanes == 1)
      return types[i].name;
  return "a type that no weight has";
}

// Whether a value's type is what the program takes. MLIR's integers have no sign, and are called
// signed.
static bool is_type(const char *wanted, const char *found) {
  return strcmp(wanted, found) == 0 ||
         (wanted[0] == 'I' && found[0] == 'U' && strcmp(wanted + 1, found + 1) == 0);
}

// Whether a value has the type and sizes of the weight; says so, of `where`, if it does not.
static bool fits(const struct hirc_safetensor *weight, const struct hirc_safetensor *found,
                 const char *where) {
  if (is_type(weight->dtype, found->dtype) && weight->rank == found->rank &&
      (weight->rank == 0 ||
       memcmp(weight->sizes, found->sizes, (size_t)weight->rank * sizeof(int64_t)) == 0))
    return true;
  char here[TEXT], wanted[TEXT];
  hirc_safetensors_type_text(found->dtype, found->sizes, found->rank, here, sizeof here);
  hirc_safetensors_type_text(weight->dtype, weight->sizes, weight->rank, wanted, sizeof wanted);
  hirc_error_say("%s: tensor '%s' is %s, the program takes %s", where, found->name, here, wanted);
  return false;
}

static uint64_t little_endian(const char *bytes) {
  uint64_t number = 0;
  for (int i = LENGTH_BYTES - 1; i >= 0; --i)
    number = number << 8 | (unsigned char)bytes[i];
  return number;
}

// Maps a safetensors file and reads its header.
static bool open_file(struct hirc_weights_file *file, const char *path) {
  struct stat status;
  file->path = path;
  file->descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (file->descriptor < 0 || fstat(file->descriptor, &status) != 0) {
    hirc_error_say("weights file %s cannot be read: %s", path, strerror(errno));
    return false;
  }
  if (!S_ISREG(status.st_mode)) {
    hirc_error_say("weights file %s is no file", path);
    return false;
  }
  uint64_t bytes = (uint64_t)status.st_size;
  if (bytes > LENGTH_BYTES) {
    void *memory = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, file->descriptor, 0);
    if (memory == MAP_FAILED) {
      hirc_error_say("weights file %s cannot be mapped: %s", path, strerror(errno));
      return false;
    }
    file->memory = memory;
    file->bytes = bytes;
  }
  uint64_t length = file->memory ? little_endian(file->memory) : 0;
  if (!file->memory || length > bytes - LENGTH_BYTES) {
    hirc_error_say("weights file %s is cut off, or no safetensors file: it has %" PRIu64 " bytes",
                   path, bytes);
    return false;
  }
  file->data_offset = LENGTH_BYTES + length;
  const char *fault =
      hirc_safetensors_parse(file->memory + LENGTH_BYTES, length, &file->header);
  if (fault)
    hirc_error_say("weights file %s: %s", path, fault);
  return !fault;
}

// The tensor of a name, or of the name that the metadata give for it, as for tensors that share
// memory.
static const struct hirc_safetensor *named(const struct hirc_safetensors *header,
                                           const char *name) {
  const struct hirc_safetensor *found = hirc_safetensors_find(header, name);
  const char *other = found ? NULL : hirc_safetensors_metadatum(header, name);
  return other ? hirc_safetensors_find(header, other) : found;
}

// The tensor of the file that is a weight: of its name, or of another weight's with the same memory.
static const struct hirc_safetensor *find_tensor(const struct hirc_values *values,
                                                 const struct hirc_safetensor *weight) {
  const struct hirc_safetensors *header = &values->file.header;
  const struct hirc_safetensor *found = named(header, weight->name);
  for (int64_t i = 0; !found && i < values->wanted.count; ++i) {
    const struct hirc_safetensor *tied = &values->wanted.tensors[i];
    if (tied != weight && tied->start == weight->start && tied->end > tied->start)
      found = named(header, tied->name);
  }
  return found;
}

static bool find_in_file(const struct hirc_values *values, struct hirc_place *place) {
  const struct hirc_weights_file *file = &values->file;
  const struct hirc_safetensor *weight = place->weight;
  const struct hirc_safetensor *found = find_tensor(values, weight);
  char where[512];
  snprintf(where, sizeof where, "weights file %s", file->path);
  if (!found) {
    char wanted[TEXT];
    hirc_safetensors_type_text(weight->dtype, weight->sizes, weight->rank, wanted, sizeof wanted);
    hirc_error_say("%s has no tensor '%s' (%s)", where, weight->name, wanted);
    return false;
  }
  if (!fits(weight, found, where))
    return false;
  if (found->end - found->start != weight->end - weight->start) {
    hirc_error_say("%s: tensor '%s' has %" PRIu64 " bytes, and its sizes take %" PRIu64, where,
                   found->name, found->end - found->start, weight->end - weight->start);
    return false;
  }
  if (found->end > file->bytes - file->data_offset) {
    hirc_error_say("%s is cut off: tensor '%s' ends at byte %" PRIu64 ", the file has %" PRIu64,
                   where, found->name, file->data_offset + found->end, file->bytes);
    return false;
  }
  place->from = file->memory + file->data_offset + found->start;
  return true;
}

static bool is_packed(const struct dl_tensor *tensor) {
  int64_t stride = 1;
  for (int32_t axis = tensor->rank - 1; tensor->strides && axis >= 0; --axis) {
    if (tensor->sizes[axis] == 0)
      return true;
    if (tensor->sizes[axis] != 1 && tensor->strides[axis] != stride)
      return false;
    stride *= tensor->sizes[axis];
  }
  return true;
}

static bool find_among(const struct hirc_named_tensors *given, struct hirc_place *place) {
  const struct hirc_safetensor *weight = place->weight;
  for (int64_t i = 0; i < given->count; ++i) {
    const struct dl_tensor *tensor = given->tensors[i];
    if (strcmp(given->names[i], weight->name) != 0)
      continue;
    struct hirc_safetensor found = {.name = weight->name, .dtype = name_of_type(tensor->type),
                                    .sizes = tensor->sizes, .rank = tensor->rank};
    if (!fits(weight, &found, "weights"))
      return false;
    if (!tensor->data && weight->end != weight->start) {
      hirc_error_say("weights: tensor '%s' has no memory (its data is NULL)", weight->name);
      return false;
    }
    if (!is_packed(tensor)) {
      hirc_error_say("weights: tensor '%s' is not packed, row by row", weight->name);
      return false;
    }
    place->from = (const char *)tensor->data + tensor->byte_offset;
    return true;
  }
  hirc_error_say("weights: there is no tensor '%s' among those given", weight->name);
  return false;
}

static int compare_places(const void *left, const void *right) {
  const struct hirc_place *one = left, *other = right;
  return one->start != other->start ? (one->start > other->start) - (one->start < other->start)
                                    : (one->end > other->end) - (one->end < other->end);
}

// Two weights of one memory have one value, wherever each was found.
static bool ties_hold(const struct hirc_values *values, const struct hirc_named_tensors *given) {
  for (int64_t i = 1; i < values->count; ++i) {
    const struct hirc_place *one = &values->places[i - 1], *other = &values->places[i];
    uint64_t bytes = one->weight->end - one->weight->start;
    if (one->start != other->start || bytes == 0 || one->from == other->from)
      continue;
    if (given) {
      hirc_error_say("weights: '%s' and '%s' are one in the program, and two tensors are given",
                     one->weight->name, other->weight->name);
      return false;
    }
    if (memcmp(one->from, other->from, bytes) != 0) {
      hirc_error_say("weights file %s: tensors '%s' and '%s' are one in the program, and differ",
                     values->file.path, one->weight->name, other->weight->name);
      return false;
    }
  }
  return true;
}

// Whether a file of this build's, or of none, is given.
static bool is_of_this_build(const struct hirc_values *values) {
  const char *wanted = hirc_safetensors_metadatum(&values->wanted, digest_key);
  const char *found = hirc_safetensors_metadatum(&values->file.header, digest_key);
  if (!wanted || !found || strcmp(wanted, found) == 0)
    return true;
  hirc_error_say("weights file %s belongs to another build (its digest is %.16s..., not %.16s...): "
                 "take the file that came with this one, or build again",
                 values->file.path, found, wanted);
  return false;
}

static void place_on_device(struct hirc_place *place, const struct hirc_weight_part *part) {
  uint64_t bytes = place->end - place->start;
  for (int64_t i = 0; i < part->cut_count; ++i)
    bytes /= part->cuts[2 * i + 1] < 0 ? 1 : (uint64_t)part->cuts[2 * i];
  place->start = (uint64_t)part->offset;
  place->end = place->start + bytes;
  place->part = part->cut_count ? part : NULL;
}

// Finds the values; they are to be closed, also where this fails and there is a message.
bool hirc_values_open(struct hirc_values *values, const struct hirc_weights *weights,
                      bool is_embedded, const char *path, const struct hirc_named_tensors *given) {
  *values = (struct hirc_values){.file.descriptor = -1};
  const char *fault = hirc_safetensors_parse(weights->header, (size_t)weights->header_bytes,
                                             &values->wanted);
  int64_t count = values->wanted.count;
  values->places = fault ? NULL : calloc((size_t)count + 1, sizeof *values->places);
  if (!values->places) {
    hirc_error_say("weights: there is no memory for their names");
    return false;
  }
  if (path && (!open_file(&values->file, path) || !is_of_this_build(values)))
    return false;
  for (int64_t i = 0; i < count; ++i) {
    struct hirc_place *place = &values->places[i];
    place->weight = &values->wanted.tensors[i];
    place->start = place->weight->start;
    place->end = place->weight->end;
    if (weights->parts)
      place_on_device(place, &weights->parts[i]);
    if (is_embedded)
      place->from = (const char *)weights->embedded + place->weight->start;
    else if (path ? !find_in_file(values, place) : !find_among(given, place))
      return false;
  }
  qsort(values->places, (size_t)count, sizeof *values->places, compare_places);
  if (!is_embedded) {
    values->count = count;
    if (!ties_hold(values, given))
      return false;
  }
  // Of several weights of one memory, one is copied.
  int64_t kept = 0;
  for (int64_t i = 0; i < count; ++i)
    if (!kept || values->places[i].start != values->places[kept - 1].start ||
        values->places[kept - 1].end == values->places[kept - 1].start)
      values->places[kept++] = values->places[i];
  values->count = kept;
  values->is_one_memory = !given;
  values->has_gaps = is_embedded;
  return true;
}

void hirc_values_close(struct hirc_values *values) {
  if (values->file.memory)
    munmap((void *)(uintptr_t)values->file.memory, values->file.bytes);
  if (values->file.path && values->file.descriptor >= 0)
    close(values->file.descriptor);
  hirc_safetensors_free(&values->file.header);
  hirc_safetensors_free(&values->wanted);
  free(values->places);
}

// Whether a value lies in its file where it will lie on the device, from the first byte of data on.
bool hirc_value_is_in_place(const struct hirc_values *values, int64_t place) {
  const struct hirc_place *each = &values->places[place];
  return values->file.memory && !each->part &&
         each->from == values->file.memory + values->file.data_offset + each->start;
}

// How many bytes of a file's data, from the first on, hold values that are in place; 0 where they
// do not begin on a page.
uint64_t hirc_values_in_place(const struct hirc_values *values, uint64_t page) {
  uint64_t bytes = 0;
  if (values->file.data_offset % page != 0)
    return 0;
  for (int64_t i = 0; i < values->count; ++i)
    if (hirc_value_is_in_place(values, i))
      bytes = values->places[i].end;
  return bytes;
}

// How the part of a value that process number `rank` has is copied to where it is packed. The mesh's
// outer axes divide a dim first. Returns false where there is nothing to copy.
bool hirc_value_part(const struct hirc_place *place, int64_t rank, void *to,
                     struct strided_copy *copy) {
  const struct hirc_safetensor *weight = place->weight;
  int64_t sizes[STRIDED_MAX_RANK], to_strides[STRIDED_MAX_RANK], from_strides[STRIDED_MAX_RANK];
  int64_t from = 0, inner = 1, count = 1, all = 1;
  for (int64_t i = 0; i < weight->rank; ++i) {
    all *= weight->sizes[i];
    sizes[i] = weight->sizes[i];
  }
  if (all == 0)
    return false;
  for (int64_t dim = weight->rank - 1, stride = 1; dim >= 0; stride *= weight->sizes[dim--])
    from_strides[dim] = stride;
  for (int64_t i = 0; i < place->part->cut_count; ++i)
    inner *= place->part->cuts[2 * i];
  for (int64_t i = 0; i < place->part->cut_count; ++i) {
    int64_t size = place->part->cuts[2 * i], dim = place->part->cuts[2 * i + 1];
    inner /= size;
    if (dim < 0)
      continue;
    sizes[dim] /= size;
    from += rank / inner % size * sizes[dim] * from_strides[dim];
  }
  for (int64_t dim = weight->rank - 1; dim >= 0; count *= sizes[dim--])
    to_strides[dim] = count;
  int64_t element = (int64_t)(weight->end - weight->start) / all;
  return hirc_strided_simplify(copy, to, (char *)(uintptr_t)place->from + from * element,
                               weight->rank, sizes, to_strides, from_strides, element);
}
