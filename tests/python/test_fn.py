"""test_fn.py - dft_fn: blocks, decorators, loops, values."""

from harness import arguments_of, main, one, run


def test_block_has_what_it_has_when_it_ends(tmp_path):
    trace = one(
        """
        with dft_fn("c", "named", epoch=1, step="7", image_idx=True, image_size=224) as f:
            assert f.update(step=8, args={"a": 1, "b": True, "c": 0.5, "d": None, "e": (1, 2), "f": "t"}) is f
        def function():
            with dft_fn("c"): return 1
        function()
        with dft_fn("c"): pass
        try:
            with dft_fn("c", "raises"): raise KeyError("k")
        except KeyError: pass
        """,
        tmp_path,
    )
    assert arguments_of(trace.named("named")[0]) == {
        "epoch": 1,
        "step": 8,
        "image_idx": 1,
        "image_size": 224,
        "a": 1,
        "b": 1,
        "c": 0.5,
        "d": "None",
        "e": "(1, 2)",
        "f": "t",
    }
    assert len(trace.named("function")) == len(trace.named("<module>")) == 1
    assert arguments_of(trace.named("raises")[0]) == {"exc": "KeyError"}


def test_values_are_converted_and_never_raise(tmp_path, monkeypatch):
    monkeypatch.delenv("DFT_TRACELINT", raising=False)  # it wants numbers; here some are texts on purpose
    trace = one(
        """
        class Hostile:
            def __str__(self): raise RuntimeError
            __int__ = __float__ = __str__
        hostile = Hostile()
        with dft_fn("c", "n", image_idx=hostile, image_size=(224, 224)) as f:
            f.update(args={"x": hostile, 5: 6, "tag": TagValue("12"), "huge": 2**80, "nul": "a\\0b"})
            f.update(args={"int": TagValue("12", TagDType.INT, TagType.VALUE), "\\udc80": "\\udcff",
                           "float": TagValue("1.5", TagDType.FLOAT)})
            f.update(args=5)
            f.update(image_idx=None)
        with dft_fn("c", "text", image_idx="no number"), dft_fn("c", "big", image_idx=2**70): pass
        assert f._arguments_int["int"] == (0, 12) and f._arguments_string["image_size"] == (0, "(224, 224)")
        assert f._arguments_float["float"] == (0, 1.5)
        assert TagValue("7", TagDType.INT).value() == (0, 7) and int(TagType.IGNORE) == 2 and int(TagDType.STRING) == 2
        """,
        tmp_path,
    )
    values = arguments_of(trace.named("n")[0])
    assert values["image_size"] == "(224, 224)" and trace.values("big", "image_idx") == [str(2**70)]
    assert trace.values("text", "image_idx") == ["no number"]
    assert values["5"] == 6 and values["tag"] == "12" and values["int"] == 12 and values["huge"] == str(2**80)
    assert "Hostile" in values["image_idx"] and "Hostile" in values["x"]


def test_scalars_of_other_libraries_are_numbers(tmp_path):
    trace = one(
        """
        import numpy as np
        class Tensor:                                       # as torch has it
            def __init__(self, ndim, value): self.ndim, self.value = ndim, value
            def item(self): return self.value
            def __str__(self): return "text"
        class Meta(Tensor):
            def item(self): raise RuntimeError
        with dft_fn("c", "n") as f:
            f.update(args={"f32": np.float32(0.5), "f64": np.float64(0.5), "i8": np.int8(-7), "u64": np.uint64(2**63),
                           "bool": np.bool_(True), "array": np.array(3), "vector": np.zeros(2), "str": np.str_("s"),
                           "complex": np.complex64(1), "loss": Tensor(0, 0.25), "hit": Tensor(0, True),
                           "matrix": Tensor(2, 1), "meta": Meta(0, 1), "huge": Tensor(0, 2**80)})
        """,
        tmp_path,
    )
    numbers = {"f32": 0.5, "f64": 0.5, "i8": -7, "u64": 2**63, "bool": 1, "array": 3, "loss": 0.25, "hit": 1}
    texts = {"vector": "[0. 0.]", "str": "s", "complex": "(1+0j)", "matrix": "text", "meta": "text", "huge": "text"}
    assert arguments_of(trace.named("n")[0]) == {**numbers, **texts}


