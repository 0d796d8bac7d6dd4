# SPDX-License-Identifier: GPL-2.0-only
"""Asks src/agent/qualname.c for the names of code objects, as the agent does, and prints as JSON what it got wrong.

    python3.6 qualnames.py LIBRARY told|heap|dead

told: each code object as it begins to run (sys.setprofile), while the standard library is imported; then every function
that came to be is asked for. heap: the same functions, but nothing was told before. dead: code objects that die, whose
addresses are used again.
"""
import ctypes
import gc
import json
import pkgutil
import sys
import types

LIBRARY = ctypes.PyDLL(sys.argv[1])
LIBRARY.qualname_probe_init.restype = ctypes.c_bool
LIBRARY.qualname_probe_ask.restype = ctypes.py_object
LIBRARY.qualname_probe_ask.argtypes = [ctypes.py_object]
LIBRARY.qualname_probe_search.restype = None
LIBRARY.qualname_probe_search.argtypes = [ctypes.c_bool]
LIBRARY.qualname_probe_count.restype = ctypes.c_ulong
LIBRARY.qualname_probe_clear.restype = None
ask = LIBRARY.qualname_probe_ask
assert LIBRARY.qualname_probe_init()

# Modules that talk, wait, change the interpreter for all others or end it when they are imported.
LEFT_OUT = {"antigravity", "this", "idlelib", "lib2to3", "test", "tkinter", "turtle", "turtledemo", "__main__",
            "pip", "setuptools", "distutils", "_distutils_hack", "pkg_resources", "site", "sitecustomize", "ensurepip"}

# Every way to make a code object: name, and what its function or frame says.
SHAPES = '''
import sys
seen = []

def note(expected):
    seen.append((sys._getframe(1).f_code, expected))

def plain(a, b=1, *, c: int = 2) -> int:
    note("plain")
    def inner():
        note("plain.<locals>.inner")
        return a, b, c
    inner()
    return lambda: note("plain.<locals>.<lambda>")
plain(1)()

class Outer:
    note("Outer")
    class Inner(object, metaclass=type):
        note("Outer.Inner")
        def method(self):
            note("Outer.Inner.method")
            class Local:
                note("Outer.Inner.method.<locals>.Local")
                self_of_outer = self
                __slots__ = ()
                def __mangled(self):
                    note("Outer.Inner.method.<locals>.Local.__mangled")
                    return __class__
                def run(self):
                    self.__mangled()
            Local().run()
        @staticmethod
        def static():
            note("Outer.Inner.static")
        @property
        def prop(self):
            note("Outer.Inner.prop")
    def make_global(self):
        global made_global
        def made_global():
            note("made_global")
Outer.Inner().method()
Outer.Inner.static()
Outer.Inner().prop
Outer().make_global()
made_global()

def comprehensions():
    [note("comprehensions.<locals>.<listcomp>") for _ in (1,)]
    {note("comprehensions.<locals>.<setcomp>") for _ in (1,)}
    {1: note("comprehensions.<locals>.<dictcomp>") for _ in (1,)}
    list(note("comprehensions.<locals>.<genexpr>") for _ in (1,))
comprehensions()

def generator():
    note("generator")
    yield [note("generator.<locals>.<listcomp>") for _ in (1,)]
list(generator())

async def coroutine():
    note("coroutine")
try:
    coroutine().send(None)
except StopIteration:
    pass
x = [lambda: note("<lambda>"), lambda y=1: note("<lambda>")]
x[0](), x[1]()
LOTS
def after_many_constants():
    note("after_many_constants")
    class Body:
        note("after_many_constants.<locals>.Body")
    (lambda: note("after_many_constants.<locals>.<lambda>"))()
after_many_constants()
'''.replace("LOTS", "\n".join("v%d = %d.5" % (n, n) for n in range(70000)))


def functions():
    """The functions whose name says how they were made."""
    for function in [o for o in gc.get_objects() if isinstance(o, types.FunctionType)]:
        name, code = function.__qualname__, function.__code__
        if "__wrapped__" not in function.__dict__ and name.split(".")[-1] == code.co_name == function.__name__:
            yield code, name


def compare(pairs):
    """Asks for each once. dataclasses and namedtuple overwrite the names of what they make, of one code object with many
    names or from a string; 3.11's co_qualname, too, is then the name from before."""
    names = {}
    for code, name in pairs:
        names.setdefault(id(code), (code, set()))[1].add(name)
    names = {key: value for key, value in names.items()
             if len(value[1]) == 1 and not value[0].co_filename.startswith("<")}
    wrong = [(str(code), ask(code), sorted(expected)) for code, expected in names.values() if ask(code) not in expected]
    return {"checked": len(names), "nested": sum("." in ask(code) for code, _ in names.values()), "wrong": wrong}


def tell(frame, event, _):
    if event == "call":
        ask(frame.f_code)


def import_library():
    for module in sorted(module.name for module in pkgutil.iter_modules() if module.name not in LEFT_OUT):
        try:
            __import__(module)
        except (Exception, SystemExit):
            pass


def run_shapes():
    namespace = {"__name__": "shapes"}
    exec(compile(SHAPES, "shapes.py", "exec"), namespace)
    return namespace["seen"]


def told():
    before = {id(code) for code, _ in functions()}
    keep = [code for code, _ in functions()]
    LIBRARY.qualname_probe_search(False)
    sys.setprofile(tell)
    import_library()
    shapes = run_shapes()
    sys.setprofile(None)
    return {"library": compare((code, name) for code, name in functions() if id(code) not in before),
            "shapes": compare(shapes), "kept": len(keep)}


def heap():
    import_library()
    shapes = run_shapes()
    pairs = list(functions())
    wrong = {code: ask(code) for code, _ in pairs}
    return {"library": compare(pairs), "asked": len(wrong), "shapes": compare(shapes)}


def dead():
    """Every round the same names, the same lines, other parents; the memory is that of the round before."""
    LIBRARY.qualname_probe_search(False)
    wrong, addresses, counts = [], set(), []
    for n in range(20000):
        # Every third parent is never told of: the plain name is right, another's is not.
        module = compile("class C%d:\n def method(self):\n  return %d\n" % (n, n), "dead.py", "exec")
        namespace = {"__name__": "dead"}
        if n % 3:
            sys.setprofile(tell)
        exec(module, namespace)
        sys.setprofile(None)
        code = namespace["C%d" % n].method.__code__
        addresses.add(id(code))
        expected = "C%d.method" % n if n % 3 else "method"
        if ask(code) != expected:
            wrong.append((ask(code), expected))
        counts.append(LIBRARY.qualname_probe_count())
        del module, namespace, code
    LIBRARY.qualname_probe_clear()
    return {"rounds": n + 1, "addresses": len(addresses), "entries": max(counts), "wrong": wrong,
            "cleared": LIBRARY.qualname_probe_count()}


print(json.dumps({"told": told, "heap": heap, "dead": dead}[sys.argv[2]]()))
