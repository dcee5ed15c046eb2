"""Names of C++ and Fortran functions, as the summary shows them. Truth: names that were written down by hand, and what
c++filt makes of all functions of the C++ library. Hostile names are shown as they are, or as something short.
"""

import ctypes
import json
import random
import re
import shutil
import subprocess
import time

from cases import run_cases
from test_meaning import COMMAND, Trace, summary

KNOWN = {
    "_ZN3foo3barEv": "foo::bar",
    "_Z3addii": "add",
    "_ZNK6Domain4sizeEv": "Domain::size",
    "_ZN6DomainC2Ei": "Domain::Domain",
    "_ZN6DomainD1Ev": "Domain::~Domain",
    "_ZN12_GLOBAL__N_14hideEv": "(anonymous namespace)::hide",
    "_ZNSt6vectorIdSaIdEE9push_backERKd": "std::vector<double, std::allocator<double> >::push_back",
    "_ZNSs4findEPKc": "std::string::find",
    "_ZN3lib4makeB5cxx11Ev": "lib::make[abi:cxx11]",
    "_ZlsRSoRK6Domain": "operator<<",
    "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc": "std::operator<< <std::char_traits<char> >",
    "_ZN6DomaincviEv": "Domain::operator int",
    "_ZN6DomaincvT_IdEEv": "Domain::operator double<double>",
    "_Z5applyILi3ELb1EJdPKcEEvv": "apply<3, true, double, char const*>",
    "_Z4callIPFicEEvT_": "call<int (*)(char)>",
    "_Z3runIRA3_iM6DomainKFivEEvv": "run<int (&) [3], int (Domain::*)() const>",
    "_ZZ4mainENKUliE0_clEi": "main::{lambda(int)#2}::operator()",
    "_ZZ3addiiE5count": "add(int, int)::count",
    "_ZNSt8functionIFvRKiEEclES1_": "std::function<void (int const&)>::operator()",
    "_ZN3foo3barEi.constprop.0": "foo::bar [clone .constprop.0]",
    "_ZTh8_N3foo3barEv": "non-virtual thunk to foo::bar",
    "__solver_MOD_step": "solver::step",
    "__solver_MOD_step.isra.0": "solver::step [clone .isra.0]",
}
NOT_MANGLED = ["main", "_Z", "_ZN", "_Zx", "_ZN9999999999aEv", "_ZS9_", "__libc_start_main", "__MOD_", "_start"]
HOSTILE = [
    "_Z" + "N" * 5000,
    "_Z1f" + "P" * 8000 + "i",
    "_Z1fI" * 1500,
    "_Z1fI" + "1aI" * 300 + "E" * 300 + "Ev",
    "_Z1fI1aI" + "".join(f"S{i}_S{i}_" for i in "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") + "EEv",
    "_Z1fI1aIiiiiE" + "".join(f"1bIS{n}_S{n}_S{n}_E" for n in ("", *"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")) + "Ev",
    "_Z1fIJ" + "i" * 3000 + "EEv",
    "_ZZ" * 2000,
    "_Z1gIJiiiiiiiiEEv" + "Dp" * 500 + "T_",
    "_ZZ1gIJiiiiiiiiEEv" + "Dp" * 60 + "T_E1x",
    "_ZL" + "L" * 3000 + "1a",
]


