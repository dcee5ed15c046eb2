"""Who came last, who waited, and what the clocks are worth: MPI jobs whose truth is known because they were made up,
and random ones that the oracle works out again."""

import os
import random
import subprocess

import made_up_job
import summary_oracle as expected
from cases import run_cases
from made_up_job import Job
from summary_check import check
from test_meaning import COMMAND, summary

MS = 10**6


def communication(folder, *options):
    text, found = summary(folder, *options)
    found = found["communication"]
    return text, found, {rank["rank"]: rank for rank in found["ranks"]}, {call["name"]: call for call in found["calls"]}


def other(kind, *arguments):
    return subprocess.run([COMMAND, kind, *arguments], capture_output=True, check=True).stdout


# ---- Waiting --------------------------------------------------------------------------------------------------------


def the_slow_rank_is_the_cause(folder):
    job = Job(4)
    for _ in range(30):
        job.compute_all(lambda rank: (30 if rank == 3 else 10) * MS)
        job.collective("MPI_Allreduce")
    job.save(folder)
    text, found, ranks, calls = communication(folder)
    assert [ranks[rank]["waited_ns"] for rank in range(4)] == job.waited, (ranks, job.waited)
    assert [ranks[rank]["caused_ns"] for rank in range(4)] == [0, 0, 0, sum(job.waited)], ranks
    assert ranks[3]["last_calls"] == 30 and ranks[0]["last_calls"] == 0, ranks
    assert found["all"]["waited_ns"] == calls["MPI_Allreduce"]["waited_ns"] == 3 * 30 * 20 * MS, found
    assert found["clocks"] == [] and "nodes agree" not in text, text
    lines = text.splitlines()
    first = lines[next(i for i, line in enumerate(lines) if line.startswith("Communication by rank")) + 2]
    assert first.startswith("3 ") and " 1.80 s 30 " in first, first


def who_comes_in_the_same_microsecond_is_no_single_cause(folder):
    job = Job(4, unit="US")
    job.compute_all(lambda rank: (10 if rank < 2 else 30) * MS + (400 if rank == 3 else 0))
    job.collective("MPI_Barrier")
    job.compute_all(lambda rank: (10 if rank < 2 else 30) * MS + (1000 if rank == 3 else 0))
    job.collective("MPI_Barrier")
    job.save(folder)
    _, _, ranks, calls = communication(folder)
    both = 20 * MS + 20 * MS + 1000
    assert [ranks[rank]["waited_ns"] for rank in range(4)] == [both, both, 1000, 0], ranks
    assert [ranks[rank]["caused_ns"] for rank in range(4)] == [0, 0, 0, both + both + 1000 - 2 * 20 * MS], ranks
    assert (calls["MPI_Barrier"]["meetings"], calls["MPI_Barrier"]["last_calls"]) == (2, 1), calls


def sub_communicators_have_their_own_order(folder):
    """Two halves of the ranks make as many calls as they like between those of all."""
    job = Job(6)
    low, high = [0, 1, 2], [3, 4, 5]
    for i in range(20):
        job.compute_all(lambda rank: (rank + 1) * MS)
        job.collective("MPI_Allreduce", low, comm=77)
        if i % 3 == 0:
            job.collective("MPI_Barrier", high, comm=88)
        job.collective("MPI_Bcast", comm=0, root=4)
        job.compute(1, 3 * MS)
        job.collective("MPI_Reduce", comm=0, root=2)
    job.save(folder)
    _, _, ranks, calls = communication(folder)
    assert [ranks[rank]["waited_ns"] for rank in range(6)] == job.waited, (ranks, job.waited)
    assert [ranks[rank]["caused_ns"] for rank in range(6)] == job.caused, (ranks, job.caused)
    assert [calls[name]["meetings"] for name in ("MPI_Allreduce", "MPI_Barrier", "MPI_Bcast")] == [20, 7, 20], calls
    assert calls["MPI_Reduce"]["last_rank"] == 1, calls["MPI_Reduce"]


