"""test_ai.py - the ai tree: names, forms of use, values, switches."""

from harness import arguments_of, main, one, run

NODES = [
    "ai_root/ai_root",
    "compute/compute",
    "compute/forward",
    "compute/backward",
    "compute/step",
    "data/data",
    "data/preprocess",
    "data/item",
    "data/data.io",
    "data/data.io.open",
    "data/data.io.read",
    "data/data.io.write",
    "data/data.io.close",
    "dataloader/dataloader",
    "dataloader/fetch",
    "comm/comm",
    "comm/send",
    "comm/receive",
    "comm/barrier",
    "comm/bcast",
    "comm/reduce",
    "comm/all_reduce",
    "comm/gather",
    "comm/all_gather",
    "comm/scatter",
    "comm/reduce_scatter",
    "comm/all_to_all",
    "device/device",
    "device/transfer",
    "checkpoint/checkpoint",
    "checkpoint/capture",
    "checkpoint/restart",
    "checkpoint/checkpoint.io",
    "checkpoint/checkpoint.io.open",
    "checkpoint/checkpoint.io.read",
    "checkpoint/checkpoint.io.write",
    "checkpoint/checkpoint.io.close",
    "pipeline/pipeline",
    "pipeline/epoch",
    "pipeline/train",
    "pipeline/evaluate",
    "pipeline/test",
    "other/other",
    "other/other.log",
    "other/other.io",
    "other/other.io.open",
    "other/other.io.read",
    "other/other.io.write",
    "other/other.io.close",
]


def test_tree_has_its_nodes(tmp_path):
    found = run(
        """
        from dftracer.python import *
        from dftracer.python import ai
        def walk(node):
            print(f"{node.cat}/{node.name}")
            assert isinstance(node, DFTracerAI)
            for child in node._children.values(): walk(child)
        walk(ai)
        assert isinstance(ai, AI) and isinstance(ai.data.io, IO) and isinstance(comm, Communication)
        assert ai.data.io.open.name == "data.io.open" and ai.other.log.name == "other.log"
        other = AI()
        assert other is not ai and other.compute is not ai.compute
        assert DFTracerAI(cat="x", name="").profiler._name == "x" and DFTracerAI(cat=ProfileCategory.DATA).cat == "data"
        assert get_iter_block_name("a") == "a.block" == get_iter_block_name("a.block")
        assert get_iter_handle_name("a") == "a.iter" and str(ComputeEvent.FORWARD) == "forward" == ComputeEvent.FORWARD
        assert [INIT_NAME, BLOCK_NAME, ITER_NAME, ITER_COUNT_NAME, CTX_SEPARATOR, ROOT_NAME, ROOT_CAT] == [
            "init", "block", "iter", "count", ".", "ai_root", "ai_root"]
        """,
        tmp_path,
    ).split()
    assert sorted(found) == sorted(NODES)


def test_a_category_is_its_class_and_a_line_in_the_tree(tmp_path):
    """Everything else follows; type checkers need two more lines, and this names them."""
    run(
        """
        import inspect
        import dftracer.python as package
        from dftracer.python import ai_common, ai_events, ai_init
        classes = [one for one in ai_common._Category.__subclasses__() + ai_common._CategoryWithIO.__subclasses__()
                   if one not in (package.AI, ai_common._CategoryWithIO)]
        assert set(classes) == set(ai_common.CATEGORIES.values()), "class AI has a line for each category"
        for name, kind in ai_common.CATEGORIES.items():
            assert kind.CAT == name and getattr(package, kind.__name__) is kind
            assert getattr(package, name) is getattr(package.ai, name) is package.ai._children[name]
            events = f"{kind.__name__}Event"
            assert [str(one) for one in getattr(package, events)] == ai_common.events_of(kind)
            assert package.ProfileCategory[name.upper()] == name
            for module, line in ((ai_init, f"{name}: ai_common.{kind.__name__}"), (ai_events, f"{events}: Any")):
                assert f"    {line}\\n" in inspect.getsource(module), f"{module.__name__}: for type checkers: {line}"
        """,
        tmp_path,
    )


