"""test_host.py - programs without MPI, or with one that dftracer does not know, are left alone.
SPDX-License-Identifier: MIT
"""

import os

from mpi_harness import PRELOAD, PROGRAMS, calls, environment, expect, expect_equal, main, read_folder, run, untraced

LIBRARY = os.environ["DFT_TEST_LIBRARY"]


def compile_c(folder, name, source, *options):
    path = os.path.join(folder, name)
    run(["cc", "-O1", os.path.join(PROGRAMS, source), *options, "-o", path], untraced())
    return path


def case_no_library_of_ours_has_an_MPI_name(_folder):
    for library in (PRELOAD, LIBRARY):
        names = run(["nm", "-D", "--defined-only", library], untraced()).stdout
        expect(names, library)
        found = [line.split()[-1] for line in names.splitlines() if "mpi_" in line.split()[-1].lower()]
        expect_equal(found, [], library)


def case_a_program_without_MPI_finds_none(folder):
    program = compile_c(folder, "nompi", "nompi.c", "-ldl")
    done = run([program], environment(folder) | {"LD_PRELOAD": PRELOAD})
    expect_equal(done.stdout, "0 0 0 0\n", "weak MPI_Initialized, weak PMPI_Send, dlsym of MPI_Init, of MPI_File_open")


def case_dlopen_and_dlsym_go_by_their_caller(folder):
    """The preload library exports both, to see MPI libraries that are loaded later."""
    inner = os.path.join(folder, "inner")
    os.mkdir(inner)
    for name in ("first", "second"):
        compile_c(inner, f"libplugin_{name}.so", "loads.c", "-shared", "-fPIC", f'-DPLUGIN="{name}"', "-ldl")
    program = compile_c(folder, "loads", "loads.c", "-Wl,--enable-new-dtags,-rpath,$ORIGIN/inner", "-ldl")
    plain = run([program], untraced()).stdout
    expect_equal(plain.splitlines()[0].split()[0], "second", plain)
    for settings in ({"DATA_DIR": "all"}, {"ENABLE": 0}):
        done = run([program], environment(folder, **settings) | {"LD_PRELOAD": PRELOAD})
        expect_equal((done.stdout, done.stderr), (plain, ""), f"with {settings}")


def case_an_unknown_library_is_reported_once_and_left_alone(folder):
    library = compile_c(folder, "libstranger.so", "stranger.c", "-shared", "-fPIC")
    program = compile_c(folder, "program", "stranger.c", "-DPROGRAM", library, f"-Wl,-rpath,{folder}")
    env = environment(folder, DATA_DIR="all") | {"LD_PRELOAD": PRELOAD}
    done = run([program], env)
    expect_equal(done.stdout, "good\n", "the program")
    expect_equal(done.stderr.count("this MPI library is none of those"), 1, done.stderr)
    expect_equal(len(done.stderr.splitlines()), 1, done.stderr)
    expect_equal([calls(trace) for trace in read_folder(folder, small=True) if calls(trace)], [], "calls")
    expect_equal(run([program], env | {"DFTRACER_DISABLE_MPI": "1"}).stderr, "", "when it is switched off")


main(globals())