def a_request_waits_where_it_is_completed(folder):
    job = Job(3)
    for _ in range(10):
        job.compute(2, 10 * MS)
        begun = job.begin("MPI_Iallreduce")
        job.compute_all(lambda _: 4 * MS)
        job.finish(begun)
        job.collective("MPI_Barrier")
    job.save(folder)
    _, _, ranks, calls = communication(folder)
    assert [ranks[rank]["waited_ns"] for rank in range(3)] == job.waited, (ranks, job.waited)
    assert calls["MPI_Iallreduce"]["waited_ns"] == 2 * 10 * (6 * MS - 100), calls["MPI_Iallreduce"]
    assert ranks[2]["caused_ns"] == sum(job.waited), ranks


def one_wait_for_several_counts_once(folder):
    """In one MPI_Waitall, rank 0 waits for rank 1 until 3 ms, then for rank 2 until 7 ms."""
    job = Job(3)
    ids = [job.event(0, "MPI_Irecv", 0, 10, bytes=8, peer=peer, tag=5, comm=0, comm_size=3) for peer in (1, 2)]
    job.event(0, "MPI_Waitall", 20, 8 * MS, requests=2, completed=2, bytes=16, start_1=ids[1], start_2=ids[0])
    for peer, sent in ((1, 3 * MS), (2, 7 * MS)):
        job.event(peer, "MPI_Send", sent, sent + 10, bytes=8, peer=0, tag=5, comm=0, comm_size=3)
    job.save(folder)
    _, found, ranks, _ = communication(folder)
    assert ranks[0]["waited_ns"] == ranks[0]["late_sender_ns"] == 7 * MS - 20, ranks[0]
    assert (ranks[1]["caused_ns"], ranks[2]["late_sender_caused_ns"]) == (3 * MS - 20, 4 * MS), ranks
    assert found["messages"] == {"received": 2, "matched": 2, "unknown_sources": 0, "unknown_waits": 0}, found[
        "messages"
    ]


def messages_are_matched_in_order(folder):
    """Per pair, communicator and tag; of a sender that nothing tells, nothing is known."""
    job = Job(4)
    for i in range(20):
        job.compute(1, 5 * MS)
        for tag in (3, 4) if i % 2 else (4, 3):  # in any order
            job.send(1, 0, tag)
            job.send(1, 0, tag, comm=9)
        job.receive(0, 1, 3)
        job.receive(0, 1, 4, comm=9)
        job.receive(0, 1, 4)
        job.receive(0, 1, 3, comm=9)
        job.send(3, 2, tag=7)
        job.receive(2, 3, 7, hide=("tag",) if i % 2 else ())  # MPI_ANY_TAG: there is only this one
    job.send(0, 3)
    job.receive(3, 0, hide=("peer",))
    job.save(folder)
    _, found, ranks, _ = communication(folder)
    assert [ranks[rank]["late_sender_ns"] for rank in range(3)] == job.waited[:3], (ranks, job.waited)
    assert ranks[1]["late_sender_caused_ns"] == job.caused[1], (ranks[1], job.caused)
    assert found["messages"] == {"received": 100, "matched": 100, "unknown_sources": 1, "unknown_waits": 0}
    assert found["all"]["waited_ns"] == sum(job.waited[:3]), found["all"]


def a_message_is_awaited_where_it_is_probed(folder):
    """As mpi4py receives objects: MPI_Mprobe waits for the message, and MPI_Mrecv takes it."""
    job = Job(2)
    for _ in range(20):
        job.compute(1, 5 * MS)
        job.send(1, 0, tag=3)
        job.receive(0, 1, 3, hide=("bytes",), name="MPI_Mprobe")
        for name in ("MPI_Mrecv", "MPI_Improbe"):  # which finds none
            job.event(0, name, job.ranks[0].now, job.ranks[0].now + 10)
            job.ranks[0].now += 10
    texts, paths = job.save(folder)
    found = check(expected.Summary(texts), paths, 1)["communication"]
    assert [rank["late_sender_ns"] for rank in found["ranks"]] == job.waited, (found["ranks"], job.waited)
    assert found["messages"]["matched"] == 20, found["messages"]


