"""The animations of devices at work.

`of` in the data of a run's picture names the kind of an animation. A kind is a module here, a template
`film-NAME.html.jinja` for what stands beside the rows, and scripts that draw and tell it. The player is one
for all.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from diskwright.report._film import _arms, _dies
from diskwright.report._film._base import Film, Kind

_KINDS = {module.KIND.name: module for module in (_arms, _dies)}


def films(picture: Mapping[str, Any]) -> list[Film]:
    """Of every device of a run that was asked for its picture, and has one."""
    found = [(path, device["film"]) for path, device in picture["devices"].items() if "film" in device]
    return [_KINDS[film["of"]].film(f"film-{index}", path, film) for index, (path, film) in enumerate(found)]


def title(shown: Sequence[Film]) -> str:
    """What is at work."""
    titles = {film.kind.title for film in shown}
    one = titles.pop() if len(titles) == 1 else "device"
    return f"The {one}{'s' if len(shown) > 1 else ''} at work"


def kinds(shown: Sequence[Film]) -> list[Kind]:
    """The kinds of films that are drawn, in the order of the first of each."""
    return list({film.kind.name: film.kind for film in shown if not film.why}.values())


def drawn(shown: Sequence[Film]) -> dict[str, Any]:
    """What the page's script gets."""
    return {"films": [film.data for film in shown if not film.why]}


def parts(shown: Sequence[Film]) -> list[str]:
    """The parts that the films show, each once."""
    return list(dict.fromkeys(part for film in shown if not film.why for part in film.data["parts"]))
