"""Traces of every generation, ours and others', come out of the reader as json reads them."""

import io
import os
import random
import sys
import tarfile
import tempfile
import zlib

import oracle

DATA = os.path.join(os.environ["DFT_TEST_SOURCE"], "tests", "data")


def member(text, level=1):
    packer = zlib.compressobj(level, zlib.DEFLATED, 31)
    return packer.compress(text) + packer.flush()


def check_files(paths, text_of=oracle.read):
    expected = oracle.rows_of([text_of(path) for path in paths])
    assert expected
    for threads in (1, 3):
        rows, problems = oracle.run(threads, *paths)
        assert not problems, problems
        if threads > 1:
            rows, wanted = sorted(rows), sorted(expected)
        else:
            wanted = expected
        for one, two in zip(rows, wanted):
            assert one == two, f"\n reader {one}\n oracle {two}"
        assert len(rows) == len(wanted), f"{len(rows)} rows of {len(wanted)}"
    return expected


def traces_of_others(folder):
    versions = os.path.join(DATA, "dftracer-versions")
    check_files([os.path.join(versions, name) for name in sorted(os.listdir(versions))])
    with tarfile.open(os.path.join(DATA, "dlio-unet3d-8ranks.tar.gz")) as archive:
        archive.extractall(folder, filter="data")
    names = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    rows = [row.split("\t") for row in check_files(names)]
    assert len(rows) == 18279
    assert sum(row[1] == "X" for row in rows) == 18039
    assert sum(row[10] == b"POSIX".hex() for row in rows) == 10581
    assert sum(row[9] == b"pread".hex() for row in rows) == 7200


def odd_line(rng, number):
    text = rng.choice(
        ["read", "mit Umlaut \\u00e4", "\U0001f600", 'a\\"b\\\\c\\/', "tab\\tnewline\\n", "\\ud83d\\ude00", "x" * 300]
    )
    value = rng.choice(
        [
            "1",
            "-1",
            str(2**63 - 1),
            str(-(2**63)),
            str(2**64 - 1),
            "0.25",
            "1e300",
            "-1.5e-7",
            "true",
            "false",
            "null",
            "[1,[2,{}]]",
            '{"a":"}"}',
            f'"{text}"',
            '""',
            "12345678901234567",
            "99999999",
        ]
    )
    keys = [
        f'"name":"{text}"',
        f'"cat":"{text}"',
        f'"id":{number + 1}',
        '"pid":17',
        f'"tid":{rng.randrange(5)}',
        f'"ts":{rng.choice([0, 5, 10**15 + number, 4 * 10**15])}',
        f'"dur":{rng.choice([0, 1, 99999999])}',
        rng.choice(['"ph":"X"', '"ph":1', '"ph":"C"', '"ph":"M"', '"ph":4']),
        '"type":3',
        f'"args":{{"hhash":{rng.choice([str(2**64 - 5), chr(34) + "2a70" + chr(34)])},"k{rng.randrange(9)}":{value}}}',
    ]
    rng.shuffle(keys)
    blank = rng.choice(["", "", " "])
    return "{" + ("," + blank).join(keys).replace('":', '":' + blank) + "}" + rng.choice(["", "", ",", " ", "\r"])


def odd_text(rng, lines):
    out = io.StringIO()
    out.write(rng.choice(["", "[\n", "["]))
    for number in range(lines):
        out.write(odd_line(rng, number) + "\n")
        if rng.random() < 0.01:
            out.write(rng.choice(["\n", "[\n", "]\n", "  \n"]))
    out.write(rng.choice(["", "]", "]\n"]))
    return out.getvalue().encode()


def odd_lines_in_members_cut_anywhere(folder):
    for seed in range(6):
        rng = random.Random(seed)
        text = odd_text(rng, 4000)
        packed, at = b"", 0
        while at < len(text):
            size = rng.choice([1, 3, 200, 5000, 120000, 700000])
            packed += member(text[at : at + size], rng.choice([0, 1, 9]))
            at += size
        plain, gz = os.path.join(folder, f"{seed}.pfw"), os.path.join(folder, f"{seed}.pfw.gz")
        for path, data in ((plain, text), (gz, packed)):
            with open(path, "wb") as file:
                file.write(data)
        check_files([plain], lambda path, text=text: text)
        check_files([gz], lambda path, text=text: text)


def main():
    for case in (traces_of_others, odd_lines_in_members_cut_anywhere):
        with tempfile.TemporaryDirectory() as folder:
            case(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
