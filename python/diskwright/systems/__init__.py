"""Systems that papers describe, one file each: `diskwright reproduce` runs them again."""

from importlib import import_module, util
from pathlib import Path

from diskwright._engine import InputError
from diskwright.reproduce import System

SYSTEMS: tuple[str, ...] = ("atca", "clustering", "dual-actuator", "flash-backed", "smart-response")
"""The names of all; that of a file has underscores for dashes, and in it the system is called SYSTEM."""


def system(name: str) -> System:
    """A system by its name, or by the path of a file of one's own that ends in .py."""
    if name.endswith(".py"):
        return _of_file(Path(name))
    if name not in SYSTEMS:
        accepted = f"accepted: {', '.join(SYSTEMS)}; or" if SYSTEMS else "accepted:"
        raise InputError(
            f"error: unknown system {name!r}\n"
            f"  = help: {accepted} the path of a file with a SYSTEM, which ends in .py"
        )
    found = import_module(f"diskwright.systems.{name.replace('-', '_')}").SYSTEM
    assert isinstance(found, System), name
    return found


def _of_file(path: Path) -> System:
    if not path.is_file():
        raise InputError(f"error: cannot read {path}: there is no such file")
    spec = util.spec_from_file_location(f"diskwright_system_{path.stem}", path)
    assert spec is not None and spec.loader is not None, "a path that ends in .py has a loader"
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = getattr(module, "SYSTEM", None)
    if not isinstance(found, System):
        raise InputError(f"error: {path} has no SYSTEM: expected SYSTEM = diskwright.reproduce.System(…)")
    return found
