"""test_fortran_page.py - the blocks of docs/fortran.md, to the letter: built each way, run, and seen in the trace.

SPDX-License-Identifier: MIT
"""

import os
import re
import shutil
import sys
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "faults"))

from harness import environment, expect, expect_equal, main, read_folder, run, untraced

SOURCE = Path(os.environ["DFT_TEST_SOURCE"])
BUILD = Path(os.environ["DFT_TEST_BUILD"])
PAGE = (SOURCE / "docs/fortran.md").read_text(encoding="utf-8")
FPM = Path(os.environ["DFT_TEST_PYTHON"]).parent / "fpm"

if not (BUILD / "fortran/dftracer-fortran.pc").exists():
    print("SKIP: built without a Fortran compiler")
    sys.exit(77)


def blocks():
    """Language, file name or nothing, and text of every fenced block."""
    return re.findall(r"^```(\w+) ?([\w.]*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def block(name):
    (text,) = [text for _, file, text in blocks() if file == name]
    return text


def quietly(arguments, env, **options):
    done = run([str(argument) for argument in arguments], env, **options)
    expect_equal(done.returncode, 0, f"{arguments}: {done.stdout}{done.stderr}")
    return done.stdout


def install(folder):
    """The page's solver, patched as it says, an installation beside it, its lib, and the environment that finds it."""
    prefix = Path(folder, "prefix")
    quietly(["cmake", "--install", BUILD, "--prefix", prefix], untraced())
    project = Path(folder, "solver")
    project.mkdir()
    (project / "solver.f90").write_text(block("solver.f90"))
    (patch,) = [text for language, _, text in blocks() if language == "diff"]
    quietly(["patch", "--fuzz=0", "solver.f90"], untraced(), cwd=project, input=patch)
    (lib,) = {path.parent for path in prefix.rglob("libdftracer_core.so")}
    env = untraced() | {"PKG_CONFIG_PATH": str(lib / "pkgconfig"), "LD_LIBRARY_PATH": str(lib)}
    return project, prefix, lib, env


def expect_traced(project, program, env):
    out = project / "out"
    traced = {key: value for key, value in environment(str(out)).items() if key.startswith("DFTRACER_")}
    quietly([program], env | traced, cwd=project)
    (trace,) = read_folder(str(out))
    expect_equal((len(trace.named("relax")), trace.named("relax")[0]["cat"]), (50, "fortran"), "relax")
    expect_equal((project / "field.bin").stat().st_size, 400 * 400 * 4, "what the solver wrote")


def case_the_solver_builds_untouched(folder):
    Path(folder, "solver.f90").write_text(block("solver.f90"))
    quietly(["gfortran", "-Wall", "-Wextra", "-o", "solver", "solver.f90"], untraced(), cwd=folder)
    quietly(["./solver"], untraced(), cwd=folder)


def case_with_cmake(folder):
    project, prefix, _, _ = install(folder)
    (project / "CMakeLists.txt").write_text(block("CMakeLists.txt"))
    (command,) = [line.strip() for line in PAGE.splitlines() if line.startswith("    cmake -S .")]
    quietly(["sh", "-c", command.replace("/opt/dftracer", str(prefix))], untraced(), cwd=project)
    expect_traced(project, "build/solver", untraced())
    commands = [line.strip() for line in PAGE.splitlines() if line.startswith("    dftracer ")]
    expect_equal([command.split()[1] for command in commands], ["summary", "merge"], "commands of the page")
    for command in commands:
        told = quietly(["sh", "-c", f"{prefix}/bin/{command}"], untraced(), cwd=project)
        expect("summary" not in command or "relax" in told, told)


def case_with_a_makefile(folder):
    project, _, _, env = install(folder)
    (project / "Makefile").write_text(block("Makefile"))
    quietly(["make"], env, cwd=project)
    expect_traced(project, "./solver", env)


def case_with_a_makefile_without_pkg_config(folder):
    project, prefix, lib, _ = install(folder)
    text = block("Makefile.plain").replace("/opt/dftracer", str(prefix))
    text = text.replace("$(DFTRACER)/lib ", f"{lib} ").replace("$(DFTRACER)/lib\n", f"{lib}\n")
    (project / "Makefile").write_text(text)
    quietly(["make"], untraced(), cwd=project)
    expect_traced(project, "./solver", untraced())


def case_with_fpm(folder):
    project, _, _, env = install(folder)
    (project / "fpm.toml").write_text(block("fpm.toml"))
    clone = Path(folder, "dftracer")
    clone.mkdir()
    shutil.copy(SOURCE / "fpm.toml", clone)
    shutil.copytree(SOURCE / "fortran", clone / "fortran")
    (command,) = [line.strip() for line in PAGE.splitlines() if line.startswith("    fpm run")]
    traced = {key: value for key, value in environment(str(project / "out")).items() if key.startswith("DFTRACER_")}
    path = f"{FPM.parent}:{env['PATH']}"
    quietly(["sh", "-c", command], env | traced | {"PATH": path}, cwd=project)
    (trace,) = read_folder(str(project / "out"))
    expect_equal(len(trace.named("relax")), 50, "relax")


def case_every_other_block(folder):
    """Those without a file's name: compiled; programs are linked and run too."""
    _, _, _, env = install(folder)
    flags = quietly(["pkg-config", "--cflags", "dftracer-fortran"], env).split()
    libs = quietly(["pkg-config", "--libs", "dftracer-fortran"], env).split()
    texts = [text for language, file, text in blocks() if language == "fortran" and not file]
    expect(len(texts) >= 6, f"{len(texts)} blocks")
    for number, text in enumerate(texts):
        source = Path(folder, f"block{number}.f90")
        source.write_text(text)
        if text.startswith("program"):
            quietly(["gfortran", *flags, source, "-o", f"block{number}", *libs], env, cwd=folder)
            out = run([f"./block{number}"], env | {"DFTRACER_ENABLE": "1"}, cwd=folder)
            expect_equal((out.returncode, out.stdout), (0, ""), text)
        else:
            quietly(["gfortran", "-Wall", "-Wextra", "-Werror", *flags, "-c", source], env, cwd=folder)


def case_the_readme_s_program(folder):
    _, _, _, env = install(folder)
    readme = (SOURCE / "README.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"^```fortran\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    Path(folder, "readme.f90").write_text(text)
    flags = quietly(["pkg-config", "--cflags", "--libs", "dftracer-fortran"], env).split()
    quietly(["gfortran", "readme.f90", "-o", "readme", *flags], env, cwd=folder)
    out = os.path.join(folder, "out")
    quietly(["./readme"], env | {"DFTRACER_ENABLE": "1", "DFTRACER_LOG_FILE": f"{out}/trace"}, cwd=folder)
    (trace,) = read_folder(out)
    expect_equal(trace.values("step", "iteration"), [1, 2, 3], "step")


def case_macros_with_and_without_tracing(folder):
    _, _, _, env = install(folder)
    Path(folder, "macros.F90").write_text(block("macros.F90"))
    flags = quietly(["pkg-config", "--cflags", "dftracer-fortran"], env).split()
    for define, calls in (([], False), (["-DDFTRACER_ENABLE"], True)):
        quietly(["gfortran", *flags, *define, "-c", "macros.F90"], env, cwd=folder)
        expect_equal("dftracer" in quietly(["nm", "macros.o"], env, cwd=folder), calls, f"calls with {define}")


def case_the_stub_needs_no_library(folder):
    project, prefix, _, _ = install(folder)
    shutil.copy(prefix / "share/dftracer/fortran/dftracer_stub.f90", project)
    quietly(["gfortran", "-std=f2008", "-Wall", "-Wextra", "-Wno-unused-dummy-argument", "-Werror", "dftracer_stub.f90",
             "solver.f90", "-o", "solver"], untraced(), cwd=project)
    quietly(["./solver"], environment(str(project / "out")), cwd=project)
    expect(not (project / "out").exists(), "a trace without a library")
    program = SOURCE / "tests/fortran/switched_off.f90"
    quietly(["gfortran", "dftracer_stub.f90", program, "-o", "off"], untraced(), cwd=project)
    quietly(["./off"], environment(str(project / "out")), cwd=project)
    everything = SOURCE / "tests/fortran/everything.f90"
    quietly(["gfortran", "dftracer_stub.f90", everything, "-o", "everything"], untraced(), cwd=project)


if __name__ == "__main__":
    main(globals())
