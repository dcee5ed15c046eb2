"""bash and zsh complete the command line: the test types keys into a terminal and reads the screen."""

import fcntl
import os
import pty
import re
import shutil
import struct
import subprocess
import tempfile
import termios
from pathlib import Path

from harness import COMMAND, commands, dftracer

# After each Tab, Ctrl-X s shows the line as it is then, and Ctrl-X k empties it: keys that no terminal takes away.
BASH = """
bind 'set show-all-if-ambiguous on'; bind 'set completion-query-items 0'; bind 'set page-completions off'
bind 'set bell-style none'; bind 'set enable-bracketed-paste off'; bind 'set completion-display-width 0'
bind '"\\C-xk": unix-line-discard'; bind -x '"\\C-xs": printf "\\nLINE<%s>\\n" "$READLINE_LINE"'
source <(dftracer completion bash)
PS1= PS2=; printf 'READ%s\\n' Y
"""
ZSH = """
autoload -Uz compinit && compinit -u -D
show() { zle -I; print -r -- "LINE<$BUFFER>" }
zle -N show; bindkey '^Xs' show; bindkey '^I' expand-or-complete; bindkey '^Xk' kill-whole-line
unsetopt list_ambiguous list_beep; LISTMAX=1000; zstyle ':completion:*' list-packed no
source <(dftracer completion zsh)
PS1= PS2= RPS1=; unsetopt prompt_cr prompt_sp; print READ''Y
"""
# As it is installed: a function that zsh finds by itself.
INSTALLED = (
    "fpath=($PWD/functions $fpath); mkdir functions; dftracer completion zsh >functions/_dftracer\n"
    + ZSH.replace("source <(dftracer completion zsh)\n", "")
)


class Shell:
    """A shell on a terminal of its own."""

    def __init__(self, words, setup, cwd):
        main, side = pty.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 200, 300, 0, 0))
        env = {**os.environ, "TERM": "xterm", "PATH": f"{cwd}/bin:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
        self.child = subprocess.Popen(
            words, stdin=side, stdout=side, stderr=side, cwd=cwd, env=env, start_new_session=True
        )
        os.close(side)
        self.terminal = main
        (Path(cwd) / "setup").write_text(setup)
        self.send(". ./setup\n")
        self.read_until(r"READY")

    def send(self, keys):
        os.write(self.terminal, keys.encode())

    def read_until(self, pattern):
        text = ""
        while not re.search(pattern, text):
            try:
                part = os.read(self.terminal, 65536)
            except OSError:
                part = b""
            assert part, f"the shell ended: {text}"
            text += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|[\r\x07]", "\n", part.decode(errors="replace"))
        return text

    def complete(self, line):
        """What the line is after a Tab, and the lines that were shown below it."""
        self.send(line + "\t\x18s")
        text = self.read_until(r"LINE<.*>\n")
        self.send("\x18k\x18s")
        self.read_until(r"LINE<>\n")
        shown = re.split(r"LINE<", text)[0].split("\n")
        return re.search(r"LINE<(.*)>\n", text).group(1), [part for part in shown if part.split()][1:]

    def close(self):
        os.close(self.terminal)
        self.child.wait()


def offers(shell, line, words):
    _, shown = shell.complete(line)
    found = {word for part in shown for word in part.split()}
    assert set(words) <= found, f"{line}: {sorted(set(words) - found)} are not among {shown}"


def becomes(shell, line, result):
    after, _ = shell.complete(line)
    assert after == result, f"{line}: {after!r}, not {result!r}"


def long_options(command):
    out, _ = dftracer(command, "--help")
    return re.findall(r"^  (?:-., |    )(--\w[\w-]*)", out, re.M)


def drive(shell):
    offers(shell, "dftracer ", [*commands(), "help", "plot"])
    becomes(shell, "dftracer rec", "dftracer recover ")
    becomes(shell, "dftracer help summ", "dftracer help summary ")
    becomes(shell, "dftracer --ver", "dftracer --version ")
    for command in commands():
        if long_options(command)[1:]:
            offers(shell, f"dftracer {command} --", long_options(command))
        else:
            becomes(shell, f"dftracer {command} --", f"dftracer {command} --help ")
    # Values: words, folders, files, and nothing for numbers and patterns.
    offers(shell, "dftracer summary --by ", ["name", "file", "process", "thread", "step"])
    becomes(shell, "dftracer summary --by st", "dftracer summary --by step ")
    becomes(shell, "dftracer summary --by=pro", "dftracer summary --by=process ")
    offers(shell, "dftracer convert -t ", ["chrome", "csv", "hdf5", "hdf5-table", "hdf5-links"])
    becomes(shell, "dftracer convert --to ch", "dftracer convert --to chrome ")
    becomes(shell, "dftracer merge --align cl", "dftracer merge --align clock ")
    becomes(shell, "dftracer run --sink nu", "dftracer run --sink null ")
    becomes(shell, "dftracer merge traces -o o", "dftracer merge traces -o one.pfw ")
    becomes(shell, "dftracer run --out tr", "dftracer run --out traces/")
    becomes(shell, "dftracer run --io=tr", "dftracer run --io=traces/")
    becomes(shell, "dftracer summary --top o", "dftracer summary --top o")
    becomes(shell, "dftracer summary --name o", "dftracer summary --name o")
    # Operands.
    becomes(shell, "dftracer completion z", "dftracer completion zsh ")
    becomes(shell, "dftracer summary --json o", "dftracer summary --json one.pfw ")
    becomes(shell, "dftracer cat traces/t", "dftracer cat traces/two.pfw ")
    becomes(shell, "dftracer recover 'with b", "dftracer recover 'with blank.pfw' ")
    becomes(shell, "dftracer top o", "dftracer top o")
    becomes(shell, "dftracer top tr", "dftracer top traces/")
    # The other program and its own arguments, with and without the dashes.
    becomes(shell, "dftracer run own-pro", "dftracer run own-program ")
    becomes(shell, "dftracer run -o traces -- own-pro", "dftracer run -o traces -- own-program ")
    becomes(shell, "dftracer run --out traces own-program o", "dftracer run --out traces own-program one.pfw ")
    becomes(shell, "dftracer doctor -- own-program o", "dftracer doctor -- own-program one.pfw ")


def prepare(folder):
    (folder / "bin").mkdir()
    (folder / "bin" / "dftracer").symlink_to(COMMAND)
    for name in ("dftracer-plot", "own-program"):
        (folder / "bin" / name).write_text("#!/bin/sh\n")
        (folder / "bin" / name).chmod(0o755)
    (folder / "traces").mkdir()
    for name in ("one.pfw", "with blank.pfw", "traces/two.pfw"):
        (folder / name).touch()


for words, setup in (
    (["bash", "--norc", "--noprofile", "-i"], BASH),
    (["zsh", "-fi"], ZSH),
    (["zsh", "-fi"], INSTALLED),
):
    if not shutil.which(words[0]):
        print(f"{words[0]} is not here: its completion was not driven")
        continue
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        shell = Shell(words, setup, folder)
        drive(shell)
        shell.close()
        print("passed:", words[0])
