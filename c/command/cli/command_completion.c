/* command_completion.c - dftracer completion: scripts for bash and zsh, from the table of commands.
 *
 * The value an option takes decides what is offered: one of the words of a|b|c (each up to its first capital), files for FILE
 * and PATH, folders for DIR, programs for CMD, nothing for numbers, times and patterns. Operands work the same way.
 * SPDX-License-Identifier: MIT */
#include <dftracer/sink.h>

#include "arguments.h"

const command command_completion;

static int has(const char *text, const char *part) {
  return text && strstr(text, part) != NULL;
}

static const char *kind_of(const char *value) {
  if (has(value, "|")) return "words";
  if (has(value, "CMD")) return "program";
  if (has(value, "FILE") || has(value, "PATH")) return "file";
  return has(value, "DIR") ? "folder" : "none";
}

static int is_kind(const char *value, const char *kind) {
  return strcmp(kind_of(value), kind) == 0;
}

static int is_optional(const option *one) {
  return one->value && one->value[0] == '[';
}

static void print_sinks(void) {
  const dft_sink *sink;
  for (size_t i = 0; (sink = dft_sink_built_in(i)) != NULL; i++) printf("%s%s", i ? " " : "", sink->name);
}

/* The words of a|b|c with spaces between them; `escape` goes before every colon. SINK stands for the built-in sinks. */
static void print_words(const char *choices, const char *escape) {
  for (int is_first = 1; *choices; is_first = 0) {
    size_t len = strcspn(choices, "|"), small = strcspn(choices, "ABCDEFGHIJKLMNOPQRSTUVWXYZ|");
    if (!is_first && small) putchar(' ');
    if (strncmp(choices, "SINK", len) == 0) print_sinks();
    for (size_t i = 0; i < small; i++) printf("%s%c", choices[i] == ':' ? escape : "", choices[i]);
    choices += len + (choices[len] == '|');
  }
}

/* ---- bash ----------------------------------------------------------------------------------------------------------- */

static void print_bash_value(const option *one) {
  printf("        ");
  if (one->key < OPTION_LONG) printf("-%c | ", one->key);
  printf("--%s) %skind=%s", one->name, is_optional(one) ? "[[ -n $equals ]] && " : "", kind_of(one->value));
  if (is_kind(one->value, "words")) {
    printf(" words='");
    print_words(one->value, "");
    printf("'");
  }
  printf(" ;;\n");
}

static void print_bash_options(const command *shown) {
  int values = 0;
  printf("    %s)\n      operand=%s options='--help", shown->name, kind_of(shown->arguments));
  for (const option *one = shown->options; one && one->key; one++) printf(" --%s", one->name);
  printf("'\n");
  if (is_kind(shown->arguments, "words")) {
    printf("      words='");
    print_words(shown->arguments, "");
    printf("'\n");
  }
  for (const option *one = shown->options; one && one->key; one++) {
    if (!one->value) continue;
    if (!values++) printf("      case $previous in\n");
    print_bash_value(one);
  }
  if (values) printf("      esac\n");
  if (shown->is_wrapper) {
    printf("      valued='");
    for (const option *one = shown->options; one && one->key; one++) {
      if (!one->value || is_optional(one)) continue;
      if (one->key < OPTION_LONG) printf(" -%c", one->key);
      printf(" --%s", one->name);
    }
    printf(" '\n");
  }
  printf("      ;;\n");
}

/* Finds where the other program's words begin, past our options and their values. */
static const char bash_program[] =
  "  if [[ $operand == program && -z $kind ]]; then\n"
  "    for ((i = 2; i < COMP_CWORD; i++)); do\n"
  "      case ${COMP_WORDS[i]} in\n"
  "        --) first=$((i + 1)) && break ;;\n"
  "        =) ((++i)) ;;\n"
  "        -*) if [[ $valued == *\" ${COMP_WORDS[i]} \"* && ${COMP_WORDS[i + 1]} != = ]]; then ((++i)); fi ;;\n"
  "        *) first=$i && break ;;\n"
  "      esac\n"
  "    done\n"
  "    if [[ -n $first ]] && declare -F _command_offset >/dev/null; then\n"
  "      _command_offset \"$first\"\n"
  "      return\n"
  "    fi\n"
  "    if [[ -n $first ]]; then options='' kind=file; fi\n"
  "    if [[ $first == \"$COMP_CWORD\" ]]; then kind=program; fi\n"
  "  fi\n";

static const char bash_end[] = "  if [[ -z $kind && $current == -* ]]; then kind=words words=$options; fi\n"
                               "  case ${kind:-$operand} in\n"
                               "    words) mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\") ;;\n"
                               "    program) mapfile -t COMPREPLY < <(compgen -c -- \"$current\") ;;\n"
                               "    file) mapfile -t COMPREPLY < <(compgen -f -- \"$current\") ;;\n"
                               "    folder) mapfile -t COMPREPLY < <(compgen -d -- \"$current\") ;;\n"
                               "  esac\n"
                               "  case ${kind:-$operand}:${COMPREPLY[0]-} in\n"
                               "    file:* | folder:*) compopt -o filenames 2>/dev/null || true ;;\n"
                               "    words:*:) compopt -o nospace 2>/dev/null || true ;;\n"
                               "  esac\n"
                               "}\n"
                               "complete -F _dftracer dftracer\n";

