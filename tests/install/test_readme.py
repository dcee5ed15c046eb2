"""test_readme.py - the README's lines for C and Fortran, and its commands to install and uninstall.

Its whole programs run in install.install, install.fortran_page and python.page, its lines for PyTorch by torch.page.
SPDX-License-Identifier: MIT
"""

import os
import re
import shlex
import sys
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "faults"))

from harness import environment, expect, expect_equal, main, read_folder, run, untraced

SOURCE = Path(os.environ["DFT_TEST_SOURCE"])
BUILD = Path(os.environ["DFT_TEST_BUILD"])
PAGE = (SOURCE / "README.md").read_text(encoding="utf-8")


def lines(language):
    (text,) = re.findall(rf"^```{language} lines\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    expect_equal(text.count("\n"), 3, f"lines of {language}")
    return text.split("\n", 1)


def quietly(command, env=None, **options):
    done = run([str(word) for word in command], env or untraced(), **options)
    expect_equal(done.returncode, 0, f"{command}: {done.stdout}{done.stderr}")
    return done.stdout


def install(folder):
    """An installation with a manifest of its own: other tests install from the same build at the same time."""
    prefix = Path(folder, "with a blank")
    quietly(["cmake", "--install", BUILD, "--prefix", prefix, "--component", "Unspecified"])
    return prefix, BUILD / "install_manifest_Unspecified.txt"


def expect_step(folder, compiler, package, source):
    prefix, _ = install(folder)
    (pkgconfig,) = {path.parent for path in prefix.rglob("dftracer.pc")}
    env = untraced() | {"PKG_CONFIG_PATH": str(pkgconfig), "LD_LIBRARY_PATH": str(pkgconfig.parent)}
    flags = shlex.split(quietly(["pkg-config", "--cflags", "--libs", package], env))
    quietly([compiler, source, "-o", "program", *flags], env, cwd=folder)
    traced = {key: value for key, value in environment(f"{folder}/out").items() if key.startswith("DFTRACER_")}
    quietly(["./program"], env | traced, cwd=folder)
    (trace,) = read_folder(f"{folder}/out")
    expect_equal([(event["name"], event["cat"]) for event in trace.user_events()], [("step", "solver")], "events")


def case_the_lines_for_c(folder):
    include, calls = lines("c")
    Path(folder, "lines.c").write_text(f"{include}\nint main(void) {{\n{calls}return 0;\n}}\n")
    expect_step(folder, "cc", "dftracer", "lines.c")


def case_the_lines_for_fortran(folder):
    use, calls = lines("fortran")
    if not (BUILD / "fortran/dftracer-fortran.pc").exists():
        return
    Path(folder, "lines.f90").write_text(f"program lines\n{use}\n{calls}end program lines\n")
    expect_step(folder, "gfortran", "dftracer-fortran", "lines.f90")


def uninstall(manifest):
    (command,) = re.findall(r"^cmake .*install_manifest.txt.*uninstall.cmake$", PAGE, re.MULTILINE)
    command = command.replace("build/install/install_manifest.txt", shlex.quote(str(manifest)))
    quietly(["sh", "-c", command], cwd=SOURCE)


def case_uninstalling_leaves_nothing(folder):
    prefix, manifest = install(folder)
    uninstall(manifest)
    expect_equal(list(prefix.rglob("*")), [], "what is left")
    expect(not prefix.exists(), "the folder that was made for it is still there")


def case_uninstalling_leaves_what_is_not_ours(folder):
    prefix, manifest = install(folder)
    kept = [prefix / "lib", prefix / "lib/.of another"]
    kept[1].write_text("")
    uninstall(manifest)
    expect_equal(sorted(prefix.rglob("*")), kept, "what is left")


def case_the_options_of_the_build_exist(_folder):
    """The commands themselves would build everything again."""
    configure, build, installs, _ = re.findall(r"^cmake .*build/install.*$", PAGE, re.MULTILINE)
    cache = (BUILD / "CMakeCache.txt").read_text()
    for option in re.findall(r"-D(\w+)=", configure):
        expect(f"\n{option}:" in cache, f"{option} is an option")
    expect("--parallel" in build and "--prefix" in installs, "parallel, with a prefix")


main(globals())