def test_unknown_keywords_are_refused_with_those_that_exist(tmp_path):
    program = """
        from dftracer.python import ai, dft_fn
        for call, known in ((ai.update, ""), (dft_fn("c", "n").update, ""), (ai.compute.forward, " and enable")):
            for word in ("loss", "fn" if not known else "epochs", "enable" if not known else "lr"):
                try: call(**{word: 1})
                except TypeError as error: text = str(error)
                else: raise AssertionError(word)
                assert f"'{word}'" in text and "epoch, step, image_idx, image_size" in text, text
                assert text.endswith('args={"%s": ...} records values of your own' % word) and known in text, text
        """
    run(program, tmp_path)
    run(program, tmp_path, DFTRACER_ENABLE="0")


def test_calls_take_their_parameters_by_name(tmp_path):
    trace = one(
        """
        from dftracer.python import EntityRelation, TagDType, TagType, TagValue
        f = dft_fn(cat="c", name="n", epoch=1, step=2, image_idx=3, image_size=4, enable=True)
        f.log(func=lambda: 1, name="a")(); f.log_static(func=lambda: 1, name="b")()
        f.log_init(init=lambda: 1, name="i")()
        for _ in f.iter(func=[1], name="loop", iter_name="step"): pass
        tagged = TagValue("9", TagDType.INT, TagType.VALUE)
        with f.update(epoch=5, step=6, image_idx=7, image_size=8, args={"k": tagged}):
            f.relate(relation=EntityRelation.USED, entity=17)
            f.relate_entity(relation=EntityRelation.USED, type="t", key="k", store=1, uri="u")
            f.uses(type="t", key="k", store=1, uri="u"); f.generates(type="t", key="k", store=1, uri="u")
        assert f._arguments_int["k"] == (0, 9)  # the tag is dropped
        f.log_metadata(key="k", value="v")
        ai.compute.update(epoch=1, step=2, image_idx=3, image_size=4, args={"k": 1})
        ai.compute.create_children(names={"own": "event"})
        names = {"iter_name": "x", "block_name": "y"}
        for _ in ai.compute.own.iter(iterator=[1], include_block=True, include_iter=True, **names): pass
        ai.compute(fn=lambda: 1, enable=True, epoch=2, step=3, image_idx=4, image_size=5, args={})()
        ai.compute.start(metadata=False); ai.compute.stop(metadata=False); ai.compute.derive(name="d")
        ai.compute.init(fn=lambda: 1)()
        """,
        tmp_path,
    )
    names = {event["name"] for event in trace.user_events()}
    assert names == {"CM", "EH", "a", "b", "compute", "compute.init", "i", "loop.iter", "loop.yield", "n", "x", "y"}


def test_flush_and_reset(tmp_path):
    trace = one(
        """
        with dft_fn("c", "twice", epoch=1) as f:
            assert f.flush() is f and f._flush
            assert f.reset() is f and not f._flush
        with dft_fn("c", "once") as f: f.flush()
        with dft_fn("c", "restarted") as f: f.reset()
        dft_fn("c", "outside").reset().update(step=2).flush()
        import time
        f = dft_fn("c", "again")
        for _ in range(2): time.sleep(0.001); f.flush()  # both from the start
        g = dft_fn("c", "later"); time.sleep(0.001)
        with g: pass
        g.flush()  # from the start of the block
        """,
        tmp_path,
        overlap=True,
    )
    (first, second), (block, later) = trace.named("again"), trace.named("later")
    assert first["ts"] == second["ts"] and later["ts"] >= block["ts"]
    assert [len(trace.named(name)) for name in ("twice", "once", "restarted", "outside")] == [2, 1, 1, 1]
    assert trace.values("twice", "epoch") == [1, 1] and trace.values("outside", "step") == [2]