static void print_bash(void) {
  printf("# bash completion for dftracer; generated by: dftracer completion bash\n"
         "_dftracer() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
         "  local options='' words='' valued='' kind='' operand=file equals='' first='' i\n"
         "  COMPREPLY=()\n"
         "  if [[ $current == = ]]; then # --by=name is three words here\n"
         "    equals=1 current=''\n"
         "  elif [[ $previous == = ]]; then\n"
         "    equals=1 previous=${COMP_WORDS[COMP_CWORD - 2]}\n"
         "  fi\n"
         "  if ((COMP_CWORD == 1)) || [[ ${COMP_WORDS[1]} == help ]]; then\n"
         "    words='--help --version help");
  for (const command *const *entry = commands; *entry; entry++) printf(" %s", (*entry)->name);
  printf("'\n"
         "    words+=\" $(compgen -c dftracer- | sed 's/^dftracer-//')\"\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
         "    return\n"
         "  fi\n"
         "  case ${COMP_WORDS[1]} in\n");
  for (const command *const *entry = commands; *entry; entry++) print_bash_options(*entry);
  printf("  esac\n%s%s", bash_program, bash_end);
}

/* ---- zsh ------------------------------------------------------------------------------------------------------------ */

/* Inside '...' and [...] of a specification. */
static void print_zsh_text(const char *text) {
  for (; *text; text++) {
    if (*text == '\'') fputs("'\\''", stdout);
    else if (strchr("[]:\\", *text)) printf("\\%c", *text);
    else putchar(*text);
  }
}

static void print_zsh_kind(const char *value) {
  if (is_kind(value, "words")) {
    printf("(");
    print_words(value, "\\");
    printf(")");
  } else {
    printf("%s", is_kind(value, "file") ? "_files" : is_kind(value, "folder") ? "_path_files -/" : " ");
  }
}

static void print_zsh_option(const option *one) {
  const char *equals = !one->value ? "" : is_optional(one) ? "=-" : "=";
  if (one->key < OPTION_LONG)
    printf("'(-%c --%s)'{-%c%s,--%s%s}'[", one->key, one->name, one->key, one->value ? "+" : "", one->name, equals);
  else printf("'%s--%s%s[", has(one->summary, "may be repeated") ? "*" : "", one->name, equals);
  print_zsh_text(one->summary);
  printf("]");
  if (one->value) {
    printf(":%s%s:", is_optional(one) ? ":" : "", one->name);
    print_zsh_kind(one->value);
  }
  printf("' \\\n        ");
}

static void print_zsh_options(const command *shown) {
  printf("    %s)\n      _arguments -s -S ", shown->name);
  for (const option *one = shown->options; one && one->key; one++) print_zsh_option(one);
  printf("'(- *)'{-h,--help}'[help]'");
  if (shown->is_wrapper) {
    printf(" \\\n        '(-)1:program:_command_names -e' '*::argument:_normal'");
  } else if (shown->arguments[0]) {
    printf(" \\\n        '%s:%s:", has(shown->arguments, "...") ? "*" : "1", shown->name);
    print_zsh_kind(shown->arguments);
    printf("'");
  }
  printf("\n      ;;\n");
}

static void print_zsh(void) {
  printf("#compdef dftracer\n# zsh completion for dftracer; generated by: dftracer completion zsh\n"
         "_dftracer() {\n"
         "  local -a known\n"
         "  known=(\n"
         "    'help:print the help of a command'\n");
  for (const command *const *entry = commands; *entry; entry++) {
    printf("    '%s:", (*entry)->name);
    print_zsh_text((*entry)->summary);
    printf("'\n");
  }
  printf("    ${${(k)commands[(I)dftracer-*]}#dftracer-}\n"
         "  )\n"
         "  if ((CURRENT == 2)) && [[ $words[2] == -* ]]; then\n"
         "    _arguments '(- *)'{-h,--help}'[help]' '(- *)--version[version]'\n"
         "    return\n"
         "  fi\n"
         "  if ((CURRENT == 2)) || [[ $words[2] == help ]]; then\n"
         "    _describe command known\n"
         "    return\n"
         "  fi\n"
         "  local name=$words[2]\n"
         "  shift words\n"
         "  ((CURRENT--))\n"
         "  case $name in\n");
  for (const command *const *entry = commands; *entry; entry++) print_zsh_options(*entry);
  printf("    *) _files ;;\n"
         "  esac\n"
         "}\n"
         "if [ \"$funcstack[1]\" = _dftracer ]; then _dftracer \"$@\"; else compdef _dftracer dftracer; fi\n");
}

static int run_completion(int argc, char **argv) {
  arguments given = {.command = &command_completion, .argc = argc, .argv = argv};
  int key = arguments_next(&given);
  if (key < 0) return given.status;
  if (given.count != 1) return arguments_refuse(&given, "name one shell: bash or zsh");
  if (strcmp(argv[given.first], "bash") == 0) print_bash();
  else if (strcmp(argv[given.first], "zsh") == 0) print_zsh();
  else return arguments_refuse(&given, "unknown shell \"%s\"; bash and zsh are supported", argv[given.first]);
  return STATUS_DONE;
}

const command command_completion = {
  .name = "completion",
  .arguments = "bash|zsh",
  .summary = "print a completion script for bash or zsh",
  .text = "Prints a completion script. An installation contains it. In a build tree, load it with:\n\n"
          "  source <(dftracer completion bash)      # in ~/.bashrc\n"
          "  source <(dftracer completion zsh)       # in ~/.zshrc, after compinit\n",
  .run = run_completion,
};
