"""Drives by words."""

import re
from collections.abc import Iterable, Sequence

from diskwright import InputError
from diskwright._record import Record
from diskwright._shingled import SHINGLED, Shingled

_SHORTEST_MODEL = 7
"""Characters of what is taken for a model number, which labels continue: ST20000NM007D-3DJ103."""


def found(words: str, drives: Iterable[Record], *, has_disks: bool) -> tuple[list[Record], list[str]]:
    """The drives that have all the words, and what is to be said of shingled products that have them.

    drives: those that are searched, with their descriptions.
    has_disks: whether hard disks are searched, of which some products have shingled tracks.

    Raises InputError where no drive has them.
    """
    wanted = words.casefold().split()
    if not wanted:
        raise InputError("error: --search: no words\n  = help: for example --search 'nearline 20 TB'")
    listed = [drive for drive in drives if _has_all(wanted, _text(drive))]
    # A maker alone is a search for its drives, not for those that are not here.
    shingled = [it for it in SHINGLED if has_disks and _has_all(wanted, _text_of(it))]
    named = [it for it in shingled if any(_has_all([word], _text_of(it, False)) for word in wanted)]
    if listed:
        return listed, [_answer(it) for it in named]
    if shingled:
        raise InputError(
            "error: "
            + "; ".join(map(_answer, shingled))
            + "\n  = help: `diskwright drives` lists drives with conventional recording"
        )
    raise InputError(
        f"error: no drive has all of {', '.join(map(repr, words.split()))}\n"
        "  = help: words of a name, a maker, a model or a class, such as nearline, desktop, laptop; "
        "`diskwright drives` lists all drives"
    )


def _text(drive: Record) -> str:
    described = drive.description
    texts = [drive.id, drive.name, drive.kind, described.get("about", ""), str(described.get("year", ""))]
    return " ".join(texts)


def _text_of(product: Shingled, with_maker: bool = True) -> str:
    maker = [product.maker] if with_maker else []
    return " ".join([*maker, product.line, *product.models, "SMR", "shingled"])


def _has_all(words: Sequence[str], text: str) -> bool:
    text = text.casefold()
    tokens = [token for token in re.split(r"[^0-9a-z]+", text) if len(token) >= _SHORTEST_MODEL]
    models = [token for token in tokens if re.search(r"\d", token)]
    return all(word in text or any(word.startswith(model) for model in models) for word in words)


def _answer(product: Shingled) -> str:
    models = f" ({', '.join(product.models)})" if product.models else ""
    return f"{product.name}{models} has shingled tracks, which are not modelled ({product.source})"