def test_decorators_in_their_three_forms(tmp_path):
    trace = one(
        """
        d = dft_fn("c")
        @d.log
        def one(x, y=2, *, z=3): "doc"; return x + y + z
        @d.log()
        def two(): return 2
        @d.log(name="three.named")
        def three(): return 3
        assert one(1) == 6 and two() == 2 and three() == 3
        assert one.__name__ == "one" and one.__doc__ == "doc" and one.__wrapped__(1) == 6
        class Model:
            @d.log_init
            def __init__(self, epoch=None, step=4): self.epoch = 9; return None
            @d.log_static
            @staticmethod
            def first(x): return x
            @staticmethod
            @d.log_static(name="second.named")
            def second(x): return x
            @d.log
            @staticmethod
            def third(x): return x
            @d.log
            @classmethod
            def fourth(cls, step): return cls, step
            @property
            @d.log
            def fifth(self): return 5
        model = Model()
        assert model.first(1) == Model.first(1) == model.second(1) == Model.second(1) == Model.third(1) == 1
        assert Model.fourth(6) == (Model, 6) and model.fifth == 5
        """,
        tmp_path,
    )
    names = [event["name"] for event in trace.user_events()]
    assert names == [
        "one",
        "two",
        "three.named",
        "Model.__init__",
        "Model.first",
        "Model.first",
        "second.named",
        "second.named",
        "Model.third",
        "Model.fourth",
        "Model.fifth",
    ]
    assert arguments_of(trace.named("Model.__init__")[0]) == {"step": 4}
    assert arguments_of(trace.named("Model.fourth")[0]) == {"step": 6}
    assert arguments_of(trace.named("Model.fifth")[0]) == {"epoch": 9}


def test_log_records_the_values_in_effect_for_this_call(tmp_path):
    trace = one(
        """
        d = dft_fn("c", "d", image_size=5)
        @d.log
        def plain(epoch, other, step=4, *, image_idx=None): return epoch
        plain(1, 2); plain(1, 2, 3, image_idx=6); plain(other=1, epoch=2)
        assert d._arguments_int["epoch"][1] == 2 and d._arguments_int["step"][1] == 4
        @d.log
        def unrelated(x, **kw): return kw
        unrelated(1, epoch=5)
        class Object:
            epoch, step = 7, None
            @d.log
            def method(self, epoch=None): return self
        Object().method(); Object().method(8)
        bound = d.log(Object().method.__get__(Object()))
        import functools
        d.log(functools.partial(plain.__wrapped__, 9, 9))()
        d.log(len)([]); d.log(lambda: 0)()
        @d.log
        def fails(step): raise ValueError
        try: fails(1)
        except ValueError: pass
        """,
        tmp_path,
    )
    size = {"image_size": 5}
    calls = [arguments_of(event) for event in trace.named("plain")]
    assert calls == [
        {**size, "epoch": 1, "step": 4},
        {**size, "epoch": 1, "step": 3, "image_idx": 6},
        {**size, "epoch": 2, "step": 4},
        size,
    ]
    assert arguments_of(trace.named("unrelated")[0]) == size
    assert trace.values("Object.method", "epoch") == [7, 8] and "step" not in trace.named("Object.method")[0]["args"]
    assert arguments_of(trace.named("fails")[0]) == {**size, "step": 1, "exc": "ValueError"}
    assert trace.named("len") and trace.named("<lambda>")


def test_loop_has_two_events_an_item(tmp_path):
    trace = one(
        """
        d = dft_fn("c", epoch=5)
        order = []
        for item in d.iter([10, 20]):
            order.append(item)
            assert d._arguments_int == {"step": (0, len(order))}
        for item in d.iter(range(3), name="own", iter_name="count"):
            d.update(step=item)
            if item == 1: break
        assert order == [10, 20]
        @d.log
        def generator():
            yield from (1, 2)
        assert list(generator()) == [1, 2]
        """,
        tmp_path,
    )
    names = [event["name"] for event in trace.user_events()]
    assert names[:8] == ["loop.iter", "loop.yield"] * 2 + ["own.iter", "own.yield", "own.iter.cut", "own.yield.cut"]
    assert trace.values("loop.iter", "step") == [1, 2]
    loop = [arguments_of(event) for event in trace.user_events()[4:8]]
    assert loop == [{"count": 1}, {"count": 1, "step": 0}, {"count": 2, "step": 0}, {"count": 2, "step": 1}]
    assert names[8:] == ["generator"] and "epoch" not in trace.named("loop.iter")[0]["args"]


