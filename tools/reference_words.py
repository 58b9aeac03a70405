"""How the reference words what a JSON schema of the engine's says."""

import re
from typing import Any

from diskwright import _toml

Schema = dict[str, Any]

# What begins the sentences of a policy's description.
_LABELS = re.compile(r"(?:^|(?<=[.;] ))(?=(?:Rule|Tie|Source|Weakness): )")


def reference(schema: Schema) -> str | None:
    """The definition that a schema refers to."""
    match schema:
        case {"$ref": name} | {"allOf": [{"$ref": name}]}:
            return str(name).removeprefix("#/definitions/")
    return None


def kind(schema: Schema) -> str:
    """What a plain value looks like."""
    match schema:
        case {"format": "path"}:
            return "path"
        case {"format": "drive"}:
            return "name or path"
        case {"format": "buffer"}:
            return "`true`, `false`, or keys of [a drive's buffer](drive.md#buffer)"
        case {"format": "vary"}:
            return "keys of the spec, by dotted path, each with a list of its values"
        case {"examples": examples}:
            return " or ".join(f"`{_toml.value(example)}`" for example in examples)
        case {"maxLength": 1}:
            return "character"
        case {"type": "number", "minimum": low, "maximum": high}:
            return f"number, {low:g} to {high:g}"
        case {"type": "boolean"}:
            return "`true`, `false`"
        case {"type": name}:
            return {"string": "text", "integer": "whole number", "number": "number"}[name]
    raise ValueError(f"no words for {schema}")


def heading(path: str, schema: Schema) -> str:
    """A path as it is written above what it holds."""
    plain = path.replace("[]", "")
    if "properties" not in schema:
        return plain
    return f"[[{plain}]]" if path.endswith("[]") else f"[{plain}]"


def braces(schema: Schema) -> str:
    return "{ " + ", ".join(f"{key} = …" for key in schema["properties"]) + " }"


def joined(above: str, key: str, mark: str = ".") -> str:
    return f"{above}{mark}{key}" if above else key


def slug(text: str) -> str:
    return re.sub(r"[^a-z0-9_]+", "-", text.lower()).strip("-")


def words(name: str) -> str:
    """`SignedTime` as `Signed time`."""
    return (
        "LBN" if name == "Lbn" else re.sub(r"(?<=[a-z])([A-Z])", lambda found: " " + found[1].lower(), name)
    )


def mark(anchor: str) -> str:
    return f'<a id="{anchor}"></a>'


def titled(level: int, title: str, anchor: str) -> str:
    """A heading, with its anchor where Markdown gives it another one."""
    own = re.sub(r"[^\w\s-]", "", title).strip().lower().replace(" ", "-")
    return f"{'#' * level} {mark(anchor) if anchor != own else ''}{title}"


def cell(text: str) -> str:
    """A description in a row of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def prose(text: str) -> str:
    """A description in paragraphs; labelled sentences become a list."""
    parts = []
    for paragraph in text.split("\n\n"):
        sentences = _LABELS.split(" ".join(paragraph.split()))
        labelled = [
            re.sub(r"^(\w+): ", r"- **\1:** ", sentence.strip()) for sentence in sentences if sentence.strip()
        ]
        parts.append("\n".join(labelled) if len(labelled) > 1 else "".join(labelled))
    return "\n\n".join(parts)


def plural(text: str) -> str:
    """Several of what is worded, if it is in words."""
    return re.sub(r"^(\[?)(whole number|number|text|table)(?=$|\])", r"\1\2s", text)
