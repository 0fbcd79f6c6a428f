"""Python imports this as it starts, where `schedscope run` has put this directory on PYTHONPATH.

It waits for the program to import jax, and installs the hook then: not before, because the program
sets XLA_FLAGS and JAX_PLATFORMS first. Otherwise nothing may differ, so this file imports nothing
until then (not even `__future__`, hence the quoted types), takes itself out of sys.path and
sys.modules, and is no frame of a program's traceback. Other Pythons that the program starts, older
ones perhaps, import it too.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any, NoReturn


class _Finder:
    """Finds jax as the other finders do, and has the hook installed once it has run."""

    def __init__(self, settings: str) -> None:
        self._settings = settings

    def find_spec(
        self, name: str, path: "Sequence[str] | None" = None, target: "ModuleType | None" = None
    ) -> "ModuleSpec | None":
        # The hook imports jax. A program that imports the hook first thus finishes jax before it.
        if name not in ("jax", "schedscope.hook"):
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            if find is None or finder is self:
                continue
            spec: ModuleSpec | None = find(name, path, target)
            if spec is not None:
                if spec.loader is not None:  # None: a directory that only happens to be called jax
                    loader: Any = _Loader(spec.loader, self._imported)
                    spec.loader = loader
                return spec
        return None

    def _imported(self, module: "ModuleType") -> None:
        import json

        settings = json.loads(self._settings)
        if module.__name__ == "jax":
            _import_hook(settings["library"])
        else:
            _install(module, settings)
            # In place, another thread's import would skip a finder.
            sys.meta_path = [finder for finder in sys.meta_path if finder is not self]


class _Loader:
    """Stands in for a module's loader until the module has run, and then calls `imported`."""

    exec_module: "Callable[[ModuleType], object]"

    def __init__(self, loader: "Any", imported: "Callable[[ModuleType], None]") -> None:
        self._loader = loader
        self._imported = imported

    def __getattr__(self, name: str) -> "Any":
        return getattr(self._loader, name)

    def create_module(self, spec: "ModuleSpec") -> "ModuleType":
        """Makes `exec_module`, too: of builtins, as a function in Python would be a frame in the
        traceback of an import that fails. It takes the next of endless runs of the module, and
        the filter is told of each when it is over."""
        from functools import partial
        from itertools import repeat

        module: ModuleType = self._loader.create_module(spec) or type(sys)(spec.name)
        runs = map(self._loader.exec_module, repeat(module))
        self.exec_module = partial(next, filter(lambda _: self._has_run(module), runs))
        return module

    def _has_run(self, module: "ModuleType") -> bool:
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._imported(module)
        return True


def _import_hook(library: "list[str]") -> None:
    """Imports the hook, from `library` if the program's own path does not lead to it."""
    added = [directory for directory in library if directory not in sys.path]
    sys.path += added
    try:
        import schedscope.hook  # noqa: F401
    except ImportError as error:
        _refuse(f"the hook cannot be imported: {error}")
    finally:
        for directory in added:
            sys.path.remove(directory)


def _install(hook: "ModuleType", settings: "dict[str, Any]") -> None:
    from schedscope import SchedscopeError, ScopeOptions

    options = ScopeOptions(
        every_call_site=settings["every_call_site"],
        keep_global=frozenset(settings["keep_global"]),
    )
    try:
        hook.install(options)
    except SchedscopeError as error:
        _refuse(str(error))


def _refuse(message: str) -> "NoReturn":
    """Ends the program. Should it catch SystemExit, the import of jax has failed all the same, so
    that nothing is compiled without the hook."""
    import threading

    print(f"schedscope: error: {message}", file=sys.stderr)
    if threading.current_thread() is threading.main_thread():
        raise SystemExit(2) from None
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(2)  # SystemExit would end this thread only


def _start() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if entry != here]
    sys.path_importer_cache.pop(here, None)
    settings = os.environ.get("SCHEDSCOPE_RUN")
    if settings is not None:
        sys.meta_path.insert(0, _Finder(settings))


_start()
# The sitecustomize that this one hides. Where there is none, the error is what Python expects.
del sys.modules[__name__]
__import__(__name__)