def test_forms_of_use(tmp_path):
    trace = one(
        """
        @ai.compute.forward
        def forward(x): "doc"; return x
        @ai.compute.forward(step=1, args={"lr": 0.1, "name": "n"})
        def valued(x): return x
        direct = ai.compute.backward(lambda x: x, epoch=2)
        assert forward(1) == valued(1) == direct(1) == 1 and forward.__doc__ == "doc"
        with ai.compute.step as n: assert n is ai.compute.step
        with ai.compute.step(image_idx=3, image_size=2.5) as n: assert n is not ai.compute.step and n.cat == "compute"
        ai.device.transfer.start(); ai.device.transfer.stop()
        ai.device.transfer.stop()
        class Made:
            @ai.checkpoint.init
            def __init__(self): pass
        Made()
        with ai.checkpoint.init: pass
        with ai.checkpoint.init(step=5): pass
        assert ai.checkpoint.init is ai.checkpoint.init and ai.data.derive("x") is ai.data.derive(name="x")
        with ai.derive("own"), ai.data.preprocess.derive("collate"): pass
        ai.pipeline.epoch.start(metadata=True); ai.pipeline.epoch.stop(metadata=True)
        try:
            with ai.comm.send: raise OSError
        except OSError: pass
        @ai.comm.receive
        def fails(): raise KeyError
        try: fails()
        except KeyError: pass
        @ai.dataloader.fetch
        def generator(): yield 1
        assert list(generator()) == [1]
        """,
        tmp_path,
    )
    by_name = {}
    for event in trace.user_events():
        by_name.setdefault(event["name"], []).append(arguments_of(event))
    metadata = by_name.pop("CM")
    assert by_name == {
        "forward": [{}, {"step": 1, "lr": 0.1, "name": "n"}],
        "backward": [{"epoch": 2}],
        "step": [{}, {"image_idx": 3, "image_size": 2.5}],
        "transfer": [{}],
        "checkpoint.init": [{}, {}, {"step": 5}],
        "ai_root.own": [{}],
        "preprocess.collate": [{}],
        "send": [{"exc": "OSError"}],
        "receive": [{"exc": "KeyError"}],
        "fetch": [{}],
    }
    assert [record["name"] for record in metadata] == ["epoch.start", "epoch.end"]
    assert all(10**15 < int(record["value"]) < 10**16 for record in metadata)
    assert (trace.end["args"]["used.ai"], trace.end["args"]["used.python_function"]) == (1, 1)


def test_the_end_tells_which_layers_recorded(tmp_path):
    loop = "list(ai.dataloader.fetch.iter([1], include_block={block}))"
    used = {
        'with dft_fn("c", "n"): pass': {"used.python_function"},
        'dft_fn("c", "n").flush()': {"used.python_function"},
        "with ai.compute: pass": {"used.python_function", "used.ai"},
        'with dft_fn("c", "n"), ai.compute: pass': {"used.python_function", "used.ai"},
        "ai.pipeline.epoch.start(metadata=True)": {"used.python_function", "used.ai"},
        loop.format(block=False): {"used.python_function", "used.ai"},
        loop.format(block=True): {"used.python_function", "used.ai"},
    }
    for number, (program, expected) in enumerate(used.items()):
        folder = tmp_path / str(number)
        folder.mkdir()
        end = one(program, folder, DFTRACER_INC_METADATA="1").end["args"]
        assert {key for key in end if key.startswith("used.")} == expected, program


def test_loops(tmp_path):
    trace = one(
        """
        for i in ai.dataloader.fetch.iter(range(3)):
            ai.dataloader.fetch.update(step=i)
        with ai.dataloader.fetch: pass
        for _ in ai.pipeline.epoch.iter([1], include_iter=False): pass
        for _ in ai.pipeline.train.iter([1], include_block=False): pass
        for _ in ai.pipeline.test.iter([1], iter_name="own_i", block_name="own_b"): pass
        for _ in ai.pipeline.evaluate.iter([1], include_iter=False, include_block=False): pass
        for i in ai.comm.iter([1, 2, 3]):
            if i == 2: break
        try:
            for i in ai.device.iter([1]): raise ValueError
        except ValueError: pass
        loop = ai.data.item.iter([1, 2]); next(loop); loop.close()
        for i in ai.pipeline.test.iter([1, 2], iter_name="own_i", block_name="own_b"): break
        assert list(ai.data.preprocess.iter(iter("ab"))) == ["a", "b"]
        """,
        tmp_path,
    )
    events = [(event["name"], arguments_of(event)) for event in trace.user_events()]
    assert events[:6] == [
        (name, {"step": i, "count": i + 1}) for i in range(3) for name in ("fetch.iter", "fetch.block")
    ]
    assert events[6] == ("fetch", {"step": 2})
    assert [name for name, _ in events[7:]] == [
        "epoch.block",
        "train.iter",
        "own_i",
        "own_b",
        *["comm.iter", "comm.block"],
        *["comm.iter.cut", "comm.block.cut"],  # the item in hand when the loop was left
        *["device.iter.cut", "device.block.cut"],
        *["item.iter.cut", "item.block.cut"],
        *["own_i.cut", "own_b.cut"],
        *["preprocess.iter", "preprocess.block"] * 2,
    ]


