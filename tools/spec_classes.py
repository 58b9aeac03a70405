"""Writes `python/diskwright/spec.py` from the engine's own schema of a spec.

python tools/spec_classes.py            writes it
python tools/spec_classes.py --check    fails where it is not what would be written
"""

import json
import keyword
import re
import subprocess
import sys
import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import diskwright

TARGET = Path(__file__).resolve().parent.parent / "python" / "diskwright" / "spec.py"

HEAD = '''\
"""A spec as typed objects: one class for each table and each policy with parameters.

>>> from diskwright.spec import Hdd, Host, Poisson, Queue, Spec, Synthetic, Workload
>>> spec = Spec(
...     workload=Workload(synthetic=Synthetic(requests=1_000, arrivals=Poisson("20 ms"), reads=0.67)),
...     device=Hdd(drive="ibm-18es", queue=Queue(depth=32, scheduler="satf")),
... )
>>> spec.replace(host__outstanding=8).host
Host(outstanding=8, scheduler=None)

Made by `tools/spec_classes.py` from the engine's schema: change the engine, not this file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

from diskwright._typed import Document, DrivePath, FilePath, Table
'''

# Names that say more to users of Python than those of the engine.
NAMES = {"LoadSpec": "Synthetic", "SyntheticSpec": "Load", "SizeSpec": "Sizes", "DeviceChoice": "TraceDevice"}
# Names in a choice that another choice has with other parameters: their classes have the engine's names.
OWN_NAMES = {
    "UniformGaps",
    "NoCleaning",
    "NoMetadata",
    "FixedTimeouts",
    "AdaptiveTimeout",
    "OracleTimeout",
    "RedirectBySize",
    "UniformDistribution",
    "NormalDistribution",
    "ExponentialDistribution",
    "PoissonDistribution",
    "TwoValueDistribution",
}
SUFFIXES = ("Spec", "Params", "Options")


@dataclass
class Class:
    name: str
    docs: list[str]
    base: str = "Table"
    names: list[str] = field(default_factory=list)
    """Of a choice."""
    is_value: bool = False
    fields: list[tuple[str, str, str, bool]] = field(default_factory=list)
    """Name, type, description, whether it is needed."""


