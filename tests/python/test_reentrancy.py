"""test_reentrancy.py - names, values and ids that run code of the program, which changes what is being looked at.

Freed memory is overwritten (PYTHONMALLOC), so that what still uses it fails.
"""

import harness
from harness import main


def one(program, folder, **changes):
    return harness.one(program, folder, PYTHONMALLOC="debug", **changes)


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


def test_a_loop_that_its_iterator_closes(tmp_path):
    one(
        """
        import gc
        def closing(): loop.close(); gc.collect(); yield 1
        for make in (ai.compute.iter, dft_fn("cat", "n").iter):
            for i in range(50):
                loop = make(closing())
                assert list(loop) == [1]
        """,
        tmp_path,
    )


def test_a_loop_that_another_thread_closes(tmp_path):
    one(
        """
        import threading
        def slow(): inside.set(); closed.wait(); yield 1
        for i in range(20):
            inside, closed = threading.Event(), threading.Event()
            loop = ai.compute.iter(slow())
            def close(): inside.wait(); loop.close(); closed.set()
            other = threading.Thread(target=close); other.start()
            assert list(loop) == [1]
            other.join()
        """,
        tmp_path,
    )


def test_a_loop_that_a_redirected_event_closes(tmp_path):
    one(
        """
        from dftracer.dftracer import _redirect
        class Target:
            def get_time(self): return 1
            def log_event(self, **event): loop.close()
        for make in (ai.compute.iter, dft_fn("cat", "n").iter):
            loop = make([1, 2, 3])
            _redirect(Target())
            assert list(loop) == [1]
            _redirect(None)
        with ai.compute: pass
        """,
        tmp_path,
    )


def test_a_redirection_that_ends_itself(tmp_path):
    """While its get_time runs; and it asks for the time once more when it is freed."""
    one(
        """
        from dftracer.dftracer import _redirect
        said = []
        class Target:
            def get_time(self):
                _redirect(None)
                return id(self) > 0
            def __del__(self): said.append(ai.compute.get_time())
        _redirect(Target())
        assert ai.compute.get_time() is True
        _redirect(Target())
        _redirect(None)
        assert len(said) == 2 and min(said) > 1, said
        with ai.compute: pass
        """,
        tmp_path,
    )


def test_the_inside_of_an_asynchronous_loop(tmp_path):
    one(
        """
        async def items(): yield 1
        outer = ai.compute.iter(items())
        loop = outer.ag_frame.f_locals["loop"]
        try: next(loop)
        except TypeError as refused: assert "async_generator" in str(refused)
        else: raise SystemExit("no TypeError")
        with ai.compute: pass
        """,
        tmp_path,
    )


def test_blocks_that_are_entered_while_one_begins_or_ends(tmp_path):
    """The stack of blocks moves when it grows."""
    trace = one(
        """
        from dftracer.dftracer import _redirect
        other, f = ai.compute, dft_fn("cat", "n")
        class Entity:
            def __index__(self):
                for i in range(self.depth): other.start()
                for i in range(self.depth): other.stop()
                return 7
        class Target:
            depth = 0
            def enter_event(self): self.nest()
            def exit_event(self): self.nest()
            def nest(self):
                depth, self.depth = self.depth, 0
                for i in range(depth): other.start()
                for i in range(depth): other.stop()
            def get_time(self): return 1
            def log_event(self, **event): pass
        entity = Entity(); entity.depth = 100
        with f: f.relate(0, entity).flush()
        target = Target(); _redirect(target)
        target.depth = 500
        with f:
            target.depth = 3000
            f.reset()
        _redirect(None)
        """,
        tmp_path,
    )
    assert [event["name"] for event in trace.named("n")] == ["n"]
    assert not any("open" in event["args"] for event in trace.user_events())


def test_a_name_that_changes_during_its_event(tmp_path):
    one(
        """
        from dftracer.dftracer import _redirect
        f, node, names = dft_fn("cat", "n"), ai.compute.derive("x"), []
        def rename():
            f._name = "f" * 50; node._name = "n" * 50
            return 1
        class Target:
            def enter_event(self): rename()
            def exit_event(self): rename()
            def get_time(self): return rename()
            def log_event(self, **event): names.append(event["name"])
        @node
        def traced(): rename()
        _redirect(Target())
        for i in range(50):
            traced(); f.flush(); f.reset()
            with f: rename()
            with node: rename()
        _redirect(None)
        assert len(names) == 200 and set(map(type, names)) == {str}
        with f: pass
        """,
        tmp_path,
    )


def test_a_name_that_changes_at_the_first_event_of_a_child(tmp_path):
    traces = harness.record(
        """
        import os
        import dftracer.python.process as process
        f = dft_fn("cat", "n")
        def name_worker(): f._name = "renamed" * 20
        process.name_worker = name_worker
        with f: pass
        if not os.fork():
            with f: pass
            raise SystemExit
        assert os.wait()[1] == 0
        """,
        tmp_path,
        PYTHONMALLOC="debug",
    )
    names = sorted(event["name"] for trace in traces for event in trace.user_events())
    assert names == ["n", "renamed" * 20], names