def shown_names(folder, names):
    """What the summary makes of each name."""
    trace = Trace(1)
    for i, name in enumerate(names):
        trace.event(name, "app", i, i + 1)
    trace.save(folder)
    done = subprocess.run([COMMAND, "summary", "--json", folder], capture_output=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    groups = {group["name"]: group for group in json.loads(done.stdout)["groups"]}
    assert set(groups) == set(names)
    return {name: groups[name].get("demangled") for name in names}


def known_names(folder):
    found = shown_names(folder, [*KNOWN, *NOT_MANGLED])
    for name, wanted in KNOWN.items():
        assert found[name] == wanted, (name, found[name], wanted)
    for name in NOT_MANGLED:
        assert found[name] is None, (name, found[name])


def functions_with_the_same_name(folder):
    """They are shown with their parameters; --name takes what is shown, and what is in the trace."""
    trace = Trace(1)
    for i, name in enumerate(("_ZN3foo3barEi", "_ZN3foo3barEPKc", "_ZN3foo3bazEi", "plain")):
        trace.event(name, "app", i * 10, i * 10 + 4 - i)
    trace.save(folder)
    text, found = summary(folder)
    assert [line.split(" app")[0] for line in text.splitlines() if " app " in line] == [
        "foo::bar(int)",
        "foo::bar(char const*)",
        "foo::baz",
        "plain",
    ], text
    assert found["groups"][0]["name"] == "_ZN3foo3barEi", found["groups"]
    for pattern, count in (("foo::ba?", 3), ("_ZN3foo3bazEi", 1), ("*::*", 3)):
        assert len(summary(folder, "--name", pattern)[1]["groups"]) == count, pattern


def short(text):
    """c++filt -p writes out the abbreviations of std, and parameters of thunks."""
    text = re.sub("> (?=>)", ">", text)
    traits = "std::char_traits<char>"
    for stream in ("ostream", "istream", "iostream"):
        text = text.replace(f"std::basic_{stream}<char, {traits}>", f"std::{stream}")
    return text.replace(f"std::basic_string<char, {traits}, std::allocator<char>>", "std::string")


def find_library(name):
    """The path of a library; None: there is none."""
    try:
        ctypes.CDLL(name)
    except OSError:
        return None
    with open("/proc/self/maps") as maps:
        return next((line.split()[-1] for line in maps if name in line), None)


def the_cpp_library(folder):
    """All functions of libstdc++. What differs: clones of transactional memory, which no ordinary code has."""
    library = find_library("libstdc++.so.6")
    if not (shutil.which("c++filt") and shutil.which("nm") and library):
        print("left out, because c++filt, nm or libstdc++ is missing")
        return
    lines = subprocess.run(["nm", "-D", library], capture_output=True, text=True, check=True).stdout.splitlines()
    names = sorted({line.split()[-1].split("@")[0] for line in lines})
    names = [name for name in names if re.match("_Z(?!GTt|Th|Tv|Tc)", name)]
    wanted = subprocess.run(["c++filt", "-p"], input="\n".join(names), capture_output=True, text=True, check=True)
    found = shown_names(folder, names)
    differ = [
        (name, found[name], want)
        for name, want in zip(names, wanted.stdout.splitlines())
        if short(found[name] or name) != short(want)
    ]
    share = 1 - len(differ) / len(names)
    print(f"{len(names)} names, {share:.2%} as c++filt writes them", *differ[:5], sep="\n  ")
    assert len(names) > 3000 and share > 0.995, differ[:20]


def hostile_names(folder):
    """Also any name with some of its letters changed: an answer, in a time that does not grow without end."""
    rng, names = random.Random(3), {name[:8000] for name in HOSTILE}
    for _ in range(3000):
        letters = list(rng.choice([name for name in KNOWN if name.startswith("_Z")]))
        for _ in range(rng.choice([1, 2, 4])):
            at = rng.randrange(2, len(letters))
            letters[at : at + rng.randrange(2)] = rng.choice("NIEJXLSTZDPRKOAMF0123459_ivcCUlp") * rng.choice([1, 1, 3])
        names.add("".join(letters))
    begin = time.monotonic()
    found = shown_names(folder, sorted(names))
    print(f"{len(names)} names in {time.monotonic() - begin:.2f} s")
    longest = max((len(text or ""), name) for name, text in found.items())
    assert longest[0] <= 100_000, longest
    assert sum(text is None for text in found.values()) > 100


if __name__ == "__main__":
    run_cases(known_names, functions_with_the_same_name, the_cpp_library, hostile_names)