def a_receive_waits_in_the_probe_before_it(folder):
    """Not so the other one, which nobody probed, nor the next one that is not probed."""
    job = Job(2)
    for i in range(20):
        job.compute(1, 5 * MS)
        job.send(1, 0, tag=3)
        job.send(1, 0, tag=4)
        job.receive(0, 1, 3, is_probed=i % 3 < 2)
        job.receive(0, 1, 4)
    texts, paths = job.save(folder)
    found = check(expected.Summary(texts), paths, 1)["communication"]
    assert [rank["late_sender_ns"] for rank in found["ranks"]] == job.waited, (found["ranks"], job.waited)
    assert found["messages"]["matched"] == 40, found["messages"]


def between_groups():
    """An inter-communicator: rank 2 comes late. The other group, of two ranks, waits for it, and not for itself."""
    made = Job(3)
    for _ in range(12):
        made.compute_all(lambda rank: (rank + 1) ** 3 * MS)
        last = made.ranks[2].now
        for number, rank in enumerate(made.ranks):
            sizes = {"comm_size": 1, "remote_size": 2} if number == 2 else {"comm_size": 2, "remote_size": 1}
            made.event(number, "MPI_Allreduce", rank.now, last + 100, comm=7, bytes=8, **sizes)
            rank.now = last + 100
    return made


def a_missing_call_makes_it_unknown(folder):
    """Never wrong: neither with other names, nor with the same ones shifted by one, nor without a rank."""

    def job(skip, names=("MPI_Allreduce",)):
        made = Job(3)
        for i in range(12):
            made.compute_all(lambda rank: (rank + 1) * MS)
            made.collective(names[i % len(names)], skip=(1,) if i in skip else ())
        return made

    cases = {
        "the ranks made different numbers of calls": job((3, 4)),
        "the ranks called different functions": job((3,), ("MPI_Allreduce", "MPI_Barrier")),
        "some calls are missing: ranks left before others came": job((3,)),
        "some ranks have no such call in the traces": job(range(12)),
        "a rank waits for another group": between_groups(),
    }
    for i, (why, made) in enumerate(cases.items()):
        own = os.path.join(folder, str(i))
        made.save(own)
        text, found, ranks, calls = communication(own)
        assert calls["MPI_Allreduce"]["unknown"] == why, (why, calls["MPI_Allreduce"])
        assert calls["MPI_Allreduce"]["waited_ns"] is None and why in text, text
        assert found["all"]["waited_ns"] == 0 and not any(rank["caused_ns"] for rank in ranks.values()), found["all"]
    killed = Job(3)
    for i in range(5):
        killed.compute(2, MS)
        killed.collective("MPI_Barrier", skip=(2,) if i == 4 else ())
    killed.save(os.path.join(folder, "killed"))
    calls = communication(os.path.join(folder, "killed"))[3]
    assert (calls["MPI_Barrier"]["meetings"], calls["MPI_Barrier"]["last_calls"]) == (4, 4), calls


# ---- Before ---------------------------------------------------------------------------------------------------------


def what_was_before(found):
    return found["before"] and (found["before"]["name"], found["before"]["cat"], round(found["before"]["share"], 3))


def the_last_one_was_in_a_region_in_a_call_or_in_nothing(folder):
    """What it did before the others began to wait does not count, however long it was."""
    cases = {
        "region": (lambda job, at: job.event(3, "sweep", at, at + 20 * MS, cat="app"), ("sweep", "app", 1.0)),
        "call": (
            lambda job, at: job.event(3, "write", at + 2 * MS, at + 20 * MS, cat="POSIX"),
            ("write", "POSIX", 0.9),
        ),
        "other call of MPI": (
            lambda job, at: job.event(3, "MPI_Win_lock", at + 3 * MS, at + 20 * MS),
            ("MPI_Win_lock", "MPI", 0.85),
        ),
        "nothing": (lambda job, at: None, (None, None, 1.0)),
    }
    for case, (add, truth) in cases.items():
        job = Job(4)
        for _ in range(30):
            job.compute_all(lambda _: 50 * MS)
            add(job, job.ranks[3].now)
            job.ranks[3].now += 20 * MS
            job.collective("MPI_Allreduce")
        own = os.path.join(folder, case)
        job.save(own)
        text, _, ranks, calls = communication(own)
        assert what_was_before(calls["MPI_Allreduce"]) == what_was_before(ranks[3]) == truth, (case, calls)
        assert all(what_was_before(ranks[rank]) is None for rank in range(3)), ranks
        words = f"{100 * truth[2]:.0f} % {truth[0] or 'no region or call'}"
        assert sum(words in line for line in text.splitlines()) == 2, (words, text)


