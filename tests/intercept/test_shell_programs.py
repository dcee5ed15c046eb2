"""test_shell_programs.py - the shell and its everyday companions do what they did, and every byte is seen.
SPDX-License-Identifier: MIT
"""

import os
import random
import re

from io_harness import expect, main
from witness import Witness


def fill(data):
    """A small tree of texts and of bytes that cannot be compressed."""
    numbers = random.Random(1)
    for folder in ("tree", "tree/a", "tree/a/b", "tree/empty"):
        os.mkdir(os.path.join(data, folder))
    for i in range(12):
        with open(os.path.join(data, "tree", ("", "a/", "a/b/")[i % 3] + f"file{i}"), "wb") as file:
            file.write(b"line of text %d\n" % i * 200 if i % 2 else numbers.randbytes(1 << (i + 6)))
    with open(os.path.join(data, "in.txt"), "w", encoding="utf-8") as file:
        file.writelines(f"word {numbers.randrange(1000)} in line {i}\n" for i in range(500))


def bash(folder, script, *needed, **options):
    return Witness(folder, fill, "bash", *needed).check(["bash", "-c", script], **options)


def case_bash_pipelines_and_redirections(folder):
    traces = bash(
        folder,
        """set -e
      cat in.txt | tr a-z A-Z | sort > sorted.txt
      sort < in.txt >> sorted.txt
      exec 3> third.txt 4< in.txt
      echo first >&3; echo second >&3
      read -r line <&4; echo "$line" >&3
      { echo inside; cat in.txt; } > block.txt 2>&1
      (cd tree && echo sub > ../sub.txt)
      while read -r a b c; do echo "$c $b $a"; done < in.txt > turned.txt
      cat <<< "here" > here.txt
      wc -l < turned.txt""",
    )
    expect(len(traces) > 5, f"{len(traces)} processes")


def case_cp_recursively(folder):
    bash(folder, "cp -r tree copy && cp -a tree/a other && cp in.txt tree/a/b/")


def case_tar(folder):
    bash(
        folder,
        "tar --sort=name --mtime=@0 -cf all.tar tree in.txt && mkdir out && tar -xf all.tar -C out && tar -tf all.tar",
    )


def case_dd(folder):
    bash(
        folder,
        "dd if=in.txt of=blocks bs=512 2>/dev/null && dd if=/dev/zero of=zeros bs=4k count=5 conv=fsync 2>/dev/null "
        "&& dd if=zeros of=blocks bs=1k skip=2 seek=3 count=4 conv=notrunc 2>/dev/null",
    )


def case_find_and_grep(folder):
    bash(
        folder,
        "find tree -type f -name 'file*' | sort && grep -r 'text 3' tree | sort | head -3 && grep -c word in.txt",
    )


def case_sed_in_place(folder):
    traces = bash(
        folder,
        "sed -i 's/word/WORD/' in.txt && head -1 in.txt",
        same=lambda name: re.sub(r"^sed\w{6}$", "sedXXXXXX", name),
    )
    (sed,) = [trace for trace in traces if trace.named("rename")]
    expect(sed.named("rename")[0]["args"]["ret"] == 0 and "path2_hash" in sed.named("rename")[0]["args"], "rename")


def case_gzip_and_xz(folder):
    bash(
        folder,
        "gzip -n in.txt && xz -k -T1 tree/file9 && gzip -dc in.txt.gz | wc -c && xz -dc tree/file9.xz | wc -c",
        "xz",
    )


def case_everything_is_recorded_without_a_data_dir(folder):
    bash(folder, "cat in.txt > out.txt; cp out.txt tree/", DATA_DIR="")


def case_everything_is_recorded_when_asked_for(folder):
    bash(folder, "cat in.txt > out.txt; cp out.txt tree/", DATA_DIR="all")


main(globals())