def test_inert_when_disabled(tmp_path):
    program = """
        import os, sys
        from dftracer.python import dft_fn, dftracer
        log = dftracer.initialize_log(sys.argv[1] + "/x.pfw")
        d = dft_fn("c", "n", epoch=1{extra})
        with d as f: assert f is d and f.update(step=1) is d and f.flush() is d and f.reset() is d
        assert d.log(lambda x: x)(3) == 3 and list(d.iter([1, 2])) == [1, 2] and d._arguments_int == {{}}
        assert not d.flush()._flush and d.uses("t", "k") == 0 and d._relations == {{}}
        class A:
            @d.log_init
            def __init__(self): self.x = 1
        assert A().x == 1
        d.log_metadata("k", "v")
        log.finalize()
        assert os.listdir(sys.argv[1]) == ["program.py"]
        """
    run(program.format(extra=", enable=False"), tmp_path)
    run(program.format(extra=""), tmp_path, DFTRACER_ENABLE="0")


def test_entities(tmp_path):
    trace = one(
        """
        log.declare_entity_type("raw", EntityRole.INPUT, "An input")
        log.declare_entity_type("raw", EntityRole.INPUT, "An input")
        with dft_fn("c", "transform") as f:
            a = f.uses("raw", "s-0"); b = f.uses("raw", 1); out = f.generates("protein_structure", "MGYP0001", 3, "/p")
            f.relate(EntityRelation.CONTAINS, a); f.relate(EntityRelation.USED, 0)
            assert f.relate_entity(EntityRelation.UPDATED, "raw", "s-0") == a
        assert f"{out:016x}" == "8f0de68c04eea0bf"
        log.relate_entities(EntityRelation.CONTAINS, a, b)
        log.relate_entities(EntityRelation.USED, a, b); log.relate_entities(EntityRelation.CONTAINS, a, 0)
        with dft_fn("c", "other") as f:
            f.uses("raw", "s-0"); f.reset()
        g = dft_fn("c", "flushed")
        g.uses("raw", 1); g.flush(); g.reset(); g.flush()
        @g.log
        def logged(key, error=None):
            g.uses("raw", key)
            if error: raise error
        logged("s-0"); logged(1)
        try: logged("s-0", KeyError("k"))
        except KeyError as error: assert error.args == ("k",)
        for key in g.iter(("s-0", 1)): g.uses("raw", key)
        print(f"{a:016x} {b:016x}")
        log.declare_entity("t" * 40, "k", EntityStore.DATABASE, "s3://x?" + "u" * 300)
        log.declare_entity_type("odd (type)", EntityRole.OUTPUT, "d" * 300)
        """,
        tmp_path,
    )
    from harness import record

    a, b = record.stdout.split()
    assert arguments_of(trace.named("transform")[0]) == {
        "used": f"{a},{b}",
        "generated": "8f0de68c04eea0bf",
        "updated": a,
    }

    def used(name):
        return [event["args"].get("used") for event in trace.named(name)]

    assert used("other") == [None] and used("flushed") == [b, None] and used("logged") == [a, b, a]
    assert used("loop.iter") == [None, None] and used("loop.yield") == [a, b]
    assert len(trace.named("EH")) == 4 and len(trace.named("ET")) == 2 and len(trace.named("ER")) == 1
    long, odd = trace.named("EH")[-1]["args"], trace.named("ET")[-1]["args"]
    assert (long["type"], long["store"], long["uri"]) == ("t" * 31, 6, ("s3://x_" + "u" * 300)[:255])
    assert (odd["type"], odd["role"], odd["description"]) == ("odd _type_", 2, "d" * 255)


if __name__ == "__main__":
    main(__file__)