def test_a_loop_that_fetched_all_that_it_expects_is_not_left_early(tmp_path):
    """Frameworks know the length of a loader, and do not ask for more; the next epoch completes the last item."""
    trace = one(
        """
        def expecting(items, count):
            loop = ai.dataloader.fetch.iter(items)
            loop._expect(count)
            return loop
        ai.update(epoch=0)
        whole = expecting(iter([1, 2]), 2)
        next(whole); next(whole)
        ai.update(epoch=0)                                 # sets no other one: the body goes on
        with ai.compute.forward: pass
        ai.update(epoch=1)                                 # settles the loop, which still exists
        with ai.compute.backward: pass
        def left(items, count, error=None):
            for item in expecting(items, count):
                if item == 2:
                    if error: raise error
                    break
        left([1, 2, 3], 3)
        left([1, 2, 3], 1)                                 # more came than it expected
        left((item for item in (1, 2)), 2)                 # a generator
        try: left([1, 2], 2, KeyError())
        except KeyError: pass
        unknown = expecting([1, 2], 0)
        next(unknown); next(unknown)
        del unknown
        """,
        tmp_path,
    )
    whole, cut = ["fetch.iter", "fetch.block"], ["fetch.iter.cut", "fetch.block.cut"]
    assert sorted((event["name"], event["args"]["epoch"]) for event in trace.user_events()) == sorted(
        [(name, 0) for name in [*whole * 2, "forward"]]
        + [(name, 1) for name in ["backward", *whole * (1 + 1 + 2 + 2 + 1), *cut * (1 + 1 + 1)]]
    )
    block = trace.named("fetch.block")[1]
    assert trace.named("forward")[0]["args"]["p_idx"] == block["id"]


def test_a_loop_that_threads_share_holds_its_last_item_once(tmp_path):
    trace = one(
        """
        import threading
        both = threading.Barrier(2)
        class Items:
            def __iter__(self): return self
            def __next__(self): both.wait(20)              # both fetches are under way, so both end as the second
        loop = ai.dataloader.fetch.iter(Items())
        loop._expect(2)
        ai.update(epoch=0)
        other = threading.Thread(target=next, args=(loop,))
        other.start(); next(loop); other.join()
        ai.update(epoch=1); ai.update(epoch=2)
        del loop
        ai.update(epoch=3)
        with ai.compute.forward: pass
        """,
        tmp_path,
        overlap=True,
    )
    assert trace.values("forward", "epoch") == [3]


def test_values_hold_for_the_subtree(tmp_path):
    trace = one(
        """
        child = ai.data.preprocess.derive("c")
        detached = ai.data.preprocess()
        assert ai.data.update(epoch=1, args={"k": "v"}) is ai.data
        ai.data.item.disable(); ai.data.update(step=2); ai.data.item.enable()
        for node in (ai.data, ai.data.item, child, ai.data.io.read, ai.data.preprocess.init, detached, ai.compute):
            with node: pass
        late = ai.data.derive("late")
        with late: pass
        ai.data.update(args={"l": "w"}); ai.data.disable(); off = ai.data.derive("off"); ai.data.enable()
        for node in (late, off):
            with node: pass
        assert ai.data.profiler._arguments_int == {"epoch": (0, 1), "step": (0, 2)}
        """,
        tmp_path,
    )
    both, named = {"epoch": 1, "k": "v", "step": 2}, {"epoch": 1, "step": 2}
    assert [arguments_of(event) for event in trace.user_events()] == [
        both,
        {"epoch": 1, "k": "v"},
        both,
        both,
        named,  # a child begins with the four named values
        {},
        {},
        named,
        {**named, "l": "w"},
        {},  # made while disabled
    ]


def test_switches(tmp_path):
    trace = one(
        """
        ai.compute.disable()
        @ai.compute.forward
        def early(): pass
        forced = ai.compute.forward(enable=True)(lambda: None)
        never = ai.compute.forward(enable=False)(lambda: None)
        detached = ai.compute.backward()
        for f in (early, forced, never): f()
        with detached, ai.compute.step: pass
        with ai.compute.backward(enable=True, epoch=1): pass
        ai.compute.start(metadata=True)
        for _ in ai.compute.iter([1]): pass
        ai.compute.step.enable()
        with ai.compute.step: pass
        ai.compute.enable()
        early(); never()
        with detached: pass
        ai.disable(); early(); ai.enable(); early()
        with ai.data.item:
            ai.data.item.disable()
            with ai.data.item: pass
        """,
        tmp_path,
    )
    names = [event["name"] for event in trace.user_events()]
    assert names == ["forward", "backward", "step", "forward", "forward", "item"]


def test_a_detached_node_has_nothing_of_those_before(tmp_path):
    """Their memory is used again."""
    trace = one(
        """
        import gc, weakref
        for i in range(20):
            used = ai.compute.forward(step=i, args={"a": 1, "b": 2, "c": 3}, enable=i % 2 == 0)
            used.mine = i; used.derive("child"); used.relate(1, 7); used.flush()
            for _ in range(3):
                with used: pass
            gone = weakref.ref(used)
            del used
            gc.collect()
            assert gone() is None
            fresh = ai.compute.backward()
            assert fresh.name == "backward" and not fresh._flush and not fresh._children and not vars(fresh)
            assert not fresh._arguments_int and not fresh._relations
            with fresh: pass
            kept = [ai.compute.step(step=j) for j in range(20)]
            assert [node._arguments_int["step"][1] for node in kept] == list(range(20))
            kept[0].ring = kept
            del kept, fresh
            gc.collect()
        """,
        tmp_path,
    )
    backward = [event for event in trace.user_events() if event["name"] == "backward"]
    assert len(backward) == 20
    assert all(not {"step", "a", "b", "c"} & set(event["args"]) for event in backward)


if __name__ == "__main__":
    main(__file__)