def the_innermost_region_counts_also_while_it_is_open(folder):
    """All is in a region that ends last; the collective is called in another one that began before they waited."""
    job = Job(2)
    begin = job.ranks[1].now
    for _ in range(25):
        job.compute_all(lambda _: 10 * MS)
        at = job.ranks[1].now
        job.event(1, "read", at + 2 * MS, at + 4 * MS, cat="POSIX")
        job.ranks[1].now = at + 8 * MS
        job.collective("MPI_Barrier")
        job.event(1, "step", at - MS, job.ranks[1].now + MS, cat="app")
        job.ranks[1].now += MS
        job.ranks[0].now += MS
    job.event(1, "main", begin, job.ranks[1].now, cat="app")
    job.save(folder)
    _, _, ranks, _ = communication(folder)
    assert what_was_before(ranks[1]) == ("step", "app", 0.75), ranks[1]


def waiting_is_what_weighs(folder):
    """Ten short delays in one region, one long delay in another; and a late sender."""
    job = Job(3)
    for i in range(11):
        job.compute_all(lambda _: 5 * MS)
        at, length = job.ranks[2].now, (90 if i == 5 else 1) * MS
        job.event(2, "rare" if i == 5 else "often", at, at + length, cat="app")
        job.ranks[2].now += length
        job.collective("MPI_Allreduce")
    at = job.ranks[1].now
    job.event(1, "pack", at, at + 7 * MS, cat="app")
    job.ranks[1].now += 7 * MS
    job.send(1, 0)
    job.receive(0, 1)
    job.save(folder)
    _, _, ranks, calls = communication(folder)
    assert what_was_before(calls["MPI_Allreduce"]) == what_was_before(ranks[2]) == ("rare", "app", 0.9), calls
    assert what_was_before(ranks[1]) == ("pack", "app", 1.0), ranks[1]


def of_several_threads_that_communicate_nothing_is_said(folder):
    job = Job(2)
    for i in range(10):
        job.compute_all(lambda rank: (1 + rank) * MS)
        job.collective("MPI_Barrier")
        job.event(1, "MPI_Put", job.ranks[1].now, job.ranks[1].now + 10, tid=1001 + i % 2, peer=0)
    job.save(folder)
    _, _, ranks, calls = communication(folder)
    assert ranks[1]["caused_ns"] == 10 * MS and ranks[1]["before"] is calls["MPI_Barrier"]["before"] is None, ranks[1]


def what_was_long_ago_is_not_mixed_with_what_was_just_before(folder):
    """The rank writes when the others do not wait yet, computes, and writes again: half of the delay."""
    job = Job(2)
    for _ in range(10):
        job.compute(0, 100 * MS)
        for name, cat, length in (("write", "POSIX", 1), ("work", "app", 119), ("write", "POSIX", 20)):
            at = job.ranks[1].now
            job.event(1, name, at, at + length * MS, cat=cat)
            job.ranks[1].now += length * MS
        job.collective("MPI_Barrier")
    job.save(folder)
    _, _, ranks, _ = communication(folder)
    assert what_was_before(ranks[1]) in (("write", "POSIX", 0.5), ("work", "app", 0.5)), ranks[1]


def calls_that_last_no_microsecond_still_separate(folder):
    """Two regions that belong to different delays."""
    job = Job(2, unit="US")
    for _ in range(20):
        for name in ("one", "two"):
            at = job.ranks[1].now
            job.event(1, name, at, at + 10 * MS, cat="app")
            if name == "two":
                job.event(1, "one", at + 4 * MS, at + 5 * MS, cat="app")
            job.ranks[0].now, job.ranks[1].now = at + (0 if name == "two" else 10 * MS), at + 10 * MS
            job.event(0, "MPI_Barrier", job.ranks[0].now, job.ranks[1].now, comm=0, comm_size=2)
            job.event(1, "MPI_Barrier", job.ranks[1].now, job.ranks[1].now, comm=0, comm_size=2)
            job.ranks[0].now = job.ranks[1].now
    job.save(folder)
    _, _, ranks, _ = communication(folder)
    assert what_was_before(ranks[1]) == ("two", "app", 0.9), ranks[1]


