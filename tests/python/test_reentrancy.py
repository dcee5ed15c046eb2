"""test_reentrancy.py - names, values and ids that run code of the program, which changes what is being looked at."""

from harness import main, one


def test_a_name_that_renames(tmp_path):
    one(
        """
        f = dft_fn("cat", "n")
        class Name:
            def __init__(self, depth): self.depth = depth
            def __str__(self):
                if self.depth: f._name = Name(self.depth - 1)
                return "x" * 50
        for i in range(500): f._name = Name(3)
        with f: pass
        """,
        tmp_path,
    )


def test_a_view_that_is_asked_for_while_it_ends(tmp_path):
    one(
        """
        import gc, weakref
        node, kept = ai.compute(step=1), []
        for i in range(100):
            view = node.profiler
            gone = weakref.ref(view, lambda ref: kept.append(node.profiler))
            del view
        for view in kept:
            with view: pass
        kept.clear(); del view; gc.collect()
        """,
        tmp_path,
    )


def test_an_entity_that_resets(tmp_path):
    one(
        """
        import gc
        f = dft_fn("cat", "n")
        class Entity:
            def __index__(self): f.reset(); gc.collect(); return 7
        for i in range(100):
            with f:
                for k in range(4): f.relate(k, Entity())
        """,
        tmp_path,
    )


def test_keys_and_names_that_replace_the_children(tmp_path):
    one(
        """
        import gc
        node = ai.compute.derive("root")
        class Key(str):
            def __hash__(self): node._children = {}; gc.collect(); return 3
            def __eq__(self, other): node._children = {}; return False
        class Name:
            def __str__(self): node._children = {}; gc.collect(); return "zz"
        for i in range(50):
            node.create_children({Key(f"a{i}"): "x"})
            node.create_children({f"u{i}": Name()})
            node.derive(Name())
        with node: pass
        """,
        tmp_path,
    )


def test_an_attribute_that_runs_a_logged_coroutine(tmp_path):
    """While values are looked for, nothing that this runs into is recorded, or looks itself."""
    trace = one(
        """
        f = dft_fn("cat", "n")
        class Model:
            looks = 0
            @property
            def epoch(self):
                Model.looks += 1
                try: self.work().send(None)
                except StopIteration: pass
                return 1
            @f.log
            async def work(self): pass
            @f.log
            def plain(self): pass
        Model().plain()
        assert Model.looks == 1, Model.looks
        """,
        tmp_path,
    )
    assert [event["name"] for event in trace.user_events()] == ["Model.plain"]


def test_a_ring_through_a_value_is_collected(tmp_path):
    one(
        """
        import gc, weakref
        class Number(int): pass
        gone = []
        for i in range(100):
            number = Number(i)
            node = ai.compute(args={"x": number})
            number.node = node
            gone.append(weakref.ref(node))
        del number, node
        gc.collect()
        assert not any(ref() for ref in gone)
        with ai.compute: pass
        """,
        tmp_path,
    )


def test_a_key_that_cannot_be_encoded(tmp_path):
    one(
        r"""
        node = ai.compute(step=1)
        node.__setstate__(("n", "c", 1, [("\ud800", 1, 0)], None, None))
        with node: pass
        """,
        tmp_path,
    )


if __name__ == "__main__":
    main(__file__)
