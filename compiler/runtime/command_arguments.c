// A command's arguments.

#include "command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS_TO_TIME = 20 };

// What follows `--name=` or, as the next word, `--name`; NULL where the word is another.
static const char *value_after(const char *name, int argc, char **argv, int *place) {
  size_t length = strlen(name);
  const char *word = argv[*place];
  if (strncmp(word, name, length) != 0 || (word[length] && word[length] != '='))
    return NULL;
  const char *value = NULL;
  if (word[length] == '=')
    value = word + length + 1;
  else if (*place + 1 < argc)
    value = argv[++*place];
  if (!value || !value[0])
    hirc_command_fail(HIRC_EXIT_USAGE, "%s needs a value: %s=...", name, name);
  return value;
}

// The place of the value whose name stands before the first '=' of the text, or -1.
static int64_t named(const struct hirc_value_info *values, int64_t count, const char *text) {
  size_t length = strcspn(text, "=");
  for (int64_t i = 0; text[length] && i < count; ++i)
    if (strlen(values[i].name) == length && strncmp(values[i].name, text, length) == 0)
      return i;
  return -1;
}

// Whether the text before a '=' is sizes or an input's element type, as in 2x3xf32=1.5.
static bool is_type(const struct hirc_program_info *program, const char *text, size_t length) {
  size_t digits = strspn(text, "0123456789");
  if (digits && text[digits] == 'x')
    return true;
  for (int64_t i = 0; i < program->input_count; ++i) {
    const char *element = program->inputs[i].element;
    if (strlen(element) == length && strncmp(element, text, length) == 0)
      return true;
  }
  return false;
}

// Fails for a text that begins with a name that no value has.
static void refuse_unknown(const struct hirc_program_info *program, const char *text,
                           const char *role) {
  // A file with a '=' in its name is one of a folder: ./a=b.
  size_t length = strcspn(text, "=/");
  if (text[length] == '=')
    hirc_command_fail(HIRC_EXIT_USAGE, "%s has no %s '%.*s'; a file of that name is ./%s",
                      program->name, role, (int)length, text, text);
}

static void set(const char **texts, int64_t place, const char *text, const char *role,
                const char *name, const char *option) {
  if (!text[0])
    hirc_command_fail(HIRC_EXIT_USAGE, "%s=%s= needs a value: %s=%s=...", option, name, option,
                      name);
  if (texts[place])
    hirc_command_fail(HIRC_EXIT_USAGE, "%s '%s' is given twice: %s and %s", role, name,
                      texts[place], text);
  texts[place] = text;
}

static void take_input(const struct hirc_program_info *program, struct hirc_arguments *arguments,
                       const char *text, int64_t *next) {
  int64_t place = named(program->inputs, program->input_count, text);
  if (place >= 0) {
    text = strchr(text, '=') + 1;
  } else {
    if (!is_type(program, text, strcspn(text, "=")))
      refuse_unknown(program, text, "input");
    place = (*next)++;
    if (place >= program->input_count)
      hirc_command_fail(HIRC_EXIT_USAGE, "%s takes %" PRId64 " input%s, and there is one more: %s",
                        program->name, program->input_count, program->input_count == 1 ? "" : "s",
                        text);
  }
  set(arguments->inputs, place, text, "input", program->inputs[place].name, "--input");
}

static void take_output(const struct hirc_program_info *program, struct hirc_arguments *arguments,
                        const char *text, int64_t *next) {
  int64_t place = named(program->outputs, program->output_count, text);
  const char *role = "output";
  const struct hirc_value_info *value = NULL;
  if (place >= 0) {
    text = strchr(text, '=') + 1;
    value = &program->outputs[place];
  } else if ((place = named(program->inputs, program->input_count, text)) >= 0) {
    text = strchr(text, '=') + 1;
    value = &program->inputs[place];
    role = "input";
    place += program->output_count;
  } else {
    refuse_unknown(program, text, "output");
    place = (*next)++;
    if (place >= program->output_count)
      hirc_command_fail(HIRC_EXIT_USAGE,
                        "%s has %" PRId64 " output%s, and there is one more: %s", program->name,
                        program->output_count, program->output_count == 1 ? "" : "s", text);
    value = &program->outputs[place];
  }
  set(arguments->outputs, place, text, role, value->name, "--output");
}

