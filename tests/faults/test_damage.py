"""test_damage.py - recovery trusts no file: damaged spools, links and strange files neither crash nor mislead it.
SPDX-License-Identifier: MIT
"""

import json
import os
import shutil
import zlib

from harness import (
    COMMAND,
    Skip,
    environment,
    expect,
    expect_equal,
    main,
    program,
    recover,
    run,
    seeded,
    trials,
    untraced,
)
from oracle import tally

MUTATIONS = int(os.environ.get("DFT_TEST_MUTATIONS", trials(100, 1000)))
HEADER_BYTES = 16 << 10
OLD = 1_000_000_000  # a time long ago: recovery tidies up what was never finished, after a minute


def make_spool(folder, **settings):
    """A folder with what a killed process left."""
    expect_equal(run([program("variety")], environment(folder, **settings)).returncode, -9, "variety")


def spool_of(folder):
    (name,) = (name for name in os.listdir(f"{folder}/.dftracer") if name.endswith(".spool"))
    return f"{folder}/.dftracer/{name}"


def damage(path, rng):
    """A few bytes, a stretch, a field set to its largest value, or the end of the file."""
    size = os.path.getsize(path)
    kind = rng.randrange(5)
    with open(path, "r+b") as file:
        if kind == 0:
            file.truncate(rng.randrange(size))
            return
        for _ in range(rng.choice((1, 3, 20, 200))):
            where = rng.randrange(HEADER_BYTES) if rng.random() < 0.4 else rng.randrange(size)
            if rng.random() < 0.3:  # near the start of a page: headers of chunks, states of threads
                where = where // 4096 * 4096 + rng.randrange(512)
            if kind == 1:
                file.seek(min(where, size - 1))
                file.write(bytes([rng.randrange(256)]))
            elif kind == 2:
                file.seek(min(where // 8 * 8, size - 8))
                file.write(rng.choice((b"\xff" * 8, bytes(8), b"\xff" * 4 + bytes(4), b"\x00\x00\x00\x80" * 2)))
            else:
                file.seek(max(0, min(where, size - 64)))
                file.write(rng.randbytes(64))


def check_file(path):
    """Whatever is published can be read line by line."""
    with open(path, "rb") as file:
        rest = file.read()
    while rest:
        member = zlib.decompressobj(31)
        text = member.decompress(rest)
        expect(member.eof and text.endswith(b"\n"), f"{path}: a member")
        for line in text.decode().split("\n")[:-1]:  # splitlines knows other ends of lines, too
            if line != "[":
                json.loads(line)
        rest = member.unused_data


def damage_many(folder, **settings):
    rng = seeded()
    original = f"{folder}/original"
    make_spool(original, **settings)
    published = 0
    for number in range(MUTATIONS):
        sandbox = f"{folder}/sandbox"
        shutil.copytree(original, f"{sandbox}/out")
        damage(spool_of(f"{sandbox}/out"), rng)
        done = run([COMMAND, "recover", f"{sandbox}/out"], untraced())
        tally.trials += 1
        expect(done.returncode in (0, 1), f"mutation {number}: {sandbox}: {done}")
        expect_equal(os.listdir(sandbox), ["out"], f"mutation {number}: outside of the folder")
        for name in os.listdir(f"{sandbox}/out"):
            if name.endswith(".pfw.gz"):
                check_file(f"{sandbox}/out/{name}")
                published += 1
            else:  # the damage may have said: not compressed
                expect(name == ".dftracer" or name.endswith(".pfw"), f"mutation {number}: {name}")
        shutil.rmtree(sandbox)
    print(f"{MUTATIONS} mutations, {published} published all the same")


def case_damaged_spools(folder):
    damage_many(folder)


def case_damaged_spools_after_some_output(folder):
    damage_many(folder, SPOOL_LIMIT="1M")


# ---- Strange files ---------------------------------------------------------------------------------------------------


def victim(folder, content=b"precious\n" * 40000):
    """A file of the user's that has nothing to do with us, and is older than anything."""
    path = f"{folder}/victim"
    with open(path, "wb") as file:
        file.write(content)
    os.utime(path, (OLD, OLD))
    return path


def check_untouched(path, content=b"precious\n" * 40000):
    with open(path, "rb") as file:
        expect_equal(file.read() == content, True, f"{path} is as it was")


def inner_of(folder):
    os.makedirs(f"{folder}/out/.dftracer")
    return f"{folder}/out/.dftracer"


def case_a_link_in_the_place_of_a_spool(folder):
    os.symlink(victim(folder), f"{inner_of(folder)}/trace.spool")
    os.link(f"{folder}/victim", f"{folder}/out/.dftracer/hard.spool")
    recover(f"{folder}/out")
    check_untouched(f"{folder}/victim")


def case_a_link_to_a_real_spool_elsewhere(folder):
    make_spool(f"{folder}/elsewhere")
    spool = spool_of(f"{folder}/elsewhere")
    os.symlink(spool, f"{inner_of(folder)}/{os.path.basename(spool)}")
    recover(f"{folder}/out")
    expect(os.path.exists(spool), "it belongs to another folder")


def case_a_link_in_the_place_of_a_live_file(folder):
    make_spool(f"{folder}/out")
    live = spool_of(f"{folder}/out").replace(".spool", ".0-jsonl")
    if os.path.exists(live):
        os.unlink(live)
    os.symlink(victim(folder), live)
    recover(f"{folder}/out", expect=1)
    check_untouched(f"{folder}/victim")


def case_a_hard_link_in_the_place_of_a_live_file(folder):
    make_spool(f"{folder}/out")
    live = spool_of(f"{folder}/out").replace(".spool", ".0-jsonl")
    if os.path.exists(live):
        os.unlink(live)
    os.link(victim(folder), live)
    recover(f"{folder}/out", expect=1)
    check_untouched(f"{folder}/victim")


def case_fifos_and_folders(folder):
    inner = inner_of(folder)
    os.mkfifo(f"{inner}/trace.spool")
    os.mkdir(f"{inner}/folder.spool")
    os.mkfifo(f"{inner}/live.0-jsonl")
    make_spool(f"{folder}/out")
    recover(f"{folder}/out")
    expect_equal(sorted(os.listdir(inner)), ["folder.spool", "live.0-jsonl", "trace.spool"], "what is not ours stays")


def case_a_fifo_in_the_place_of_a_live_file(folder):
    make_spool(f"{folder}/out")
    live = spool_of(f"{folder}/out").replace(".spool", ".0-jsonl")
    if os.path.exists(live):
        os.unlink(live)
    os.mkfifo(live)
    recover(f"{folder}/out", expect=1)


def case_a_pointer_to_something_else(folder):
    inner = inner_of(folder)
    path = victim(folder)
    with open("/proc/sys/kernel/random/boot_id") as file:
        boot = file.read().strip()
    with open(f"{inner}/trace.spool", "w") as file:
        file.write(f"dftracer spool at {path}\nhost\n{boot}\n")
    os.utime(f"{inner}/trace.spool", (OLD, OLD))
    recover(f"{folder}/out")
    check_untouched(path)


def case_what_another_user_owns(folder):
    if os.geteuid() != 0:
        raise Skip("giving a file to another user needs root")
    make_spool(f"{folder}/out")
    spool = spool_of(f"{folder}/out")
    os.chown(spool, 65534, 65534)
    expect("1 left alone" in recover(f"{folder}/out"), "left alone, and told")
    expect(os.path.exists(spool), "still there")


def case_traces_are_recovered_where_they_were_moved_to(folder):
    make_spool(f"{folder}/before")
    os.rename(f"{folder}/before", f"{folder}/after")
    recover(f"{folder}/after")
    expect_equal([name.endswith(".pfw.gz") for name in os.listdir(f"{folder}/after")], [True], "published")


main(globals())
