"""Pages of the reference from a JSON schema of the engine's."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from diskwright import _toml
from reference_words import (
    Schema,
    braces,
    cell,
    heading,
    joined,
    kind,
    mark,
    plural,
    prose,
    reference,
    slug,
    titled,
    words,
)

_PLAIN = {"type", "minimum", "maximum", "enum", "pattern"}
"""What the schema of a plain value has."""
_LONG = 5
"""A choice of more names than these is shown by its first ones."""
_FEW = 3
"""A table of no more keys than these is shown by them."""


@dataclass(frozen=True)
class Page:
    file: str
    title: str
    intro: str


@dataclass
class Section:
    """A definition that has a heading of its own."""

    schema: Schema
    paths: list[str]
    """Where it stands, first where it is met first."""
    page: Page
    anchor: str
    title: str
    forms: list[str] = field(default_factory=list)
    """The tables that it may be written as, where there are several: they follow it."""
    is_form: bool = False


class Document:
    """A schema as pages. `values` has the texts of what is written as a number or a text, by its name.

    elsewhere: definitions that have their headings on the pages of another schema, by name.
    """

    def __init__(
        self, schema: Schema, pages: dict[str, Page], elsewhere: Iterable[tuple[str, "Section"]] = ()
    ) -> None:
        self.definitions: dict[str, Schema] = schema["definitions"]
        self.by_path = pages
        self.values: dict[str, str] = {}
        self.sections: dict[str, Section] = {name: replace(section, paths=[]) for name, section in elsewhere}
        self.anchors: set[str] = set()
        self.meet("", schema, "")

    def pages(self) -> dict[str, str]:
        made: dict[str, str] = {}
        for page in self.by_path.values():
            parts = [f"# {page.title}", page.intro]
            for section in self.sections.values():
                if section.page is page and not section.is_form:
                    parts += self.written(section)
            made[page.file] = "\n\n".join(parts)
        return made

    # Which definitions there are, and where.

    def meet(self, name: str, schema: Schema, path: str) -> None:
        """Notes a definition that stands at a path, and what is in it."""
        if (known := self.sections.get(name)) is not None:
            known.paths.append(path)
            return
        above = (key for key in self.by_path if not key or f"{path}.".startswith((f"{key}.", f"{key}[")))
        self.sections[name] = Section(
            schema,
            [path],
            self.by_path[max(above, key=len)],
            slug(path) or "top",
            f"`{heading(path, schema)}`",
        )
        for key, inner in schema.get("properties", {}).items():
            self.descend(inner, joined(path, key))
        for option in schema.get("oneOf", []):
            for key, inner in option.get("properties", {}).items():
                self.descend(inner, joined(path, key), is_variant=True)
        for option in schema.get("anyOf", []):
            self.meet_form(name, option, path)

    def meet_form(self, union: str, schema: Schema, path: str) -> None:
        """Notes one of the forms of a union: a table, or a list of tables, follows the union."""
        target = reference(schema.get("items", schema))
        is_new = target not in self.sections
        self.descend(schema, path)
        if target is None or target not in self.sections or not is_new:
            return
        form, above = self.sections[target], self.sections[union]
        keys = form.schema["properties"]
        title = braces(form.schema)
        if "items" in schema:
            title = f"[{title}, …]"
        elif len(keys) > _FEW:
            title = heading(path, form.schema)
        elif [inner.get("type") for inner in keys.values()] == ["array"]:
            title = heading(joined(path, f"{next(iter(keys))}[]"), form.schema)
        form.title, form.anchor, form.is_form = (
            f"`{title}`",
            f"{above.anchor}-as-{slug(next(iter(keys)))}",
            True,
        )
        above.forms.append(target)

    def descend(self, schema: Schema, path: str, is_variant: bool = False) -> None:
        if schema.get("type") == "array" and isinstance(schema["items"], dict):
            self.descend(schema["items"], f"{path}[]")
        name = reference(schema)
        if name is None:
            return
        found = self.definitions[name]
        if self.is_value(found):
            self.values.setdefault(words(name), f"## {words(name)}\n\n{prose(found['description'])}")
        elif self.is_inline(found):
            for option in found.get("oneOf", []):
                for inner in option.get("properties", {}).values():
                    self.descend(inner, path)
                self.descend(option, path)
        elif is_variant and "properties" in found:
            # The parameters of a policy belong to the policy's section, and what they name to its page.
            if name not in self.sections:
                for key, inner in found["properties"].items():
                    self.descend(inner, joined(path, key))
        elif not is_variant:
            self.meet(name, found, path)

    def is_value(self, schema: Schema) -> bool:
        """Whether it is written as a number or as a text with a rule of its own."""
        return "examples" in schema or schema.get("type") in ("integer", "number", "string")

    def is_inline(self, schema: Schema) -> bool:
        """Whether it is a choice of few names without parameters, shown where it is used."""
        if any(set(form) <= _PLAIN for form in schema.get("anyOf", [])):
            return True
        options = schema.get("oneOf", [])
        inner = (value for option in options for value in option.get("properties", {}).values())
        return bool(options) and not any(self.parameters(value) is not None for value in inner)

    def parameters(self, schema: Schema) -> Schema | None:
        """The table of a policy's parameters, where it has one."""
        found = self.definitions.get(reference(schema) or "", {})
        return found if found.get("type") == "object" else None

    # How they are written.

    def written(self, section: Section) -> list[str]:
        schema = section.schema
        parts = []
        if section.paths[0]:
            parts.append(titled(3 if section.is_form else 2, section.title, section.anchor))
        parts.append(prose(schema["description"]))
        if len(section.paths) > 1:
            parts.append(f"Also at {', '.join(f'`{other}`' for other in section.paths[1:])}.")
        if "oneOf" in schema:
            parts += self.choice(section)
        elif "anyOf" in schema:
            parts.append("\n".join(f"- {self.value(form, section.page)}" for form in schema["anyOf"]))
            parts += [part for form in section.forms for part in self.written(self.sections[form])]
        else:
            parts.append(self.table(schema, section.page, slug(section.paths[0].removesuffix("[]"))))
        return [part for part in parts if part]

    def choice(self, section: Section) -> list[str]:
        """A table of the names, and a section for each that says more."""
        names: dict[str, tuple[str, Schema | None, list[str]]] = {}
        known: dict[str, str] = {}
        for option in section.schema["oneOf"]:
            for name, inner in option.get("properties", {}).items():
                target = reference(inner) if self.parameters(inner) is not None else None
                if target is not None and target in known:
                    # A second name for the same parameters is another name of the same choice.
                    names[known[target]][2].append(name)
                    continue
                known[target or name] = name
                names[name] = (option["description"], inner, [])
        aliases = {alias for _, _, others in names.values() for alias in others}
        for option in section.schema["oneOf"]:
            if "const" in option and option["const"] not in aliases:
                names.setdefault(option["const"], (option["description"], None, []))
        rows, more = [], []
        for name, (doc, inner, others) in names.items():
            parameters = self.parameters(inner) if inner else None
            # A page about one choice has the shortest anchors.
            is_subject = self.by_path.get(section.paths[0]) is section.page
            anchor = slug(name) if is_subject else f"{section.anchor}-{slug(name)}"
            shown = f"[`{name}`](#{anchor})" if parameters else f"`{name}`"
            if inner and parameters is None:
                shown = self.single(name, inner)
            also = ", ".join(f"`{other}`" for other in others)
            rows.append(f"| {shown} | {also} | {cell(doc)} |")
            if parameters is not None:
                more += [titled(3, f"`{name}`", anchor), prose(doc)]
                if parameters["description"] != doc:
                    more.append(prose(parameters["description"]))
                if (form := self.example(name, parameters)) is not None:
                    more.append(f"With its defaults: `{form}`.")
                more.append(self.table(parameters, section.page, anchor))
        if not any(others for _, _, others in names.values()):
            rows = [re.sub(r" \|  \| ", " | ", row, count=1) for row in rows]
            return ["\n".join(["| name | what it is |", "|---|---|", *rows]), *more]
        return ["\n".join(["| name | also | what it is |", "|---|---|---|", *rows]), *more]

    def example(self, name: str, parameters: Schema) -> str | None:
        """A policy as it is written with its defaults, where it has one for all that must be there."""
        if parameters.get("required"):
            return None
        keys = parameters.get("properties", {}).items()
        values = {key: schema["default"] for key, schema in keys if "default" in schema}
        return _toml.value({name: values}) if values else None

    def table(self, schema: Schema, page: Page, anchor: str) -> str:
        """The keys of a table."""
        if not schema.get("properties"):
            return ""
        rows = ["| key | value | default | meaning |", "|---|---|---|---|"]
        needed = schema.get("required", [])
        headed = {section.anchor for section in self.sections.values() if section.page is page}
        for key, inner in sorted(schema["properties"].items(), key=lambda item: item[0] not in needed):
            place = joined(anchor, slug(key), "-")
            # What has a section is found there.
            name = f"`{key}`" if place in headed else f"{mark(place)}`{key}`"
            default = "must be given" if key in needed else self.default(inner)
            rows.append(f"| {name} | {self.value(inner, page)} | {default} | {self.meaning(inner)} |")
        return "\n".join(rows)

    def default(self, schema: Schema) -> str:
        value = schema.get("default")
        if value is None or value == []:
            return ""
        if isinstance(value, dict):
            found = self.definitions.get(reference(schema) or "", {})
            if "oneOf" not in found:
                # A table's own keys have the defaults.
                return ""
            ((name, inner),) = value.items()
            for option in found["oneOf"]:
                parameters = self.parameters(option.get("properties", {}).get(name, {})) or {}
                plain = {
                    key: one["default"]
                    for key, one in parameters.get("properties", {}).items()
                    if "default" in one
                }
                if inner == plain:
                    value = name
        return f"`{_toml.value(value)}`"

    def meaning(self, schema: Schema) -> str:
        """A key's description, with what its names mean."""
        lines = [cell(schema["description"])]
        items = schema.get("items")
        found = self.definitions.get(reference(items if isinstance(items, dict) else schema) or "", {})
        if "oneOf" in found and self.is_inline(found):
            # Its first sentence says again what the key is.
            if more := cell(found["description"]).partition(". ")[2]:
                lines[0] += f" {more}"
            for option in found["oneOf"]:
                name = f'"{option["const"]}"' if "const" in option else "".join(option.get("properties", {}))
                if "description" in option and name:
                    lines.append(f"`{name}`: {cell(option['description'])}")
        return "<br>".join(lines)

    def value(self, schema: Schema, page: Page) -> str:
        """What is written as a value."""
        name = reference(schema)
        if name is not None:
            found = self.definitions[name]
            if self.is_value(found):
                return f"[{kind(found)}](values.md#{slug(words(name))})"
            if self.is_inline(found):
                return ", ".join(
                    self.value(option, page)
                    for option in found.get("oneOf") or found["anyOf"]
                    if "pattern" not in option
                )
            section = self.sections[name]
            link = f"{'' if section.page is page else section.page.file}#{section.anchor}"
            return f"[{self.short(section)}]({link})"
        match schema:
            case {"const": const}:
                return f'`"{const}"`'
            case {"enum": names}:
                return ", ".join(f'`"{one}"`' for one in names)
            case {"properties": properties} if len(properties) == 1:
                ((key, inner),) = properties.items()
                return self.single(key, inner)
            case {"type": "array", "items": list(items)}:
                return f"[{', '.join(self.value(item, page) for item in items)}]"
            case {"type": "array", "items": items}:
                return f"list of {plural(self.value(items, page))}"
        return kind(schema)

    def single(self, key: str, schema: Schema) -> str:
        """A table of one key with a plain value."""
        name = reference(schema)
        if name is None:
            return f"`{{ {key} = {kind(schema).strip('`')} }}`"
        return f"[`{{ {key} = {kind(self.definitions[name]).strip('`')} }}`](values.md#{slug(words(name))})"

    def short(self, section: Section) -> str:
        """A word or two for what has a section."""
        schema = section.schema
        if "oneOf" in schema:
            names = list(
                dict.fromkeys(
                    option["const"] if "const" in option else next(iter(option["properties"]))
                    for option in schema["oneOf"]
                )
            )
            shown = ", ".join(f"`{one}`" for one in names[: _LONG if len(names) <= _LONG else 3])
            return shown if len(names) <= _LONG else f"{shown}, …"
        if "anyOf" in schema:
            return "one of several forms"
        if section.is_form:
            return section.title
        return f"`{braces(schema)}`" if len(schema["properties"]) <= _FEW else "table"
