"""What the shell completes: files, drives, formats, and the keys of specs with their values."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from typer import Context

from diskwright import _api

# Specs and drives have them alike.
_ENDINGS = (".toml", ".parv")

Complete = Callable[[str], list[str]]


def files(*endings: str) -> Complete:
    """Completes the names of files with these endings, of all files where there are none, and of folders."""

    def complete(incomplete: str) -> list[str]:
        folder, _, start = incomplete.rpartition("/")
        within = Path(f"{folder}/" if folder or incomplete.startswith("/") else ".")
        prefix = f"{folder}/" if "/" in incomplete else ""
        found = []
        try:
            entries = sorted(within.iterdir())
        except OSError:
            return []
        for entry in entries:
            is_hidden = entry.name.startswith(".") and not start.startswith(".")
            if is_hidden or not entry.name.startswith(start):
                continue
            if entry.is_dir():
                found.append(f"{prefix}{entry.name}/")
            elif not endings or entry.suffix.lower() in endings:
                found.append(prefix + entry.name)
        return found

    return complete


specs = files(*_ENDINGS)
traces = files()


def drive_names(incomplete: str) -> list[str]:
    """The drives that come with diskwright."""
    return _starting(_api.drives(), incomplete)


def drives(incomplete: str) -> list[str]:
    """The drives that come with diskwright, and files of others."""
    return [*drive_names(incomplete), *files(*_ENDINGS)(incomplete)]


def drives_unless_from_scratch(context: Context, incomplete: str) -> list[str]:
    """Drives, or, where none is given to start from, files of recordings."""
    return traces(incomplete) if context.params.get("from_scratch") else drives(incomplete)


def formats(incomplete: str) -> list[str]:
    """The formats of traces."""
    return _starting((found.name for found in _api.formats()), incomplete)


def systems(incomplete: str) -> list[str]:
    """The systems of papers, and files of others."""
    from diskwright.systems import SYSTEMS

    return [*_starting(SYSTEMS, incomplete), *files(".py")(incomplete)]


def settings(incomplete: str) -> list[str]:
    """`KEY=VALUE` of a spec: the next part of the key, then the values that are names."""
    return list(_settings(incomplete, several=False))


def variations(incomplete: str) -> list[str]:
    """`KEY=A,B` of a spec, in the same way."""
    return list(_settings(incomplete, several=True))


def _settings(incomplete: str, *, several: bool) -> Iterator[str]:
    schema = _api.spec_schema()
    key, equals, value = incomplete.partition("=")
    *path, last = key.split(".")
    node: list[Mapping[str, Any]] = [schema]
    for name in path if not equals else [*path, last]:
        node = _children(node, schema).get(name, [])
    if equals:
        before, _, start = value.rpartition(",") if several else ("", "", value)
        head = f"{key}={before}{',' if before else ''}"
        yield from (f"{head}{name}" for name in _starting(_values(node, schema, key), start))
        return
    head = "".join(f"{name}." for name in path)
    for name, child in _children(node, schema).items():
        if name.startswith(last):
            has_values = any(True for _ in _values(child, schema, name)) or not _children(child, schema)
            yield f"{head}{name}{'=' if has_values else '.'}"


def _forms(node: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """All forms that a value may have, with references followed."""
    if reference := node.get("$ref"):
        yield from _forms(schema["definitions"][reference.rpartition("/")[2]], schema)
    for word in ("allOf", "anyOf", "oneOf"):
        for inner in node.get(word, ()):
            yield from _forms(inner, schema)
    yield node


def _children(
    nodes: Iterable[Mapping[str, Any]], schema: Mapping[str, Any]
) -> dict[str, list[Mapping[str, Any]]]:
    """The keys of tables, each with what may stand there."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for node in nodes:
        for form in _forms(node, schema):
            for name, child in form.get("properties", {}).items():
                found.setdefault(name, []).append(child)
    return found


def _values(nodes: Iterable[Mapping[str, Any]], schema: Mapping[str, Any], key: str) -> Iterator[str]:
    """The names that a value may be."""
    if key.rpartition(".")[2] == "drive":
        yield from _api.drives()
    for node in nodes:
        for form in _forms(node, schema):
            named = [form["const"]] if "const" in form else form.get("enum", ())
            yield from dict.fromkeys(name for name in named if isinstance(name, str))
            if form.get("type") == "boolean":
                yield from ("true", "false")


def _starting(names: Iterable[str], start: str) -> list[str]:
    return [name for name in dict.fromkeys(names) if name.startswith(start)]
