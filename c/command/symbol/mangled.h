/* mangled.h - a mangled name while it is read, and the text that was made of it so far.
 *
 * A recursive descent through the grammar of the Itanium C++ ABI. What cannot be read sets is_bad, after which every function
 * returns something empty and harmless. All text is in one piece of memory of limited size; so names that repeat parts of
 * themselves without end (hostile ones) fail, rather than grow.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_MANGLED_H
#define DFTRACER_MANGLED_H

#include <dftracer/reader.h>
#include <stdint.h>

#define MANGLED_PARTS 512u  /* that may be repeated: substitutions, arguments of templates */
#define MANGLED_ROOM 98304u /* bytes of text */
#define MANGLED_DEPTH 128u
#define MANGLED_STEPS 60000u /* types and names that are read, some of them several times */

enum type_kind { TYPE_PLAIN, TYPE_FUNCTION, TYPE_ARRAY };

/* A type is written around the name of what has it: "int (*" and ")(char)". */
typedef struct type_text {
  dft_text left, right;
  dft_text last;         /* of a class: its own name, which its constructors have; text NULL: none */
  uint8_t kind;          /* type_kind */
  uint8_t references;    /* how many & are at the end of left: 0, 1, 2 */
  uint8_t is_parametric; /* parameters of templates are in it, which may mean something else elsewhere */
  uint8_t is_pack;       /* several arguments of a template, or none */
  uint16_t first, count; /* of a pack: its arguments */
  const char *from;      /* where it was read */
} type_text;

typedef struct mangled mangled;

enum parameter_use {
  PARAMETERS_LEFT,
  PARAMETERS_SKIPPED,
  PARAMETERS_SHOWN
}; /* of a function; LEFT: they are not even read */

/* The grammar is recursive: these are for files that come before those which define them. */
typedef struct mangled_hooks {
  dft_text (*arguments)(mangled *name, int are_of_function); /* of a template: "<int, 3>" */
  dft_text (*expression)(mangled *name);
  type_text (*class_type)(mangled *name);
  dft_text (*simple_name)(mangled *name);
  dft_text (*encoding)(mangled *name, enum parameter_use parameters);
} mangled_hooks;

struct mangled {
  const mangled_hooks *hooks;
  const char *at, *end;
  char *room;
  uint32_t used;
  uint32_t depth, steps;
  int is_bad;
  int is_frozen;     /* what is read was read before: it adds no substitutions */
  int is_in_lambda;  /* among the parameters of a lambda, where those of templates are "auto" */
  int is_conversion; /* the arguments of a template that follow are those of the operator */
  int has_packs;     /* a pack was met while one of its arguments was looked for */
  uint32_t pack_at, pack_count;
  type_text parts[MANGLED_PARTS]; /* substitutions */
  uint32_t part_count;
  type_text arguments[MANGLED_PARTS]; /* of templates, as lists */
  uint32_t argument_count;
  uint32_t first_parameter, parameter_count; /* what T_, T0_ ... stand for */
};

/* ---- Reading */
static inline char mangled_peek(const mangled *name, size_t ahead) {
  return (size_t)(name->end - name->at) > ahead ? name->at[ahead] : '\0';
}
static inline dft_text mangled_fail(mangled *name) {
  name->is_bad = 1;
  return (dft_text){"", 0};
}
int mangled_take(mangled *name, const char *text); /* whether it is next; then it is read */
int mangled_enter(mangled *name);                  /* before anything that contains itself; 0: too deep, or is_bad */
void mangled_leave(mangled *name);
uint32_t mangled_number(mangled *name);   /* decimal */
uint32_t mangled_sequence(mangled *name); /* "_" 0, "0_" 1, "1_" 2 ... */

/* ---- Text */
dft_text mangled_join(mangled *name, const dft_text *parts, uint32_t count);
#define JOIN(name, ...) \
  mangled_join(name, (const dft_text[]){__VA_ARGS__}, sizeof((const dft_text[]){__VA_ARGS__}) / sizeof(dft_text))
#define TEXT(literal) ((dft_text){literal, sizeof(literal) - 1})
dft_text mangled_digits(mangled *name, uint32_t number);
void mangled_add_part(mangled *name, type_text part);

#endif
