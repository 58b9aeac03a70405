"""Pages with charts: one HTML file each, which opens offline and loads nothing."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike

from diskwright._files import replacing
from diskwright._record import Result
from diskwright.report._page import page as page

AnyPath = str | PathLike[str]


def write(result: Result, target: AnyPath, /, *, title: str | None = None) -> None:
    """Writes the page of a run.

    result: of a run that was asked for its picture: `diskwright.run(spec, picture=True)`.
    target: the file; whole, or as it was before.
    title: of the page; the drive and the load where it is not given.
    """
    text = page(result, title=title)
    with replacing(target) as stream:
        stream.write(text)


@contextmanager
def opened(target: AnyPath) -> Iterator[Callable[[str, Result], None]]:
    """A function that writes the page of a run, with a title.

    Opened before the run, so that a file that cannot be written is known at once.
    """
    with replacing(target) as stream:
        yield lambda title, result: print(page(result, title=title), end="", file=stream)
