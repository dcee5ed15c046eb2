"""rule_cases.py - for each rule of dftracer summary, a job with given values of the measures that the rule looks at.

    CASES["small-reads"](small_reads=1000, small_read_share=0.1)     # a Job of made.py

So a case of a rule is one line: the values at which it speaks, or just does not. A job made here is busy with what the
rule is about for much of its time; a share and its count are given apart, and the rest follows.
SPDX-License-Identifier: MIT
"""

from made import Job

CASES = {}
KIB, MIB = 1 << 10, 1 << 20
FAR = 64 * MIB  # from a request to the next one that is no neighbour


def case(rule):
    def add(function):
        CASES[rule] = function
        return function

    return add


def others(count, share):
    """How many more there are, if `count` of all are this share."""
    return round(count / share) - count


def one_thread():
    job = Job()
    return job, job.ranks[0].main


# ---- I/O -------------------------------------------------------------------------------------------------------------


def small(call, count, share):
    """The small ones take 1 ms, the large ones next to nothing."""
    job, thread = one_thread()
    for _ in range(count):
        thread.call(call, 1, "/data/x", ret=4 * KIB)
    for _ in range(others(count, share)):
        thread.call(call, 0.001, "/data/y", ret=MIB)
    return job


@case("small-reads")
def small_reads(small_reads, small_read_share):
    return small("read", small_reads, small_read_share)


@case("small-writes")
def small_writes(small_writes, small_write_share):
    return small("write", small_writes, small_write_share)


def scattered(call, count, share, shift=0):
    """The first request is no neighbour of any, but it is not known to be random. It is aligned."""
    job, thread = one_thread()
    thread.call(call, 0.001, "/data/x", ret=MIB, offset=0)
    for number in range(1, count + 1):
        thread.call(call, 1, "/data/x", ret=4 * KIB, offset=number * FAR + shift)
    end = count * FAR + 4 * KIB
    if shift:
        end += 4 * KIB  # where a block begins
    for number in range(others(count, share) - (1 if shift else 0)):
        thread.call(call, 0.001, "/data/x", ret=MIB, offset=end + number * MIB)
    return job


@case("random-reads")
def random_reads(random_reads, random_read_share):
    return scattered("pread", random_reads, random_read_share)


@case("random-writes")
def random_writes(random_writes, random_write_share):
    return scattered("pwrite", random_writes, random_write_share)


@case("unaligned-reads")
def unaligned_reads(unaligned_reads, unaligned_read_share):
    return scattered("pread", unaligned_reads, unaligned_read_share, 100)


@case("unaligned-writes")
def unaligned_writes(unaligned_writes, unaligned_write_share):
    return scattered("pwrite", unaligned_writes, unaligned_write_share, 100)


def again(call, size, share):
    """Blocks of 64 KiB, one after the other; then the first ones again."""
    job, thread = one_thread()
    block = 64 * KIB
    count = int(size) // block
    for numbers in (range(others(count, share)), range(count)):
        for number in numbers:
            thread.call(call, 1, "/data/x", ret=block, offset=number * block)
    return job


@case("redundant-reads")
def redundant_reads(redundant_read_bytes, redundant_read_share):
    return again("pread", redundant_read_bytes, redundant_read_share)


@case("redundant-writes")
def redundant_writes(redundant_write_bytes, redundant_write_share):
    return again("pwrite", redundant_write_bytes, redundant_write_share)


@case("metadata")
def metadata(metadata_calls):
    job, thread = one_thread()
    for number in range(metadata_calls):
        thread.call("stat", 1, f"/data/{number % 50}")
    return job


@case("mpi-io")
def mpi_io(mpiio_share):
    job = Job(2)
    for rank in job.ranks:
        for _ in range(50):
            rank.main.region("solve", "compute", 100 * (1 - mpiio_share))
            rank.main.region("MPI_File_close", "MPIIO", 100 * mpiio_share)
    return job


@case("sync")
def sync(sync_share):
    job, thread = one_thread()
    for _ in range(50):
        thread.region("solve", "compute", 100 * (1 - sync_share))
        thread.call("fsync", 100 * sync_share, "/data/x")
    return job


