"""An installed tree, moved, with blanks in its path, as others use it: by find_package, by pkg-config, and by hand with
-I, -L and -ldftracer_core; in C and C++, with gcc and clang. What is built are the examples, outside of their tree.
"""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, os.path.join(os.environ["DFT_TEST_SOURCE"], "tests"))
import trace

SOURCE = Path(os.environ["DFT_TEST_SOURCE"])
EXAMPLES = ["01_regions.c", "04_annotated.c", "05_annotated.cpp", "06_functions.c"]
COMPILERS = [("gcc", "g++"), ("clang", "clang++")]
WARNINGS = ["-Wall", "-Wextra", "-pedantic", "-Werror"]
FUNCTION_FLAGS = ["-g", "-finstrument-functions"]  # for 06_functions.c
EXPECTED = {
    "01_regions": {"row": 10},
    "04_annotated": {"solve": 4, "sweep": 3, "CM": 2},
    "05_annotated": {"load": 4, "total": 1, "add": 1, "report": 1},
    "06_functions": {"main": 1, "report": 1, "fibonacci": 25},
}


def run(*command, **variables):
    environment = dict(os.environ, **variables)
    done = subprocess.run([str(word) for word in command], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}:\n{done.stdout}{done.stderr}"
    return done.stdout


def check(program, **variables):
    """Runs it; its trace holds what it should."""
    with tempfile.TemporaryDirectory() as traces:
        run(program, DFTRACER_ENABLE="1", DFTRACER_LOG_FILE=f"{traces}/trace", **variables)
        (one,) = trace.read_folder(traces)
        found = Counter(event["name"] for event in one.events)
    expected = EXPECTED[Path(program).stem]
    assert {name: found[name] for name in expected} == expected, (program, found)


def install(scratch):
    """Into an empty prefix, which is then moved."""
    first, prefix = scratch / "first place", scratch / "moved to here"
    run("cmake", "--install", os.environ["DFT_TEST_BUILD"], "--prefix", first)
    first.rename(prefix)
    return prefix


def with_find_package(scratch, prefix, compilers):
    build = scratch / f"build {compilers[0]}"
    run("cmake", "-S", scratch / "examples", "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DCMAKE_C_COMPILER={compilers[0]}", f"-DCMAKE_CXX_COMPILER={compilers[1]}",
        "-DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON", "-DCMAKE_DISABLE_FIND_PACKAGE_HDF5=ON")  # fmt: skip
    run("cmake", "--build", build, "--target", *(Path(name).stem for name in EXAMPLES))
    for name in EXAMPLES:
        check(build / Path(name).stem)


def compile_each(scratch, compilers, way, flags, **variables):
    for name in EXAMPLES:
        compiler, standard = (compilers[0], "c11") if name.endswith(".c") else (compilers[1], "c++17")
        program = scratch / f"{way} {compilers[0]}" / Path(name).stem
        program.parent.mkdir(exist_ok=True)
        extra = FUNCTION_FLAGS if name == "06_functions.c" else []
        run(compiler, f"-std={standard}", *WARNINGS, *extra, scratch / "examples" / name, "-o", program, *flags)
        check(program, **variables)


def with_pkg_config(scratch, prefix, compilers):
    folder = next(prefix.rglob("dftracer.pc")).parent
    flags = run("pkg-config", "--cflags", "--libs", "dftracer", PKG_CONFIG_PATH=str(folder))
    assert run("pkg-config", "--modversion", "dftracer", PKG_CONFIG_PATH=str(folder)).strip() >= "5"
    hooks = run("pkg-config", "--variable=function_flags", "dftracer", PKG_CONFIG_PATH=str(folder))
    assert shlex.split(hooks) == FUNCTION_FLAGS
    compile_each(scratch, compilers, "pkg-config", shlex.split(flags), LD_LIBRARY_PATH=str(folder.parent))


def by_hand(scratch, prefix, compilers):
    lib = next(prefix.rglob("libdftracer_core.so")).parent
    for library in ("dftracer_core", "dftracer"):
        # -Wl splits at commas and gcc at nothing else: blanks are no trouble.
        flags = ["-I", prefix / "include", "-L", lib, f"-l{library}", f"-Wl,-rpath,{lib}"]
        compile_each(scratch, compilers, f"by hand {library}", flags)


def every_name_is_there(scratch, prefix):
    """Targets and variables that existing projects use, versions they ask for, components that never had a meaning."""
    project = scratch / "names"
    project.mkdir()
    (project / "main.c").write_text("#include <dftracer/dftracer.h>\nint main(void) { DFTRACER_C_FINI(); return 0; }\n")
    (project / "CMakeLists.txt").write_text("""
        cmake_minimum_required(VERSION 3.1)
        project(names LANGUAGES C)
        find_package(dftracer 4.3 REQUIRED IMPORTED)
        foreach(name dftracer_FOUND DFTRACER_FOUND DFTRACER_VERSION DFTRACER_INCLUDE_DIRS DFTRACER_LIBRARY_DIRS
                     DFTRACER_LIBRARIES DFTRACER_FUNCTION_FLAGS DFTRACER_INCLUDE_DIR DFTRACER_LIB_DIR)
          if(NOT ${name})
            message(FATAL_ERROR "${name} is not set")
          endif()
        endforeach()
        if(NOT EXISTS "${DFTRACER_INCLUDE_DIRS}/dftracer/dftracer.h" OR
           NOT EXISTS "${DFTRACER_LIBRARY_DIRS}/libdftracer_core.so")
          message(FATAL_ERROR "${DFTRACER_INCLUDE_DIRS} ${DFTRACER_LIBRARY_DIRS}")
        endif()
        set(count 0)
        foreach(name dftracer dftracer_core dftracer::dftracer dftracer::dftracer_core dftracer::dftracer_preload
                     dftracer::preload dftracer::reader)
          if(NOT TARGET ${name})
            message(FATAL_ERROR "there is no target ${name}")
          endif()
          math(EXPR count "${count} + 1")
          add_executable(program_${count} main.c)
          target_link_libraries(program_${count} PRIVATE ${name} dftracer)
        endforeach()
        add_executable(by_variables main.c)
        target_include_directories(by_variables PRIVATE ${DFTRACER_INCLUDE_DIRS})
        target_link_directories(by_variables PRIVATE ${DFTRACER_LIBRARY_DIRS})
        target_compile_options(by_variables PRIVATE ${DFTRACER_FUNCTION_FLAGS})
        target_link_libraries(by_variables PRIVATE ${DFTRACER_LIBRARIES})
        add_executable(older main.c)
        target_link_libraries(older PRIVATE dftracer)
        find_package(dftracer REQUIRED COMPONENTS preload reader)
        if(NOT dftracer_preload_FOUND OR NOT dftracer_reader_FOUND)
          message(FATAL_ERROR "components")
        endif()
        find_package(dftracer 99 QUIET)
        if(dftracer_FOUND)
          message(FATAL_ERROR "version 99 was found")
        endif()
        """)
    run("cmake", "-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", project / "build")
    run(project / "build/by_variables")


def main():
    with tempfile.TemporaryDirectory(prefix="with blanks ") as folder:
        scratch = Path(folder)
        prefix = install(scratch)
        shutil.copytree(SOURCE / "examples", scratch / "examples")
        for compilers in COMPILERS:
            if shutil.which(compilers[1]):
                with_find_package(scratch, prefix, compilers)
                with_pkg_config(scratch, prefix, compilers)
                by_hand(scratch, prefix, compilers)
        every_name_is_there(scratch, prefix)


main()
