"""What a validation answers."""

import json
from collections.abc import Mapping
from typing import Any, Self

from diskwright._record import Record


class Validation(Record):
    """What a validation found: the object of the reference, page "validate".

    picture: what a page is drawn from, where it was asked for; not an entry of the result.
    """

    __slots__ = ("_picture",)

    def __init__(self, data: Mapping[str, Any], picture: Mapping[str, Any] | None = None) -> None:
        super().__init__(data)
        self._picture = picture

    @classmethod
    def of_answer(cls, text: str, picture: str | None) -> Self:
        """The result and the picture that JSON objects describe."""
        return cls(json.loads(text), None if picture is None else json.loads(picture))

    @property
    def picture(self) -> Record | None:
        return None if self._picture is None else Record(self._picture)

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        return type(self), (self._data, self._picture)

    def _repr_html_(self) -> str:
        from diskwright import _notebook

        return _notebook.validation(self)

    def __repr__(self) -> str:
        data = self._data
        return (
            f"<diskwright.Validation: {data['drive']}, {data['requests']:,} requests, "
            f"demerit {data['rms_demerit_ms']:.4f} ms>"
        )
