"""What an extraction answers."""

from collections.abc import Mapping
from typing import Any

from diskwright._record import Record


class Extraction(Record):
    """What was measured of a drive: the object of the manual, page "diskwright extract".

    toml: the drive's file; empty where nothing could be measured.
    """

    __slots__ = ("_toml",)

    def __init__(self, data: Mapping[str, Any], toml: str = "") -> None:
        super().__init__(data)
        self._toml = toml

    @property
    def toml(self) -> str:
        return self._toml

    def __reduce__(self) -> tuple[type["Extraction"], tuple[Any, ...]]:
        return type(self), (self._data, self._toml)

    def __repr__(self) -> str:
        if not self._data["rotates"]:
            return f"<diskwright.Extraction: {self._data['target']} does not rotate>"
        return f"<diskwright.Extraction: {self._data['target']}>"
