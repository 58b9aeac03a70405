"""What a fit answers."""

from collections.abc import Mapping
from typing import Any

from diskwright._record import Record


class Fit(Record):
    """What a fit found: the object of the manual, page "diskwright fit".

    toml: the fitted drive's file.
    picture: what a page is drawn from, where it was asked for; not an entry of the result.
    """

    __slots__ = ("_picture", "_toml")

    def __init__(
        self, data: Mapping[str, Any], toml: str = "", picture: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(data)
        self._toml = toml
        self._picture = picture

    @property
    def toml(self) -> str:
        return self._toml

    @property
    def picture(self) -> Record | None:
        return None if self._picture is None else Record(self._picture)

    def __reduce__(self) -> tuple[type["Fit"], tuple[Any, ...]]:
        return type(self), (self._data, self._toml, self._picture)

    def __repr__(self) -> str:
        judged = self._data["judged"]
        before, after = judged["start_rms_demerit_ms"], judged["rms_demerit_ms"]
        drive = self._data["drive"] or "from scratch"
        return f"<diskwright.Fit: {drive}, demerit {before:.4f} ms before, {after:.4f} ms after>"