def test_relations_that_change_while_they_are_used(tmp_path):
    one(
        """
        import gc
        f = dft_fn("cat", "n")
        class Entity:
            def __index__(self): held.clear(); gc.collect(); return 7
        class Key:
            def __hash__(self): return 3
            def __eq__(self, other): f.reset(); gc.collect(); return False
        for i in range(50):
            with f:
                held = f.relate(0, 1)._relations
                held[10 ** 20 + i] = [Entity(), Entity()]
                held[1] = [Entity(), Entity()]
            f.relate(0, 1)._relations[Key()] = []
            f.relate(3, 5)
            f.relate(0, 1)._relations[Key()] = []
            f.flush()
        """,
        tmp_path,
    )


def test_keys_of_values_that_change_the_values(tmp_path):
    one(
        """
        import gc
        f = dft_fn("cat", "n")
        class Key(str):
            is_on = False
            def __hash__(self):
                if Key.is_on: Key.is_on = False; list(f.iter([1])); gc.collect()
                return str.__hash__(self)
        for i in range(50):
            Key.is_on = False
            f = dft_fn("cat", "n"); f.update(args={Key(f"k{j}"): 10 ** 6 + j for j in range(3)})
            Key.is_on = True
            assert {type(key) for key in f._arguments_int} == {str}
        with f: pass
        """,
        tmp_path,
    )


def test_a_state_that_changes_while_it_is_loaded(tmp_path):
    one(
        """
        import gc
        class Value:
            def __str__(self): rows.clear(); gc.collect(); raise ValueError
        for i in range(50):
            rows = [(f"key {i} {j}", Value(), 0) for j in range(4)]
            node = ai.compute(step=1)
            node.__setstate__(("n", "c", 1, rows, None, None))
            assert node._arguments_string[f"key {i} 0"] == (0, "<Value>")
        with node: pass
        """,
        tmp_path,
    )


def test_a_collection_at_every_allocation(tmp_path):
    """Before Python 3.12 the garbage collector runs finalizers inside any call that makes an object."""
    one(
        """
        import gc, pickle
        f, node = dft_fn("cat", "n"), ai.compute.derive("root")
        class Ring:
            def __init__(self): self.ring = self
            def __del__(self):
                f._name, f._cat = "n" * 60, "c" * 60
                f.reset()
                node._children = {}
                node._name = "n" * 60
                node.__dict__ = {}
                Ring()
        gc.set_threshold(1)
        for i in range(300):
            Ring()
            f.relate(1, 2); f.flush()
            with f: f.relate(1, 2)
            node.derive("x"); node.update(epoch=i); node.enable()
            node.some = i
            f.update(args={f"key{i % 5}": "v" * 50})
            f._arguments_string, f._relations, node.profiler, node.init
            pickle.dumps(f), pickle.dumps(node), f.__getstate__(), node.__getstate__()
            for item in node.iter([1]): pass
            for item in f.iter([1]): pass
            node(step=i, args={"a": 10 ** 10})
        gc.set_threshold(700)
        """,
        tmp_path,
    )


def test_a_function_that_ends_during_its_call(tmp_path):
    trace = one(
        """
        import gc
        for wrap in (dft_fn("cat", "n").log, ai.compute):
            for i in range(50):
                def get(self, epoch=1):
                    value.__init__(None); gc.collect()
                    return 1
                value = property(wrap(get)); del get
                assert value.__get__(1) == 1
        """,
        tmp_path,
    )
    assert len(trace.user_events()) == 100


def test_callables_with_strange_parts(tmp_path):
    one(
        r"""
        from dftracer.dftracer import DFTracerAI
        class Code: co_varnames, co_argcount, co_kwonlyargcount = (1, "epoch", None), 10 ** 30, 2
        class Hostile:
            def __hash__(self): return hash("epoch")
            def __eq__(self, other): raise ValueError
        class Callable:
            __name__, __code__, __kwdefaults__ = "n", Code, {Hostile(): 1}
            def __call__(self): return 1
        class Name:
            def __bool__(self): raise ValueError
        f = dft_fn("cat", "n")
        assert f.log(Callable())() == 1
        Code.co_argcount = 0
        assert f.log(Callable())() == 1
        for item in f.iter([1], "loop", "\ud800"): pass
        for make in (lambda: dft_fn("cat", Name()), lambda: DFTracerAI(cat="c", name=Name()),
                     lambda: list(ai.compute.iter([1], iter_name=Name(), block_name=Name())),
                     lambda: f.relate(1, Name())):
            make()
        enter = [kind.__dict__["__enter__"] for kind in type(f).__mro__ if "__enter__" in kind.__dict__][0]
        try: enter.__get__(5)
        except TypeError: pass
        else: raise SystemExit("no TypeError")
        with f: pass
        """,
        tmp_path,
    )


if __name__ == "__main__":
    main(__file__)
