"""dftracer doctor finds and names what prevents tracing."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from harness import DIE, SOURCE, dftracer


def a_linked_program_would_be_traced():
    out, err = dftracer("doctor", "--", DIE, "later")
    assert not err and "BAD" not in out and f"{DIE} links libdftracer_core" in out
    assert out.endswith(f"{DIE} would be traced by: dftracer run -- {DIE} ...\n"), out
    assert f"ok    {DIE} is a program\n" in out and " of 'dftracer run' to its folder traces," in out, out
    out, _ = dftracer("doctor", LOG_FILE="/tmp/trace")
    assert "traces go to /tmp, which has " in out, out


def reasons_are_named():
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "script"
        script.write_text("#!/usr/bin/env -S no-such-interpreter -u\n")
        script.chmod(0o755)
        for words, reason in (
            (["no-such-program"], "no-such-program does not exist"),
            (["true"], "does not link libdftracer_core"),
            ([str(script)], "no-such-interpreter does not exist"),
            ([folder], "is a folder"),
        ):
            out, err = dftracer("doctor", *words, status=1)
            bad = [line for line in out.splitlines() if line.startswith("BAD")]
            assert len(bad) == 1 and reason in bad[0] and "would not be traced" in out and not err, out


def a_library_that_is_not_found_is_named():
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "program"
        source = "extern const char *dft_version(void); int main(void) { return !dft_version(); }"
        words = ["cc", "-x", "c", "-", "-o", program, "-x", "none", os.environ["DFT_TEST_LIBRARY"]]
        subprocess.run(words, input=source, text=True, check=True)
        found = {"LD_LIBRARY_PATH": os.path.dirname(os.environ["DFT_TEST_LIBRARY"])}
        out, _ = dftracer("doctor", program, env=found)
        assert f"{program} links libdftracer_core" in out, out
        out, _ = dftracer("doctor", program, env={"LD_LIBRARY_PATH": ""}, status=1)
        assert "links libdftracer_core, but the loader cannot find it" in out, out
        words = ("run", "--out", f"{folder}/traces", "--", program)
        _, err = dftracer(*words, env={"LD_LIBRARY_PATH": ""}, status=127)
        assert f"the loader cannot find libdftracer_core, which {program} links" in err, err


def another_library_than_that_of_the_command_is_told():
    """With --io a program would have both."""
    with tempfile.TemporaryDirectory() as folder:
        program, library = Path(folder) / "program", Path(folder) / Path(os.environ["DFT_TEST_LIBRARY"]).name
        shutil.copy(os.environ["DFT_TEST_LIBRARY"], library)
        name = re.search(r"SONAME.*\[(.*)\]", subprocess.check_output(["readelf", "-d", library], text=True)).group(1)
        if library.name != name:
            library.with_name(name).symlink_to(library.name)
        source = '#include <dftracer/dft.h>\nint main(void) { dft_region_begin_named("a", "b"); dft_region_end(); }'
        words = ["cc", f"-I{SOURCE}/c/include", "-x", "c", "-", "-o", program, "-x", "none", library]
        words += [f"-Wl,-rpath,{folder}"]
        subprocess.run(words, input=source, text=True, check=True)
        other = f"{program} links another libdftracer_core"
        out, _ = dftracer("doctor", program)
        assert f"note  {other} than this command: {folder}/" in out, out
        out, _ = dftracer("doctor", "--io", program, status=1)
        assert f"BAD   {other} than this command: {folder}/" in out and "with --io, both record" in out, out
        for words, is_told in ((["--io"], True), ([], False)):
            _, err = dftracer("run", *words, "--out", f"{folder}/traces", program)
            assert (f"dftracer: {other}, {folder}/" in err) == is_told, err


def an_interpreter_gets_a_note():
    out, _ = dftracer("doctor", "sh", "-c", "x")
    assert "is an interpreter" in out and "Py" not in out, out
    with tempfile.TemporaryDirectory() as folder:
        make_package(folder)
        out, _ = dftracer("doctor", sys.executable, "x.py", env={"PYTHONPATH": folder})
    assert "trainings of PyTorch and what is built on it need no line" in out, out


def layers_are_named():
    out, _ = dftracer("doctor", "--io", DIE, "later")
    assert f"ok    POSIX and STDIO calls of {DIE} are recorded\n" in out and "MPI" not in out, out
    out, _ = dftracer("doctor", DIE, "later")
    assert f"note  POSIX and STDIO calls of {DIE} are recorded only with --io" in out, out


def make_package(folder):
    native = Path(folder, "dftracer", "dftracer.py")
    native.parent.mkdir()
    native.write_text("raise SystemExit('this code must not run')\n")
    return native


def a_python_is_asked_for_the_package():
    with tempfile.TemporaryDirectory() as folder:
        if not importlib.util.find_spec("dftracer"):
            out, _ = dftracer("doctor", sys.executable, "x.py", env={"PYTHONPATH": folder}, status=1)
            assert re.search(r"BAD +\S+ has no package dftracer: neither trainings nor annotations ", out), out
            assert "would not be traced" in out, out
            out, _ = dftracer("doctor", "--io", sys.executable, "x.py", env={"PYTHONPATH": folder})
            assert re.search(r"note +\S+ has no package dftracer: ", out) and "BAD" not in out, out
        native = make_package(folder)
        script = Path(folder, "train")
        script.write_text(f"#!{sys.executable}\n")
        script.chmod(0o755)
        shim = Path(folder, "python3.99")  # such as one of pyenv
        shim.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        shim.chmod(0o755)
        for program in (sys.executable, str(script), str(shim)):
            out, _ = dftracer("doctor", program, env={"PYTHONPATH": folder})
            assert re.search(rf"ok +the package dftracer of \S+ is {native}\n", out), out
        job = Path(folder, "python-job")
        job.write_text(f"#!/bin/sh\ntouch {folder}/ran\n")
        job.chmod(0o755)
        out, _ = dftracer("doctor", str(job), env={"PYTHONPATH": folder})
        assert "the package dftracer" not in out and not Path(folder, "ran").exists(), out


def a_family_of_MPI_libraries_is_named():
    def compiled(folder, name, text):
        program, library = Path(folder) / f"program-{name}", Path(folder) / name
        for words, source in (
            (["-shared", "-fPIC", f"-Wl,-soname,{name}", "-o", library], f"int MPI_Init(void) {{ return 0; }} {text}"),
            (["-o", program, "-x", "none", library], "int MPI_Init(void); int main(void) { return MPI_Init(); }"),
        ):
            subprocess.run(["cc", "-x", "c", "-", *words], input=source, text=True, check=True)
        return program, library

    with tempfile.TemporaryDirectory() as folder:
        found = {"LD_LIBRARY_PATH": folder}
        for name, text, family in (
            ("libmpi.so.97", 'const char *version = "MPICH Version: 4.1";', "MPICH, or one with its ABI"),
            ("libmpi.so.98", 'const char *version = "Intel(R) MPI Library";', "one with the ABI of MPICH"),
            ("libmpi_abi.so.1", "", "the MPI 5 ABI"),
            ("libmpi.so.99", "int ompi_mpi_comm_world;", "Open MPI"),
        ):
            program, library = compiled(folder, name, text)
            out, _ = dftracer("doctor", "--io", program, env=found)
            expected = f"ok    MPI and MPI-IO calls of {program} are recorded; its library is {family}: {library}\n"
            assert expected in out, out
        out, _ = dftracer("doctor", program, env=found, status=1)
        assert f"note  MPI and MPI-IO calls of {program} are recorded only with --io" in out, out
        out, _ = dftracer("doctor", "--io", program, env=found, DISABLE_MPI="1")
        assert "DFTRACER_DISABLE_MPI is 1" in out, out
        out, _ = dftracer("doctor", "--io", program, env={"LD_LIBRARY_PATH": ""}, status=1)
        assert "links MPI, but the loader cannot find" in out, out
        program, library = compiled(folder, "libmpi.so.96", "")
        out, _ = dftracer("doctor", "--io", program, env=found)
        assert f"note  MPI calls of {program} are not recorded: its library is none of those" in out, out


def the_program_that_a_launcher_starts_is_checked():
    with tempfile.TemporaryDirectory() as folder:
        launcher = Path(folder) / "mpirun"
        launcher.symlink_to("/bin/true")
        out, _ = dftracer("doctor", "--", launcher, "-n", "4", "--host", "node1", DIE, "later")
        assert "BAD" not in out and f"{DIE} links libdftracer_core" in out, out
        assert f"{launcher} would be traced by: dftracer run -- {launcher} ...\n" in out, out
        out, _ = dftracer("doctor", "--", launcher, "-n", "4", "cat", status=1)
        assert "cat does not link libdftracer_core" in out and "would not be traced" in out, out
        out, _ = dftracer("doctor", "--", launcher)
        assert "if they use dftracer" in out, out


def settings_and_folders_are_checked():
    out, _ = dftracer("doctor", ENABLE="1", ENABEL="1")
    assert "ok    DFTRACER_ENABLE is 1" in out
    assert "DFTRACER_ENABEL is set, but is not a setting; did you mean DFTRACER_ENABLE?" in out
    _, err = dftracer("doctor", COMPRESSION_LEVEL="99")
    assert "DFTRACER_COMPRESSION_LEVEL" in err
    if os.getuid() != 0:
        out, _ = dftracer("doctor", status=1, LOG_FILE="/trace")
        assert "BAD" in out
    out, _ = dftracer("doctor", LOG_FILE="/tmp/not/there/trace")
    assert "/tmp/not/there, does not exist yet" in out
    out, _ = dftracer("doctor", DATA_DIR="all:/tmp:/tmp/not/there")
    assert out.count("of DFTRACER_DATA_DIR does not exist") == 1 and "the folder /tmp/not/there of" in out, out


for check in (
    a_linked_program_would_be_traced,
    reasons_are_named,
    a_library_that_is_not_found_is_named,
    another_library_than_that_of_the_command_is_told,
    an_interpreter_gets_a_note,
    layers_are_named,
    a_python_is_asked_for_the_package,
    a_family_of_MPI_libraries_is_named,
    the_program_that_a_launcher_starts_is_checked,
    settings_and_folders_are_checked,
):
    check()