static int64_t parse_repeat(const char *text) {
  char *stop;
  int64_t repeat = strtoll(text, &stop, 10);
  if (stop == text || *stop || repeat < 1 || repeat > 100000000)
    hirc_command_fail(HIRC_EXIT_USAGE, "--repeat takes a number of runs, not '%s'", text);
  return repeat;
}

static void check_inputs(const struct hirc_program_info *program,
                         const struct hirc_arguments *arguments) {
  for (int64_t i = 0; i < program->input_count; ++i)
    if (!arguments->inputs[i])
      hirc_command_fail(HIRC_EXIT_USAGE, "input '%s' (%s) is missing: --input=%s=...",
                        program->inputs[i].name, program->inputs[i].type,
                        program->inputs[i].name);
}

// Parses the command line. Prints the help and ends the command where it asks for that; ends it
// with an error where the line is wrong.
struct hirc_arguments hirc_parse_arguments(int argc, char **argv,
                                           const struct hirc_program_info *program) {
  struct hirc_arguments arguments = {0};
  int64_t next_input = 0, next_output = 0;
  arguments.inputs = hirc_command_memory(program->input_count, sizeof(char *));
  arguments.outputs =
      hirc_command_memory(program->output_count + program->input_count, sizeof(char *));
  for (int i = 1; i < argc; ++i) {
    const char *text;
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
      hirc_print_help(program);
      hirc_command_printed();
      exit(0);
    } else if (strcmp(argv[i], "--print") == 0) {
      arguments.print = true;
    } else if (strcmp(argv[i], "--time") == 0) {
      arguments.time = true;
    } else if ((text = value_after("--input", argc, argv, &i))) {
      take_input(program, &arguments, text, &next_input);
    } else if ((text = value_after("--output", argc, argv, &i))) {
      take_output(program, &arguments, text, &next_output);
    } else if (program->weights && (text = value_after("--weights", argc, argv, &i))) {
      arguments.weights = text;
    } else if (program->weights && (text = value_after("--seed", argc, argv, &i))) {
      arguments.seed = text;
    } else if ((text = value_after("--repeat", argc, argv, &i))) {
      arguments.repeat = parse_repeat(text);
    } else {
      hirc_command_fail(HIRC_EXIT_USAGE, "unknown argument '%s'", argv[i]);
    }
  }
  check_inputs(program, &arguments);
  if (arguments.time && arguments.repeat == 0)
    arguments.repeat = RUNS_TO_TIME;
  bool writes = false;
  for (int64_t i = 0; i < program->output_count + program->input_count; ++i)
    writes = writes || arguments.outputs[i];
  arguments.print = arguments.print || (!writes && arguments.repeat == 0);
  return arguments;
}

// The text with the rank in place of each %r.
static const char *with_rank(const char *text, int rank) {
  size_t count = 0, at = 0;
  for (const char *each = text; (each = strstr(each, "%r")); each += 2)
    ++count;
  if (count == 0)
    return text;
  char number[16];
  size_t digits = (size_t)snprintf(number, sizeof number, "%d", rank);
  char *made = hirc_command_memory((int64_t)(strlen(text) + count * digits + 1), 1);
  while (*text) {
    bool is_rank = strncmp(text, "%r", 2) == 0;
    memcpy(made + at, is_rank ? number : text, is_rank ? digits : 1);
    at += is_rank ? digits : 1;
    text += is_rank ? 2 : 1;
  }
  return made;
}

// Where several processes run the program: %r stands for the rank in the names of files. A file
// whose name has none is written by rank 0 alone.
void hirc_name_by_rank(struct hirc_arguments *arguments, const struct hirc_program_info *program,
                       int rank) {
  for (int64_t i = 0; i < program->input_count; ++i)
    arguments->inputs[i] = with_rank(arguments->inputs[i], rank);
  for (int64_t i = 0; i < program->output_count + program->input_count; ++i) {
    const char *text = arguments->outputs[i];
    if (text)
      arguments->outputs[i] = strstr(text, "%r") ? with_rank(text, rank) : rank == 0 ? text : NULL;
  }
}
