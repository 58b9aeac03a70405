"""Is what Python writes as TOML read back as it was?"""

import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from diskwright import _toml

texts = some.text(some.characters(exclude_categories=["Cs"]))
scalars = some.booleans() | some.integers(-(2**63), 2**63 - 1) | some.floats(allow_nan=False) | texts
values = some.recursive(
    scalars, lambda inner: some.lists(inner, max_size=3) | some.dictionaries(texts, inner, max_size=3)
)


@given(some.dictionaries(texts, values, max_size=4))
def test_a_document_is_read_back_as_it_was(table: dict[str, Any]) -> None:
    assert tomllib.loads(_toml.document(table)) == table


@given(values)
def test_a_value_stands_on_one_line_and_is_read_back_as_it_was(item: object) -> None:
    text = _toml.value(item)
    assert "\n" not in text
    assert tomllib.loads(f"x = {text}") == {"x": item}


def test_paths_and_other_numbers_are_values_too() -> None:
    assert _toml.value(Path("a/b.srt")) == '"a/b.srt"'
    assert _toml.value(Fraction(1, 4)) == "0.25"


def test_nested_tables_have_headers() -> None:
    text = _toml.document({"device": {"hdd": {"drive": "x"}}, "seed": 1})
    assert text == 'seed = 1\n[device]\n[device.hdd]\ndrive = "x"\n'


@pytest.mark.parametrize("item", [None, b"bytes", {1: 2}, {"a": [None]}, 1j])
def test_what_toml_lacks_is_refused(item: object) -> None:
    with pytest.raises(TypeError):
        _toml.value(item)
