// What a linked library has beside its programs: the functions of hirc_last_error's kind that its
// callers find by name, and what each call of a program tells the rest.
//
// A program of a library calls what is here, which brings the rest of the file with it; one of an
// executable does not. Linked from several units the functions are one: they are weak, and alone of
// the support library's visible.

#include "program.h"
#include "ranges.h"

#define EXPORTED __attribute__((weak, visibility("default")))

EXPORTED const char *hirc_last_error(void) { return hirc_error_text(); }

EXPORTED const struct hirc_program_info *const *hirc_programs(int64_t *count) {
  return hirc_program_list(count);
}

EXPORTED int hirc_free_output(void *data, void *stream) { return hirc_output_free(data, stream); }

EXPORTED struct hirc_owner *hirc_own_output(void *data, void *stream,
                                            struct dl_managed_tensor *held) {
  return hirc_output_own(data, stream, held);
}

EXPORTED int hirc_release_output(struct hirc_owner *owner) { return hirc_output_release(owner); }

EXPORTED void *hirc_manage_output(const struct dl_tensor *output, struct hirc_owner *owner,
                                  int is_versioned) {
  return hirc_output_manage(output, owner, is_versioned);
}

EXPORTED int hirc_leave(void *library) { return hirc_library_leave(library); }

EXPORTED int hirc_synchronize(void *stream) { return hirc_stream_finish(stream); }

EXPORTED uint64_t hirc_devices(void) { return hirc_library_devices(); }

EXPORTED void hirc_graph_counts(int64_t counts[5]) { hirc_graphs_counted(counts); }

EXPORTED void *hirc_call_from_python(struct python_program *bound, void *owner) {
  return hirc_python_function(bound, owner);
}

// A library's program is called with tensors that are right.
void hirc_call_begins(const struct hirc_program_info *program,
                      const struct dl_tensor *const *inputs, struct dl_tensor *const *outputs) {
  // It ends with the call.
  hirc_range_begin(program->name);
  hirc_lend_tensors(program, inputs, outputs);
}
