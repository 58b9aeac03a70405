"""Does the schema accept what the engine accepts, and nothing that it refuses?"""

import json
import re
import tomllib
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import diskwright
from conftest import ROOT, SPEC, Command
from diskwright import _toml

SCHEMA = diskwright.spec_schema()
DRIVE_SCHEMA = diskwright.drive_schema()
EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))
DRIVES = sorted((ROOT / "drives").glob("*.toml"))
PAGES = sorted((ROOT / "docs").rglob("*.md"))
BLOCK = re.compile(r"^```toml\n(.*?)^```$", re.DOTALL | re.MULTILINE)

REFUSED = jsonschema.ValidationError

# What is written in a hand-made way, or in several.
LOADS: tuple[dict[str, Any], ...] = (
    {"address": {"zones": {"zones": [{"share": "100 %", "size": "10 %"}]}}},
    {"address": {"hot-cold": {"hot": "1 GiB", "share": "80 %"}}},
    {"address": {"uniform": {"align": "1 block", "once": True}}},
    {"address": "sequential"},
    {"address": {"growing": {"blocks": 1000, "new": 0.5}}, "reads": 0.5},
    {"arrivals": {"closed": {"users": 4, "think": {"exponential": "5 ms"}}}},
    {"arrivals": {"closed": {"think": "5 ms"}}},
    {"arrivals": "closed"},
    {"arrivals": {"on-off": {"on": "1 s", "off": "1 s", "gap": "1 ms", "gaps": "constant"}}},
    {"size": [{"size": "8 blocks", "share": 0.5}, {"size": "4 KiB", "share": 0.5}]},
    {"size": {"reads": "8 blocks", "writes": [{"size": "8 blocks", "share": 1.0}]}},
)
DISK: dict[str, Any] = {"hdd": {"drive": "ibm-18es"}}
ARRAY: dict[str, Any] = {"array": {"layout": "concat", "spindles": "synchronised", "member": [DISK, DISK]}}
SETTINGS: tuple[dict[str, Any], ...] = (
    {"measure.warmup": 10},
    {"measure.warmup": "1 ms"},
    {"fault": [{"at": "1 s", "kind": "power-cut"}]},
    {"fault": [{"at": "1 s", "kind": {"fail": "hdd"}}]},
    {"fault": [{"at": "1 s", "kind": {"media-error": {"device": "hdd", "from": 1000, "blocks": 8}}}]},
    {"host": {"outstanding": 4, "scheduler": {"look": {}}}},
    {"device.hdd.queue.scheduler": "sptf"},
    {"device.hdd.queue.scheduler": {"sptf": {}}},
    {"device": {"array": {"layout": {"stripe": {"unit": "8 blocks"}}, "member": [DISK, DISK]}}},
    {"device": {"array": {"layout": {"mirror": {"read": "nearest"}}, "member": [DISK]}}},
    {"device": {"array": {"layout": "mirror", "spindles": "free", "member": [DISK, ARRAY]}}},
)


# A validator for each file would look through the whole schema each time.
SPECS, DRIVE_FILES = jsonschema.Draft7Validator(SCHEMA), jsonschema.Draft7Validator(DRIVE_SCHEMA)


def validate(spec: Any, validator: Any = SPECS) -> None:
    if (error := jsonschema.exceptions.best_match(validator.iter_errors(spec))) is not None:
        raise error


def base() -> dict[str, Any]:
    spec = tomllib.loads(SPEC)
    spec["workload"]["synthetic"]["requests"] = 50
    return spec


def policies() -> Iterator[tuple[str, str]]:
    """The paths of all choices with parameters, and their names."""
    for path, definition in (
        ("device.hdd.queue.scheduler", "Scheduler"),
        ("workload.synthetic.address", "AddressSpec"),
        ("workload.synthetic.arrivals", "ArrivalsSpec"),
    ):
        for option in SCHEMA["definitions"][definition]["oneOf"]:
            for name, parameters in option.get("properties", {}).items():
                if parameters.get("$ref") != "#/definitions/Time" and name != "custom":
                    yield path, name


