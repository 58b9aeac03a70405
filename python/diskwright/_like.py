"""The schema of drives' files that are like another drive, from that of whole descriptions.

Such a file names the other drive and has any of the keys of a description. A key such as `zone[2]` is laid
over that element of a list, and `without` takes keys away. What has one form of several, as a seek curve,
stands whole.
"""

from copy import deepcopy
from typing import Any

Schema = dict[str, Any]

_DEFINITIONS = "#/definitions/"
_PARTIAL = "PartOf"
_LIKE: Schema = {
    "type": "string",
    "description": "The drive that this one is like: a name or a file. What is said here is laid over it.",
}
_WITHOUT: Schema = {
    "type": "array",
    "items": {"type": "string"},
    "description": "Keys of the other drive that this one has not, such as `buffer.read_ahead.most`.",
}


def with_like(whole: Schema) -> Schema:
    """The schema of files: those with a whole description, and those that are like another drive."""
    made = _Parts(whole)
    part = made.part_of(whole)
    part["properties"] = {"like": _LIKE, "without": _WITHOUT, **part["properties"]}
    part["required"] = ["like"]
    about = ("$schema", "title", "description", "definitions")
    schema = {key: value for key, value in whole.items() if key in about}
    schema["definitions"] = {
        **whole["definitions"],
        **made.definitions,
        "WholeDrive": {key: value for key, value in whole.items() if key not in about},
        "LikeDrive": part,
    }
    return schema | {
        "type": "object",
        "if": {"required": ["like"]},
        "then": {"$ref": f"{_DEFINITIONS}LikeDrive"},
        "else": {"$ref": f"{_DEFINITIONS}WholeDrive"},
    }


class _Parts:
    """Definitions of tables of which any keys may be left out, as far as they are needed."""

    def __init__(self, whole: Schema) -> None:
        self._whole: dict[str, Schema] = whole["definitions"]
        self.definitions: dict[str, Schema] = {}

    def part_of(self, table: Schema) -> Schema:
        """A table without what must be given, and with keys for elements of its lists of tables."""
        properties: dict[str, Schema] = {}
        elements: dict[str, Schema] = {}
        for key, value in table["properties"].items():
            properties[key] = self._value(value)
            items = value.get("items")
            if isinstance(items, dict) and _is_table(self._named(items.get("$ref"))):
                elements[rf"^{key}\[[0-9]+\]$"] = {"$ref": self._part(items["$ref"])}
        part: Schema = {"type": "object", "additionalProperties": False, "properties": properties}
        if "description" in table:
            part["description"] = table["description"]
        if elements:
            part["patternProperties"] = elements
        return part

    def _value(self, value: Schema) -> Schema:
        """What a key may have: a table may be in part. What is left out is the other drive's, no default."""
        part = deepcopy(value)
        part.pop("default", None)
        if _is_table(self._named(part.get("$ref"))):
            part["$ref"] = self._part(part["$ref"])
        if "allOf" in part:
            part["allOf"] = [self._value(one) for one in part["allOf"]]
        return part

    def _named(self, reference: str | None) -> Schema | None:
        return None if reference is None else self._whole[reference.removeprefix(_DEFINITIONS)]

    def _part(self, reference: str) -> str:
        """The definition of a table in part, made when it is first needed."""
        name = reference.removeprefix(_DEFINITIONS)
        if _PARTIAL + name not in self.definitions:
            # A table may be within itself.
            self.definitions[_PARTIAL + name] = {}
            self.definitions[_PARTIAL + name] |= self.part_of(self._whole[name])
        return f"{_DEFINITIONS}{_PARTIAL}{name}"


def _is_table(schema: Schema | None) -> bool:
    return schema is not None and schema.get("type") == "object" and "properties" in schema
