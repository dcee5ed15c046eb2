"""The library as others see it: headers that compile alone, symbols, thread-local storage, and how it is linked."""

import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(os.environ["DFT_TEST_SOURCE"])
LIBRARY = os.environ["DFT_TEST_LIBRARY"]
INCLUDE = SOURCE / "c/include"
GENERATED = Path(LIBRARY).parents[1] / "include"
TLS_MOST = 88  # bytes: static TLS is scarce for libraries that are loaded late


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout


def headers_compile_alone():
    """Also when the build defines a setting's name, as builds for the original do."""
    headers = [header.relative_to(folder) for folder in (INCLUDE, GENERATED) for header in sorted(folder.rglob("*.h"))]
    cpp_headers = [header.relative_to(INCLUDE) for header in sorted(INCLUDE.rglob("*.hpp"))]
    assert Path("dftracer/names.h") in headers
    compilers = [("cc", "-std=c11", "c"), ("c++", "-std=c++17", "cpp"), ("clang", "-std=c11", "c"),
                 ("clang++", "-std=c++17", "cpp"), ("c++", "-std=c++11", "cpp")]  # fmt: skip
    for compiler, standard, suffix in compilers:
        if not shutil.which(compiler):
            continue
        with tempfile.TemporaryDirectory() as folder:
            for header in headers + cpp_headers * (suffix == "cpp"):
                file = Path(folder) / f"alone.{suffix}"
                file.write_text(f"#include <{header}>\n#include <{header}>\nint main(void) {{ return 0; }}\n")
                for define in ([], ["-DDFTRACER_ENABLE"]):
                    run(compiler, standard, "-Wall", "-Wextra", "-pedantic", "-Werror", "-I", INCLUDE, "-I", GENERATED,
                        *define, "-c", file, "-o", f"{folder}/alone.o")  # fmt: skip


def only_the_api_is_exported():
    symbols = {line.split()[-1].split("@")[0] for line in run("nm", "-D", "--defined-only", LIBRARY).splitlines()}
    hooks = {"__cyg_profile_func_enter", "__cyg_profile_func_exit"}  # their names are the compilers'
    assert hooks <= symbols
    symbols -= hooks
    # Not ours: the version itself, and what sanitizers add.
    symbols = {name for name in symbols if not re.match(r"DFTRACER_\d+$|__(asan|tsan|ubsan|sanitizer|odr_asan)", name)}
    strange = sorted(name for name in symbols if not re.fullmatch(r"dft_[a-z0-9]+(_[a-z0-9]+)*", name))
    assert not strange, strange
    headers = [header for header in INCLUDE.rglob("*.h") if header.name != "reader.h"]  # that is of another library
    text = "".join(header.read_text() for header in headers)
    declared = set(re.findall(r"DFT_API[^;(]*?\b(dft_\w+)\s*[(;]", text))
    assert len(declared) > 30
    assert not declared - symbols, f"declared, not exported: {sorted(declared - symbols)}"
    assert not symbols - declared, f"exported, not declared: {sorted(symbols - declared)}"


def thread_local_storage_is_small():
    for line in run("readelf", "-lW", LIBRARY).splitlines():
        fields = line.split()
        if fields and fields[0] == "TLS":
            assert int(fields[5], 16) <= TLS_MOST, line
            return
    raise AssertionError("no thread-local storage: then this test looks at the wrong thing")


def it_is_bound_at_once_and_never_unloaded():
    flags = run("readelf", "-dW", LIBRARY)
    assert "NODELETE" in flags and "NOW" in flags, flags
    assert re.search(r"SONAME.*libdftracer_core\.so\.5\]", flags), flags


def it_needs_libc_and_compression_alone():
    needed = re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-dW", LIBRARY))
    allowed = r"(libc|libm|libz|libpthread|libdl|libisal|libdeflate|ld-linux.*|lib[atu]\w*san)\.so.*"
    assert not [name for name in needed if not re.fullmatch(allowed, name)], needed


PLUGIN = """#include <dftracer/dft.h>
void record(void) { dft_instant("one", "test"); }
"""


def two_that_need_it_share_the_first_copy():
    """As a wheel and a system library do: the loader knows it by its name, whatever folder the second wants it from."""
    with tempfile.TemporaryDirectory() as folder:
        plugins = []
        Path(folder, "plugin.c").write_text(PLUGIN)
        for name in ("one", "two"):
            inner = Path(folder, name)
            inner.mkdir()
            shutil.copy(LIBRARY, inner / "libdftracer_core.so.5")
            plugins.append(f"{inner}/plugin.so")
            run("cc", "-shared", "-fPIC", "-I", INCLUDE, f"{folder}/plugin.c", inner / "libdftracer_core.so.5",
                f"-Wl,-rpath,{inner}", "-o", plugins[-1])  # fmt: skip
        program = "import ctypes, sys\nfor path in sys.argv[1:]: ctypes.CDLL(path).record()"
        settings = ("DFTRACER_ENABLE=1", f"DFTRACER_LOG_FILE={folder}/out/trace")
        run("env", *settings, sys.executable, "-c", program, *plugins)
        (trace,) = Path(folder, "out").glob("*.pfw.gz")
        assert gzip.decompress(trace.read_bytes()).count(b'"name":"one"') == 2


headers_compile_alone()
only_the_api_is_exported()
thread_local_storage_is_small()
it_is_bound_at_once_and_never_unloaded()
it_needs_libc_and_compression_alone()
two_that_need_it_share_the_first_copy()
