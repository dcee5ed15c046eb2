"""test_sources.py - the module's source: names, documentation, `stat`, what it has of dft.h, no variables.

SPDX-License-Identifier: MIT
"""

import os
import re
import sys
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "faults"))

from harness import expect, expect_equal, main, run, untraced

SOURCE = Path(os.environ["DFT_TEST_SOURCE"])
BUILD = Path(os.environ["DFT_TEST_BUILD"])
HEADER = (SOURCE / "c/include/dftracer/dft.h").read_text(encoding="ascii")
PARTS = sorted((SOURCE / "fortran/src").glob("*.f90"))
TEXTS = {part.stem: part.read_text(encoding="ascii") for part in PARTS}
ALL = "\n".join(TEXTS.values())


def public_names():
    """What `use dftracer` brings."""
    joined = re.sub(r"&\n", " ", TEXTS["dftracer"])
    lists = re.findall(r"^  use dftracer_\w+, only: (.*)$", joined, re.MULTILINE)
    return [name.strip() for names in lists for name in names.split(",")]


def subroutines():
    """Name: arguments, of every subroutine that is a public name, or a part of a public generic one or of a type."""
    found = dict(re.findall(r"^  recursive subroutine (\w+)\((.*?)\)", ALL, re.MULTILINE))
    generic = re.findall(r"^  interface (dft_\w+)\n    module procedure (.*)\n", ALL, re.MULTILINE)
    bound = re.findall(r"^    (?:procedure :: \w+|generic :: \w+) => (.*)", ALL, re.MULTILINE)
    names = [name for names in [*(names for _, names in generic), *bound] for name in names.split(", ")]
    names += [name for name in public_names() if name in found]
    return {name: [argument.strip() for argument in found[name].split(",")] for name in names if name in found}


def case_names_are_short_enough_and_ours(_):
    names = public_names()
    expect(len(names) >= 35, f"{len(names)} public names")
    for name in names:
        expect(name.lower().startswith("dft_") and len(name) <= 31, name)
    for name in re.findall(r"^ *(?:recursive )?(?:subroutine|function|module|type ::) (\w+)", ALL, re.MULTILINE):
        expect(len(name) <= 31, name)


def case_stat_is_optional_and_last(_):
    found = subroutines()
    expect(len(found) >= 30, f"{sorted(found)}")
    for name, arguments in found.items():
        expect_equal(arguments[-1], "stat", f"the last argument of {name}")
        body = ALL[ALL.index(f"recursive subroutine {name}("):]
        expect("integer, intent(out), optional :: stat" in body[:body.index("end subroutine")], f"{name}: stat")


def case_every_public_entity_is_documented(_):
    for name in public_names():
        if name.startswith("DFT_"):
            continue
        pattern = rf"!> [^\n]*\n(?: *!> [^\n]*\n)*  (?:interface {name}\n|type :: {name}\n|recursive [\w() ]*{name}\()"
        expect(re.search(pattern, ALL), f"{name} has no comment for FORD")


def case_statuses_are_those_of_the_header(_):
    header = {name: int(value) for name, value in re.findall(r"X\((DFT_E?\w+), (\d+), \"", HEADER)}
    ours = {name: int(value) for name, value in re.findall(r"\b(DFT_\w+) = (\d+)", TEXTS["dftracer_session"])}
    expect_equal(ours, header, "statuses")
    expect_equal(sorted(name for name in public_names() if name.startswith("DFT_")), sorted(header), "exported")


def case_interfaces_have_the_header_s_prototypes(_):
    """The comment above each interface is a declaration of dft.h, word for word."""
    declared = {re.sub(r"\s+", " ", text) for text in re.findall(r"^DFT_API (\w[^;]*;)", HEADER, re.M)}
    interface = r"((?:^    ! .*\n)+)    (?:subroutine|function) \w+\(.*name='(\w+)'"
    comments = re.findall(interface, TEXTS["dftracer_c"], re.MULTILINE)
    expect(len(comments) >= 25, f"{len(comments)} interfaces")
    for comment, name in comments:
        text = re.sub(r"\s+", " ", comment.replace("    !", " ")).strip()
        expect(name == "strlen" or text in declared, f"{name}: {text}")


def case_the_stub_has_every_interface(_):
    """The same procedures with the same arguments, so that a program also links without the library."""
    procedure = r"^ +(?:subroutine|function) (\w+\(.*?\)) bind\(c, name='(\w+)'\)"
    interfaces = {name: head for head, name in re.findall(procedure, TEXTS["dftracer_c"], re.MULTILINE)}
    stub = (SOURCE / "fortran/stub/dftracer_stub.f90").read_text(encoding="ascii")
    expect_equal(interfaces.pop("strlen"), "c_strlen(text)", "of the C library")
    expect_equal({name: head for head, name in re.findall(procedure, stub, re.MULTILINE)}, interfaces, "procedures")


def case_the_head_names_every_public_entity(_):
    head = TEXTS["dftracer"][: TEXTS["dftracer"].index("\nmodule dftracer")]
    names = {name for name in public_names() if not name.startswith("DFT_")}
    expect_equal(sorted(name for name in names if not re.search(rf"\b{name}\b", head)), [], "not in the head comment")


def case_the_version_is_one(_):
    (version,) = re.findall(r'#define DFT_VERSION "(.*)"', HEADER)
    expect(f'version = "{version}"\n' in (SOURCE / "fpm.toml").read_text(encoding="ascii"), "fpm.toml: another version")


def case_the_module_has_no_variables(_):
    """What is writable belongs to types: the compiler's tables of them."""
    (library,) = (BUILD / "fortran").glob("*/libdftracer_fortran.a")
    symbols = run(["nm", "--format=posix", str(library)], untraced()).stdout
    writable = re.findall(r"^(\S+) [BbDdCGS] ", symbols, re.MULTILINE)
    expect(len(symbols.splitlines()) > 60, symbols)
    expect_equal([name for name in writable if not re.search("___(def_init|vtab)_", name)], [], "variables")


if __name__ == "__main__":
    main(globals())