def natural(name: str) -> list[str | int]:
    """The key by which names are in order that differ in a number."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


class Writer:
    def __init__(self, schema: dict[str, Any]) -> None:
        self.definitions: dict[str, Any] = schema.pop("definitions")
        self.classes: dict[str, Class] = {}
        self.aliases: dict[str, tuple[str, str]] = {}
        self.root = schema

    def module(self) -> str:
        self.table("Spec", self.root).base = "Document"
        names = sorted([*self.classes, *self.aliases], key=natural)
        parts = [HEAD, f"__all__ = {json.dumps(names)}\n"]
        parts += [written(found) for found in self.classes.values()]
        for name, (kind, doc) in self.aliases.items():
            parts.append(f"{name}: TypeAlias = {kind}\n{docstring(doc, '')}\n")
        return "\n".join(parts)

    def table(self, name: str, schema: dict[str, Any]) -> Class:
        """The class of a table."""
        if name in self.classes:
            return self.classes[name]
        found = self.classes[name] = Class(name, [schema["description"]])
        self.fill(found, schema)
        return found

    def fill(self, found: Class, schema: dict[str, Any]) -> None:
        assert schema["type"] == "object" and schema["additionalProperties"] is False, found.name
        needed = schema.get("required", [])
        for key, value in sorted(
            schema.get("properties", {}).items(), key=lambda item: item[0] not in needed
        ):
            name = f"{key}_" if keyword.iskeyword(key) else key.replace("-", "_")
            doc = value["description"]
            if "default" in value and not isinstance(value["default"], dict):
                doc += f" Default: {json.dumps(value['default'], ensure_ascii=False)}."
            found.fields.append((name, self.kind(value), doc, key in needed))

    def kind(self, schema: dict[str, Any]) -> str:
        """The type of a value."""
        match schema:
            case {"format": "path"}:
                return "FilePath"
            case {"format": "drive"}:
                return "DrivePath"
            case {"format": "buffer"}:
                return "bool | Mapping[str, Any]"
            case {"format": "vary"}:
                return "Mapping[str, Any]"
            case {"$ref": reference} | {"allOf": [{"$ref": reference}]}:
                return self.named(reference.removeprefix("#/definitions/"))
            case {"anyOf": options}:
                kinds = [self.kind(option) for option in options if "pattern" not in option]
                return " | ".join(dict.fromkeys(kinds))
            case {"oneOf": options}:
                return self.choice(options)
            case {"type": "string", "enum": names}:
                return literal(names)
            case {"type": "array", "items": [first, *others]}:
                # A pair, say: all are alike.
                assert all(other == first for other in others), schema
                return f"Sequence[{self.kind(first)}]"
            case {"type": "array", "items": items}:
                return f"Sequence[{self.kind(items)}]"
            case {"type": kind}:
                return {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}[kind]
        raise ValueError(f"no type for {schema}")

    def named(self, name: str) -> str:
        """The type of a definition."""
        schema = self.definitions[name]
        python = NAMES.get(name) or name
        for suffix in SUFFIXES:
            python = python.removesuffix(suffix)
        match schema:
            case {"type": "object"}:
                return self.table(python, schema).name
            case {"type": "integer" | "number"}:
                return self.kind(schema)
        if python not in self.aliases:
            # Known before its parts, which may name it, and written after them.
            self.aliases[python] = ("", "")
            kind = self.kind(schema)
            del self.aliases[python]
            self.aliases[python] = (kind, "\n\n".join([schema["description"], *named(schema)]))
        return python

    def choice(self, options: list[dict[str, Any]]) -> str:
        """The union of a choice by name."""
        bare = [option["const"] for option in options if "const" in option]
        kinds: list[str] = []
        seen: dict[str, Class] = {}
        for option in options:
            match option:
                case {"const": _}:
                    pass
                case {"type": "object", "properties": properties}:
                    ((name, parameters),) = properties.items()
                    reference = parameters.get("$ref", "")
                    # A second name for the same parameters is another name of the same choice.
                    if reference in seen and seen[reference].docs[0] == option["description"]:
                        seen[reference].names.append(name)
                        continue
                    made = self.variant(name, option["description"], parameters)
                    seen[reference] = made
                    kinds.append(made.name)
                case _:
                    kinds.append(self.kind(option))
        return " | ".join([literal(bare), *kinds] if bare else kinds)

    def variant(self, name: str, doc: str, parameters: dict[str, Any]) -> Class:
        python = "".join(part.capitalize() for part in name.split("-"))
        reference = parameters.get("$ref", "").removeprefix("#/definitions/")
        if reference in OWN_NAMES or not python.isidentifier():
            # "2q": the engine has had to find a name for it, too.
            python = reference
        definition = self.definitions.get(reference, {})
        made = Class(python, [doc], names=[name])
        if definition.get("type") == "object":
            made.docs.append(definition["description"])
        else:
            made.is_value = True
            made.fields.append(("value", self.kind(parameters), "", True))
        if (known := self.classes.get(python)) is not None:
            # The same name may stand in two choices, if it takes the same.
            if not made.is_value:
                self.fill(made, definition)
            assert known.is_value == made.is_value and known.fields == made.fields, python
            known.docs += made.docs
            return known
        self.classes[python] = made
        if not made.is_value:
            self.fill(made, definition)
        return made


def named(schema: dict[str, Any]) -> list[str]:
    """What the names of a choice stand for, where no class says it."""
    options = schema.get("oneOf", [])
    classes = {name for option in options for name in option.get("properties", {})}
    names = [option for option in options if "const" in option and option["const"] not in classes]
    return [f"`{option['const']}`: {option['description']}" for option in names]


def literal(names: list[str]) -> str:
    return f"Literal[{', '.join(json.dumps(name) for name in names)}]"


def docstring(text: str, indent: str) -> str:
    paragraphs = [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]
    width = 106 - len(indent)
    lines = "\n\n".join("\n".join(textwrap.wrap(paragraph, width)) for paragraph in paragraphs)
    raw = "r" if "\\" in lines else ""
    mark = '"""'
    body = lines if len(lines) < width - 6 and "\n" not in lines else f"{lines}\n"
    if body.endswith('"'):
        body += "\n"
    return textwrap.indent(f"{raw}{mark}{body}{mark}", indent)


def written(found: Class) -> str:
    order = "" if found.is_value else ", kw_only=True"
    lines = [
        f"@dataclass(frozen=True, slots=True{order})",
        f"class {found.name}({found.base}):",
        docstring("\n\n".join(dict.fromkeys(found.docs)), "    "),
        "",
    ]
    if found.names:
        names = ", ".join(json.dumps(name) for name in found.names)
        lines.append(f"    _names: ClassVar[tuple[str, ...]] = ({names},)")
    if found.is_value:
        lines.append("    _is_value: ClassVar[bool] = True")
    for name, kind, doc, needed in found.fields:
        lines.append(f"    {name}: {kind}" if needed else f"    {name}: {kind} | None = None")
        if doc:
            lines.append(docstring(doc, "    "))
    return "\n".join(lines) + "\n"


def main() -> None:
    made = Writer(diskwright.spec_schema()).module()
    ruff = [sys.executable, "-m", "ruff", "format", "--quiet", "--stdin-filename", str(TARGET), "-"]
    made = subprocess.run(ruff, input=made, text=True, capture_output=True, check=True).stdout
    if "--check" not in sys.argv[1:]:
        TARGET.write_text(made, encoding="utf-8")
    elif TARGET.read_text(encoding="utf-8") != made:
        sys.exit(f"{TARGET} is not what the engine's schema makes: run python tools/spec_classes.py")


if __name__ == "__main__":
    main()