def what_came_long_before_the_first_call_is_not_known(folder):
    """One delay of two: it is no time outside of all events."""
    job = Job(2)
    for i in range(2):
        job.compute_all(lambda _: 0)
        for _ in range(0 if i else 5000):
            job.compute(1, 2000)
        job.compute(1, 10 * MS if i else 0)
        job.collective("MPI_Barrier")
    job.event(1, "main", 0, job.ranks[1].now, cat="app")
    job.save(folder)
    _, _, ranks, _ = communication(folder)
    assert what_was_before(ranks[1]) == ("work", "app", 0.5), ranks[1]


def many_regions_are_told_as_exactly_as_they_matter(folder):
    """Two regions that alternate a thousand times in each delay, and one that is only at its end."""
    job = Job(2)
    job.collective("MPI_Barrier")
    for _ in range(3):
        job.compute_all(lambda _: MS)
        for _ in range(1000):
            at = job.ranks[1].now
            job.event(1, "wide", at, at + 60_000, cat="app")
            job.event(1, "narrow", at + 60_000, at + 100_000, cat="app")
            job.ranks[1].now += 100_000
        at = job.ranks[1].now
        job.event(1, "last", at, at + 50 * MS, cat="app")
        job.ranks[1].now += 50 * MS
        job.collective("MPI_Barrier")
    texts, paths = job.save(folder)
    found = check(expected.Summary(texts), paths, 1)["communication"]["ranks"][1]
    assert what_was_before(found)[0] == "wide" and abs(found["before"]["share"] - 0.4) < 0.01, found
    merged_states_are_the_same(folder, paths, 0)


# ---- Clocks ---------------------------------------------------------------------------------------------------------

NODES = ["alpha", "alpha", "beta", "beta", "gamma", "gamma"]


def ring_job(clocks, unit="NS", steps=60):
    """Six ranks on three nodes; rank 3 is slow; messages go round, and all meet."""
    job = Job(6, NODES, clocks, unit)
    for _ in range(steps):
        job.compute_all(lambda rank: (9 if rank == 3 else 3) * 10 * MS)
        job.collective("MPI_Allreduce")
        for rank in range(6):
            job.send(rank, (rank + 1) % 6)
        for rank in range(6):
            job.receive(rank, (rank - 1) % 6)
    return job


def offsets_and_drift_are_taken_out(folder):
    for i, clocks in enumerate(
        (
            {"beta": (250 * MS, 0), "gamma": (-3000 * MS, 0)},
            {"beta": (40 * MS, 30e-6), "gamma": (-MS, -50e-6)},
            {"alpha": (7 * MS, 10e-6), "gamma": (900 * MS, 0)},
        )
    ):
        for unit in ("NS", "US"):
            own = os.path.join(folder, f"{i}{unit}")
            job = ring_job(clocks, unit)
            job.save(own)
            text, found, ranks, _ = communication(own)
            assert [clock["host"] for clock in found["clocks"]] == ["alpha", "beta", "gamma"], found["clocks"]
            for clock in found["clocks"][1:]:
                (first, drift), own_clock = (clocks.get(host, (0, 0)) for host in ("alpha", clock["host"]))
                time = (clock["at_ns"] - made_up_job.BEGIN - own_clock[0]) / (1 + own_clock[1])
                true = first + drift * time - own_clock[0] - own_clock[1] * time
                assert abs(clock["offset_ns"] - true) <= clock["bound_ns"] + 2, (clock, true)
                assert clock["moved"] and clock["bound_ns"] < 100_000, clock
            bound = max(clock["bound_ns"] for clock in found["clocks"])
            assert "nodes agree within" in text and "its times are moved" in text, text
            assert abs(ranks[3]["caused_ns"] - job.caused[3]) < 60 * 6 * 2 * (2 * bound + 4000), (ranks[3], job.caused)
            assert ranks[3]["caused_ns"] > 0.95 * found["all"]["waited_ns"] > 0, found["all"]
            assert ranks[3]["last_calls"] == 60, ranks[3]