@case("open-churn")
def open_churn(opens, opens_per_file):
    job, thread = one_thread()
    files = round(opens / opens_per_file)
    for number in range(opens):
        thread.call("open", 1, f"/data/{number % files}", ret=3)
        thread.call("close", 0.5, f"/data/{number % files}")
    return job


@case("small-files")
def small_files(read_files, read_file_bytes):
    job, thread = one_thread()
    for number in range(read_files):
        thread.call("open", 0.5, f"/data/{number}", ret=3)
        thread.call("read", 1, f"/data/{number}", ret=int(read_file_bytes))
        thread.call("close", 0.1, f"/data/{number}")
    return job


@case("stdio")
def stdio(stdio_bytes, stdio_share):
    """In 1,024 calls each."""
    job, thread = one_thread()
    for _ in range(1024):
        thread.call("fwrite", 1, "/data/x", ret=int(stdio_bytes) // 1024, cat="STDIO")
        thread.call("write", 0.1, "/data/y", ret=int(others(stdio_bytes, stdio_share)) // 1024)
    return job


@case("failed-calls")
def failed_calls(failed_calls, failed_share):
    job, thread = one_thread()
    for number in range(failed_calls):
        thread.call("stat", 1, f"/data/{number % 50}", ret=-1, errno=2)
    for _ in range(others(failed_calls, failed_share)):
        thread.call("stat", 0.001, "/data/x")
    return job


@case("shared-file")
def shared_file(shared_writers, shared_slowdown):
    """Every rank writes a file of its own and, if it is one of these, the shared one."""
    job = Job(max(shared_writers, 2))
    for rank in job.ranks:
        for _ in range(50):
            rank.main.call("write", 1, f"/data/own{rank.rank}", ret=MIB)
            if rank.rank < shared_writers:
                rank.main.call("write", shared_slowdown, "/data/shared", ret=MIB)
    return job


# ---- Ranks -----------------------------------------------------------------------------------------------------------


def unequal(ranks, short):
    """Steps of 100 ms: all ranks but the last compute for less, and wait."""
    job = Job(ranks)
    for _ in range(24):
        job.spend("compute", [short] * (ranks - 1) + [100])
        job.meet("exchange", 0.01)
    return job


@case("imbalance")
def imbalance(ranks, imbalance_share):
    return unequal(ranks, 100 - 100 * imbalance_share * ranks / max(ranks - 1, 1))


@case("straggler")
def straggler(ranks, straggler_imbalance):
    """(largest - mean) / largest, of the compute region."""
    return unequal(ranks, 100 - 100 * straggler_imbalance * ranks / max(ranks - 1, 1))


@case("late-senders")
def late_senders(ranks, late_message_share):
    """Rank 0 computes for 100 ms and sends to rank 1, which waits for the message."""
    job = Job(ranks)
    for number in range(24):
        job.spend("compute", [100] + [100 - 100 * late_message_share * ranks] + [100] * (ranks - 2))
        if ranks > 1:
            job.send(0, 1, number)
    return job


@case("early-end")
def early_end(ranks, early_end_share):
    """Rank 0 goes on alone."""
    job = Job(ranks)
    for _ in range(24):
        job.spend("compute", 100)
    own = early_end_share * ranks / max(ranks - 1, 1)
    job.spend("compute", [2400 * own / (1 - own)] + [0] * (ranks - 1))
    return job


def before_or_after(is_after, share, stake, unknown):
    """A loop, and what comes before or after it: a region, and time in nothing."""
    job = Job(2)
    length = stake / 1e6

    def add_phase():
        job.spend("outside", length * unknown)
        for rank in job.ranks:
            rank.main.region("work", "app", length * (1 - unknown))

    if not is_after:
        add_phase()
    for _ in range(24):
        job.spend("compute", length * (1 - share) / share / 24)
    if is_after:
        add_phase()
    return job


@case("tear-down")
def tear_down(teardown_share, teardown_stake, teardown_idle):
    return before_or_after(True, teardown_share, teardown_stake, teardown_idle)


@case("tear-down-mpi")
def tear_down_mpi(teardown_share, teardown_stake, teardown_final):
    job = Job(2)
    length = teardown_stake / 1e6
    for _ in range(24):
        job.spend("compute", length * (1 - teardown_share) / teardown_share / 24)
    job.meet("MPI_Finalize", length * teardown_final, "MPI")
    for rank in job.ranks:
        rank.main.region("work", "app", length * (1 - teardown_final))
    return job


@case("tear-down-outside")
def tear_down_outside(teardown_share, teardown_stake, teardown_outside):
    return before_or_after(True, teardown_share, teardown_stake, teardown_outside)


@case("start-up")
@case("start-up-outside")
def start_up(startup_share, startup_stake, startup_outside):
    return before_or_after(False, startup_share, startup_stake, startup_outside)


@case("communication")
def communication(communication_share):
    job = Job(2)
    for _ in range(24):
        job.spend("compute", 100 - 100 * communication_share)
        job.meet("exchange", 100 * communication_share)
    return job


# ---- Trainings -------------------------------------------------------------------------------------------------------


def train(times, fetch=1):
    """times: milliseconds of compute of each step, by epoch."""
    job, thread = one_thread()
    for epoch, steps in enumerate(times):
        with thread.within("epoch.block", "pipeline", epoch=epoch):
            for number, step in enumerate(steps):
                thread.region("fetch.iter", "dataloader", fetch, epoch=epoch, step=number)
                thread.region("forward", "compute", step - fetch, epoch=epoch, step=number)
    return job


@case("step-jitter")
def step_jitter(steps, step_jitter, step_spread):
    """Of 20 steps, three are much longer, and five a little."""
    factors = {**dict.fromkeys((3, 9, 15), step_jitter), **dict.fromkeys((1, 5, 8, 12, 17), step_spread)}
    return train([[100 * factors.get(number % 20, 1) for number in range(steps)]])


@case("cold-epoch")
def cold_epoch(epochs, cold_ratio):
    return train([[100 * cold_ratio] * 10] + [[100] * 10] * (epochs - 1))


@case("transfer")
def transfer(transfer_share):
    return with_part("transfer", "device", transfer_share)


@case("checkpoint-stall")
def checkpoint_stall(checkpoint_share):
    return with_part("capture", "checkpoint", checkpoint_share)


def with_part(name, cat, share):
    job, thread = one_thread()
    with thread.within("epoch.block", "pipeline", epoch=0):
        for _ in range(24):
            thread.region("fetch.iter", "dataloader", 1)
            thread.region(name, cat, 100 * share)
            thread.region("forward", "compute", 99 - 100 * share)
    return job


def loaded(waiting_share, workers=0, worker_busy=0.7, empty_workers=0, worker_start_share=0, worker_spread=0):
    """A trainer that waits for workers; each of them loads for this part of every step. Others find nothing at once."""
    job, thread = one_thread()
    with thread.within("epoch.block", "pipeline", epoch=0):
        for _ in range(24):
            thread.region("fetch.init", "dataloader", 100 * waiting_share * worker_start_share)
            thread.region("fetch.iter", "dataloader", 100 * waiting_share * (1 - worker_start_share))
            thread.region("forward", "compute", 100 - 100 * waiting_share)
    for _ in range(workers):
        for half, more in ((0, 0.5), (1, -0.5)):  # one after the other
            worker, busy = job.worker(job.ranks[0], half * 1200).main, worker_busy + more * worker_spread
            for _ in range(12):
                worker.region("item", "data", 100 * busy)
                worker.idle(100 - 100 * busy)
    for _ in range(empty_workers):
        worker = job.worker(job.ranks[0]).main
        worker.region("data.batch.cut", "data", 1)
        worker.idle(24 * 100 - 1)
    return job


for rule in ("few-workers", "idle-workers", "no-workers", "worker-start"):
    CASES[rule] = loaded


@case("unequal-workers")
def unequal_workers(waiting_share, busiest_share, worker_spread, worker_start_share):
    return loaded(waiting_share, 1, busiest_share - worker_spread / 2, 0, worker_start_share, worker_spread)


@case("empty-workers")
def empty_workers(waiting_share, empty_workers):
    return loaded(waiting_share, 2, 0.95, empty_workers)
