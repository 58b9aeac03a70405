"""Pages with charts: one HTML file each, which opens offline and loads nothing."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike

from diskwright._files import replacing
from diskwright._record import Comparison, Result
from diskwright.report import _comparison, _run

AnyPath = str | PathLike[str]


def page(found: Result | Comparison, /, *, title: str | None = None) -> str:
    """The page of a run or a comparison, as HTML: everything that it needs is in it.

    found, title: as for `write`.

    Raises ValueError where no picture was asked for.
    """
    if isinstance(found, Comparison):
        return _comparison.page(found, title=title)
    return _run.page(found, title=title)


def write(found: Result | Comparison, target: AnyPath, /, *, title: str | None = None) -> None:
    """Writes the page of a run or a comparison.

    found: of a run or a comparison that was asked for its picture: `diskwright.run(spec, picture=True)`,
        `diskwright.compare(spec, vary, picture=True)`.
    target: the file; whole, or as it was before.
    title: of the page; the drive and the load where it is not given.
    """
    text = page(found, title=title)
    with replacing(target) as stream:
        stream.write(text)


@contextmanager
def opened(target: AnyPath) -> Iterator[Callable[[str, Result | Comparison], None]]:
    """A function that writes the page of a run or a comparison, with a title.

    Opened before the run, so that a file that cannot be written is known at once.
    """
    with replacing(target) as stream:
        yield lambda title, found: print(page(found, title=title), end="", file=stream)