def clocks_that_agree_are_left_alone(folder):
    job = ring_job({"beta": (4000, 0), "gamma": (-3000, 0)})
    job.save(folder)
    text, found, ranks, _ = communication(folder)
    assert not any(clock["moved"] for clock in found["clocks"]), found["clocks"]
    assert all(0 < clock["bound_ns"] < 50_000 for clock in found["clocks"][1:]), found["clocks"]
    assert "clocks of 3 nodes agree within ±" in text and "moved" not in text, text
    assert ranks[3]["last_calls"] == 60, ranks


def waits_below_the_bound_are_unsure(folder):
    """Ranks come 2 us after each other, and the clocks are known to 2.5 us only."""
    job = Job(2, ["alpha", "beta"])
    for _ in range(50):
        job.compute(0, MS)
        job.compute(1, MS + 2000)
        job.collective("MPI_Allreduce")
    job.save(folder)
    text, found, ranks, _ = communication(folder)
    assert found["clocks"][1]["bound_ns"] > 2000, found["clocks"]
    assert found["all"]["waited_ns"] == 0 and found["all"]["unsure_ns"] == 50 * 2000, found["all"]
    assert not any(rank["last_calls"] for rank in ranks.values()), ranks
    assert "shorter waits are not counted, 100 us in all" in text, text


def a_clock_that_was_set_is_reported(folder):
    job = Job(2, ["alpha", "beta"])
    for i in range(40):
        if i == 20:
            job.clocks["beta"] = (5000 * MS, 0)
        job.compute_all(lambda rank: (1 + rank) * MS)
        job.collective("MPI_Barrier")
    job.save(folder)
    text, found, _, _ = communication(folder)
    assert found["clocks"][1]["contradicted"] and "was set or does not run evenly" in text, (found["clocks"], text)


# ---- The oracle -----------------------------------------------------------------------------------------------------


def random_job(seed):
    """Everything at once, on one node: what was recorded twice, out of turn, or not at all included."""
    rng = random.Random(seed)
    job = Job(5, unit=rng.choice(["NS", "US"]))
    for _ in range(60):
        job.compute_all(lambda _: rng.randrange(1, 5) * 1000)
        members = rng.choice([None, [0, 1, 2], [1, 3], [4]])
        comm = 0 if members is None else 100 + len(members)
        if rng.random() < 0.5:
            job.collective(rng.choice(made_up_job.ALL), members, comm, data=rng.choice([0, 8]))
        elif rng.random() < 0.5:
            root = rng.choice(members or range(5))
            job.collective(rng.choice(["MPI_Bcast", "MPI_Reduce", "MPI_Scan"]), members, comm, root=root)
        else:
            begun = job.begin(rng.choice(["MPI_Ibarrier", "MPI_Iallreduce"]), members, comm)
            job.compute_all(lambda _: rng.randrange(3000))
            job.finish(begun, rng.choice(["MPI_Wait", "MPI_Waitall"]))
        one, two, tag = rng.randrange(5), rng.randrange(5), rng.randrange(3)
        job.send(one, two, tag, rng.choice([0, 10, 10**6]), rng.choice(["MPI_Send", "MPI_Ssend", "MPI_Isend"]))
        if rng.random() < 0.95:
            job.receive(two, one, tag, hide=rng.choice([(), (), ("tag",), ("peer",)]))
        at = job.ranks[one].now
        places = {"comm": 0, "comm_size": 5, "bytes": rng.randrange(100)}
        job.event(one, rng.choice(["MPI_Put", "MPI_Get", "MPI_Rget", "MPI_Accumulate"]), at, at + 9, peer=two, **places)
        job.event(
            one, rng.choice(["MPI_Startall", "MPI_Send_init", "MPI_Comm_free", "MPI_Bcast_init"]), at, at, **places
        )
        tags = rng.choice([(9, 9), (8, 9)])
        back = rng.choice([{}, {"source_tag": tags[1]}])
        job.event(one, "MPI_Sendrecv", at, at + 700, peer=two, source=two, tag=tags[0], **back, **places)
        if one != two:
            back = {"source_tag": tags[0]} if back else {}
            job.event(two, "MPI_Sendrecv", at, at + 800, peer=one, source=one, tag=tags[1], **back, **places)
        args = {"bytes": rng.randrange(10**6), "collective": 1} if rng.random() < 0.5 else {}
        job.event(one, rng.choice(["MPI_File_write_all", "MPI_File_iread"]), at, at + 50, cat="MPIIO", **args)
        cat = rng.choice(["comm", "nccl", "mpi"])
        job.event(
            two, "all_reduce", at - rng.randrange(3000), at + 2, cat=cat, tid=rng.choice([1, 2]) if seed % 2 else None
        )
    return job