def put(spec: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    spec = deepcopy(spec)
    *above, last = path.split(".")
    here = spec
    for key in above:
        here = here.setdefault(key, {})
    here[last] = value
    return spec


def misspelt(value: Any) -> Iterator[Any]:
    """The value with one key misspelt, for every key in it."""
    if isinstance(value, dict):
        for key in value:
            yield {name + "x" if name == key else name: inner for name, inner in value.items()}
            for changed in misspelt(value[key]):
                yield value | {key: changed}
    if isinstance(value, list):
        for index, item in enumerate(value):
            for changed in misspelt(item):
                yield [*value[:index], changed, *value[index + 1 :]]


def test_the_schemas_are_schemas() -> None:
    for schema in (SCHEMA, DRIVE_SCHEMA):
        jsonschema.Draft7Validator.check_schema(schema)
        assert "null" not in json.dumps(schema)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_every_example_is_valid_and_no_misspelling_of_it(path: Path) -> None:
    spec = tomllib.loads(path.read_text())
    validate(spec)
    for wrong in misspelt(spec):
        with pytest.raises(REFUSED):
            validate(wrong)


@pytest.mark.parametrize("path", DRIVES, ids=lambda path: path.name)
def test_every_drive_is_valid_and_no_misspelling_of_it(path: Path) -> None:
    drive = tomllib.loads(path.read_text())
    validate(diskwright.drive(path).description.to_dict(), DRIVE_FILES)
    if "like" not in drive:
        drive["layout"]["zone"] = drive["layout"]["zone"][:2]
    validate(drive, DRIVE_FILES)
    for wrong in misspelt(drive):
        with pytest.raises(REFUSED):
            validate(wrong, DRIVE_FILES)


LIKE: tuple[dict[str, Any], ...] = (
    {"like": "hp-c3323a"},
    {"like": "hp-c3323a", "name": "mine", "without": ["buffer.read_ahead.most"]},
    {"like": "hp-c3323a", "rotation": "5400 rpm", "heads": {"switch": "1 ms"}},
    {"like": "hp-c3323a", "seek": {"constant": "2 ms"}, "buffer": {"read_ahead": {"until": "none"}}},
    {"like": "hp-c3323a", "layout": {"zone[1]": {"track_skew": 15}, "zone[3]": {"front": 3}}},
)


@pytest.mark.parametrize("drive", LIKE, ids=str)
def test_a_drive_that_is_like_another_has_few_keys_and_none_misspelt(
    drive: dict[str, Any], tmp_path: Path
) -> None:
    validate(drive, DRIVE_FILES)
    file = tmp_path / "mine.toml"
    for wrong in misspelt(drive):
        # The engine agrees.
        file.write_text(_toml.document(wrong))
        with pytest.raises(REFUSED):
            validate(wrong, DRIVE_FILES)
        with pytest.raises(diskwright.InputError):
            diskwright.drive(file)
    file.write_text(_toml.document(drive))
    validate(diskwright.drive(file).description.to_dict(), DRIVE_FILES)


def test_only_a_drive_that_is_like_another_may_leave_keys_out() -> None:
    for drive in ({"name": "mine"}, {"without": ["power"]}, {"like": 3}, {"like": "hp-c3323a", "seek": {}}):
        with pytest.raises(REFUSED):
            validate(drive, DRIVE_FILES)
    with pytest.raises(REFUSED):
        validate({"like": "hp-c3323a", "layout": {"zone[x]": {"track_skew": 15}}}, DRIVE_FILES)


def test_what_the_pages_show_is_valid() -> None:
    shown = 0
    for page in PAGES:
        for text in BLOCK.findall(page.read_text()):
            spec = tomllib.loads(text)
            if {"workload", "device", "host", "measure", "fault"} & set(spec):
                # Pages show the part that they are about.
                spec.setdefault("workload", {})
                device = spec.setdefault("device", {})
                if set(device) <= {"hdd"}:
                    device.setdefault("hdd", {}).setdefault("drive", "ibm-18es")
                validate(spec)
                shown += 1
    assert shown >= 10


@pytest.mark.parametrize("load", LOADS, ids=str)
def test_every_form_is_valid_as_it_is_written_and_in_effect(load: dict[str, Any]) -> None:
    spec = base()
    spec["workload"]["synthetic"] |= load
    accepted(spec)
    one = spec["workload"]["synthetic"]
    if one["arrivals"] in ("closed", {"closed": {"think": "5 ms"}}):
        # Each of several streams says how many users it has.
        one["arrivals"] = {"closed": {"users": 2}}
    spec["workload"]["synthetic"] = {"stream": [one | {"name": "a"}, one]}
    accepted(spec)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_every_setting_is_valid_as_it_is_written_and_in_effect(settings: dict[str, Any]) -> None:
    spec = base()
    for path, value in settings.items():
        spec = put(spec, path, value)
    accepted(spec)


def accepted(spec: dict[str, Any]) -> None:
    """By the engine and the schema, and misspelt by neither."""
    validate(spec)
    validate(diskwright.run(spec).spec.to_dict())
    for wrong in misspelt(spec):
        with pytest.raises(REFUSED):
            validate(wrong)
        with pytest.raises(diskwright.InputError):
            diskwright.run(wrong)


@pytest.mark.parametrize(("path", "name"), list(policies()), ids=str)
def test_every_policy_has_the_keys_that_the_engine_knows(path: str, name: str) -> None:
    with pytest.raises(diskwright.InputError) as caught:
        diskwright.run(put(base(), path, {name: {"bogus": 1}}))
    found = re.search(r"accepted: ([^\n]*)", str(caught.value))
    known = set(found[1].split(", ")) if found else set()
    section = SCHEMA["definitions"][
        {"scheduler": "Scheduler", "address": "AddressSpec", "arrivals": "ArrivalsSpec"}[path.split(".")[-1]]
    ]
    (reference,) = (
        option["properties"][name]["$ref"]
        for option in section["oneOf"]
        if name in option.get("properties", {})
    )
    definition = SCHEMA["definitions"][reference.removeprefix("#/definitions/")]
    assert set(definition.get("properties", {})) == known - {""}


def test_values_of_the_wrong_kind_are_not_valid() -> None:
    for path, value in (
        ("workload.synthetic.reads", 1.5),
        ("workload.synthetic.size", 8),
        ("workload.synthetic.arrivals", "poisson"),
        ("device.hdd.queue.depth", -1),
        ("device.hdd.queue.scheduler", "lok"),
        ("device.hdd.queue.scheduler", {"aged-satf": {"weight": 1001}}),
        ("measure.warmup", -1),
        ("workload.device", "some"),
    ):
        spec = put(base(), path, value)
        with pytest.raises(REFUSED):
            validate(spec)
        with pytest.raises(diskwright.InputError):
            diskwright.run(spec)


def test_the_command_prints_the_schema(command: Command) -> None:
    assert json.loads(command("schema").stdout) == SCHEMA
    assert json.loads(command("schema", "drive").stdout) == DRIVE_SCHEMA
    assert command("schema", "tree").returncode == 2
