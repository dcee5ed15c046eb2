/* completion.c - dftracer completion: what shells need to complete this command line, from the table of commands.
 *
 * An option's value or an operand written as a|b|c is one of these words; anything else is taken for a file.
 * SPDX-License-Identifier: MIT */
#include "arguments.h"

const command command_completion;

/* The words of a|b|c, each followed by a space. */
static void print_words(const char *choices) {
  for (; *choices; choices++) {
    if (*choices == '|') putchar(' ');
    else if (*choices != '[' && *choices != ']' && *choices != '.') putchar(*choices);
  }
}

static int is_choice(const char *value) {
  return value && strchr(value, '|') != NULL;
}

/* ---- bash ----------------------------------------------------------------------------------------------------------- */

static void print_bash_options(const command *of) {
  printf("    %s)\n      options='--help", of->name);
  for (const option *at = of->options; at && at->key; at++) printf(" --%s", at->name);
  printf("'\n");
  if (is_choice(of->arguments)) {
    printf("      operands='");
    print_words(of->arguments);
    printf("'\n");
  }
  for (const option *at = of->options; at && at->key; at++) {
    if (!at->value || at->value[0] == '[') continue;
    if (at->key < OPTION_LONG)
      printf("      [[ $previous == -%c || $previous == --%s ]] && value=1", at->key, at->name);
    else printf("      [[ $previous == --%s ]] && value=1", at->name);
    if (is_choice(at->value)) {
      printf(" operands='");
      print_words(at->value);
      printf("'");
    }
    printf("\n");
  }
  if (of->is_wrapper) {
    printf("      for ((i = 2; i < COMP_CWORD; i++)); do\n"
           "        if [[ ${COMP_WORDS[i]} == -- ]] && declare -F _command_offset >/dev/null; then\n"
           "          _command_offset $((i + 1))\n          return\n        fi\n      done\n");
  }
  printf("      ;;\n");
}

static void print_bash(void) {
  printf("# bash completion for dftracer; made by: dftracer completion bash\n"
         "_dftracer() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
         "  local options='' operands='' value='' i\n"
         "  COMPREPLY=()\n"
         "  if [ \"$COMP_CWORD\" = 1 ]; then\n"
         "    options='--help --version");
  for (const command *const *at = commands; *at; at++) printf(" %s", (*at)->name);
  printf("'\n"
         "    options+=\" $(compgen -c dftracer- | sed 's/^dftracer-//')\"\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$current\")\n"
         "    return\n"
         "  fi\n"
         "  case ${COMP_WORDS[1]} in\n");
  for (const command *const *at = commands; *at; at++) print_bash_options(*at);
  printf("  esac\n"
         "  if [[ $current == -* && -z $value ]]; then\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$current\")\n"
         "  elif [[ -n $operands ]]; then\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$operands\" -- \"$current\")\n"
         "  else\n"
         "    mapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
         "    compopt -o filenames 2>/dev/null || true\n"
         "  fi\n"
         "}\n"
         "complete -F _dftracer dftracer\n");
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

static void print_zsh_value(const option *at) {
  if (!at->value) return;
  printf(":%s", at->value[0] == '[' ? ":" : "");
  print_zsh_text(at->value[0] == '[' ? "value" : is_choice(at->value) ? at->name : at->value);
  if (is_choice(at->value)) {
    printf(":(");
    print_words(at->value);
    printf(")");
  } else {
    printf(":_files");
  }
}

static void print_zsh_options(const command *of) {
  printf("    %s)\n      _arguments -s ", of->name);
  for (const option *at = of->options; at && at->key; at++) {
    const char *equals = !at->value ? "" : at->value[0] == '[' ? "=-" : "=";
    if (at->key < OPTION_LONG)
      printf("'(-%c --%s)'{-%c%s,--%s%s}'[", at->key, at->name, at->key, at->value ? "+" : "", at->name, equals);
    else printf("'--%s%s[", at->name, equals);
    print_zsh_text(at->summary);
    printf("]");
    print_zsh_value(at);
    printf("' \\\n        ");
  }
  printf("'(- *)'{-h,--help}'[help]' \\\n        ");
  if (of->is_wrapper) {
    printf("'*::command:_normal'");
  } else if (is_choice(of->arguments)) {
    printf("'1:%s:(", of->name);
    print_words(of->arguments);
    printf(")'");
  } else {
    printf("'*:path:_files'");
  }
  printf("\n      ;;\n");
}

static void print_zsh(void) {
  printf("#compdef dftracer\n# zsh completion for dftracer; made by: dftracer completion zsh\n"
         "_dftracer() {\n"
         "  local -a known\n"
         "  known=(\n");
  for (const command *const *at = commands; *at; at++) {
    printf("    '%s:", (*at)->name);
    print_zsh_text((*at)->summary);
    printf("'\n");
  }
  printf("  )\n"
         "  if ((CURRENT == 2)); then\n"
         "    _describe command known\n"
         "    return\n"
         "  fi\n"
         "  local name=$words[2]\n"
         "  shift words\n"
         "  ((CURRENT--))\n"
         "  case $name in\n");
  for (const command *const *at = commands; *at; at++) print_zsh_options(*at);
  printf("    *) _files ;;\n"
         "  esac\n"
         "}\n"
         "if [ \"$funcstack[1]\" = _dftracer ]; then _dftracer \"$@\"; else compdef _dftracer dftracer; fi\n");
}

static int run_completion(int argc, char **argv) {
  arguments given = {.command = &command_completion, .argc = argc, .argv = argv};
  int key = arguments_next(&given);
  if (key < 0) return given.status;
  if (given.count != 1) return arguments_refuse(&given, "for which shell? bash or zsh");
  if (strcmp(argv[given.first], "bash") == 0) print_bash();
  else if (strcmp(argv[given.first], "zsh") == 0) print_zsh();
  else return arguments_refuse(&given, "there is none for \"%s\", only for bash and zsh", argv[given.first]);
  return STATUS_DONE;
}

const command command_completion = {
  .name = "completion",
  .arguments = "bash|zsh",
  .summary = "print what bash or zsh need to complete these commands",
  .text = "Prints a script for the shell. An installed dftracer has it in its place already; elsewhere:\n\n"
          "  source <(dftracer completion bash)      # in ~/.bashrc\n"
          "  source <(dftracer completion zsh)       # in ~/.zshrc, after compinit\n",
  .run = run_completion,
};