def the_oracle_agrees(folder):
    for seed in range(8):
        job = random_job(seed)
        texts, paths = job.save(os.path.join(folder, str(seed)))
        grain = made_up_job.UNITS[job.unit]
        found = check(expected.Summary(texts), paths, grain)["communication"]
        assert found["all"]["waited_ns"] and found["messages"]["matched"], found["all"]
        check(expected.Summary(texts), paths, grain, options=("--memory", "0"))
        check(expected.Summary(texts[:4]), paths[:4], grain, jobs="1")
        since = 400 * 1000
        check(expected.Summary(texts, since=since), paths, grain, options=("--from", "0.0004"))
        merged_states_are_the_same(os.path.join(folder, str(seed)), paths, seed)


def merged_states_are_the_same(folder, paths, seed):
    states = []
    for i, path in enumerate(paths):
        states.append(os.path.join(folder, f"{i}.dfs"))
        other("summary", "--partial", "-o", states[-1], path)
    random.Random(seed).shuffle(states)
    both = os.path.join(folder, "both.dfs")
    other("summary", "--partial", "--memory", "0", "-o", both, *states[:2])
    whole = other("summary", "--json", *paths)
    assert other("summary", "--json", both, *states[2:]) == whole
    assert other("summary", "--json", "--memory", "0", *states) == whole


def many_ranks_are_nodes(folder):
    job = Job(70, [f"n{rank // 10}" for rank in range(70)])
    for rank in range(70):
        job.send(rank, (rank + 5) % 75, data=100)
    texts, paths = job.save(folder)
    found = check(expected.Summary(texts), paths, 1)["communication"]["matrix"]
    assert found["by"] == "node" and {"from": "n6", "to": None, "calls": 5, "bytes": 500} in found["pairs"], found
    assert "Bytes of messages from node to node" in summary(folder)[0]
    few = os.path.join(folder, "few")
    job = Job(17)
    for rank in range(17):
        job.send(rank, (rank + 1) % 17, data=rank * 1000)
    job.save(few)
    text = summary(few)[0]
    assert "Messages from rank to rank 15 of 17; --top N shows more" in text and "\n16 0 1 15.6 KiB\n" in text, text


if __name__ == "__main__":
    run_cases(
        the_slow_rank_is_the_cause,
        who_comes_in_the_same_microsecond_is_no_single_cause,
        sub_communicators_have_their_own_order,
        a_request_waits_where_it_is_completed,
        one_wait_for_several_counts_once,
        messages_are_matched_in_order,
        a_message_is_awaited_where_it_is_probed,
        a_receive_waits_in_the_probe_before_it,
        a_missing_call_makes_it_unknown,
        the_last_one_was_in_a_region_in_a_call_or_in_nothing,
        the_innermost_region_counts_also_while_it_is_open,
        waiting_is_what_weighs,
        of_several_threads_that_communicate_nothing_is_said,
        what_was_long_ago_is_not_mixed_with_what_was_just_before,
        calls_that_last_no_microsecond_still_separate,
        what_came_long_before_the_first_call_is_not_known,
        many_regions_are_told_as_exactly_as_they_matter,
        offsets_and_drift_are_taken_out,
        clocks_that_agree_are_left_alone,
        waits_below_the_bound_are_unsure,
        a_clock_that_was_set_is_reported,
        the_oracle_agrees,
        many_ranks_are_nodes,
    )
