"""Pages with charts: one HTML file each, which opens offline and loads nothing."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike

from diskwright._extraction import Extraction
from diskwright._files import replacing
from diskwright._fitted import Fit
from diskwright._record import Comparison, Inspection, Result
from diskwright._validation import Validation
from diskwright.report import _comparison, _extraction, _fit, _inspection, _run, _sweep, _validation
from diskwright.sweep import Swept

AnyPath = str | PathLike[str]
Found = Result | Comparison | Validation | Swept | Inspection | Fit | Extraction


def page(found: Found, /, *, title: str | None = None) -> str:
    """The page of a run, a comparison, a validation, a sweep, an inspection, a fit or an extraction, as HTML.

    Everything that it needs is in it.

    found, title: as for `write`.

    Raises ValueError where no picture was asked for.
    """
    if isinstance(found, Comparison):
        return _comparison.page(found, title=title)
    if isinstance(found, Validation):
        return _validation.page(found, title=title)
    if isinstance(found, Fit):
        return _fit.page(found, title=title)
    if isinstance(found, Extraction):
        return _extraction.page(found, title=title)
    if isinstance(found, Swept):
        return _sweep.page(found, title=title)
    if isinstance(found, Inspection):
        return _inspection.page(found, title=title)
    return _run.page(found, title=title)


def write(found: Found, target: AnyPath, /, *, title: str | None = None) -> None:
    """Writes the page of a run, a comparison, a validation, a sweep, an inspection, a fit or an extraction.

    found: of what was asked for its picture: `diskwright.run(spec, picture=True)`,
        `diskwright.compare(spec, vary, picture=True)`, `diskwright.validate(drive, trace, picture=True)`,
        `diskwright.inspect(trace, picture=True)`, `diskwright.fit(drive, trace, picture=True)`; a sweep and
        an extraction need none.
    target: the file; whole, or as it was before.
    title: of the page; the drive and the load where it is not given.
    """
    text = page(found, title=title)
    with replacing(target) as stream:
        stream.write(text)


@contextmanager
def opened(target: AnyPath) -> Iterator[Callable[[str, Found], None]]:
    """A function that writes the page of anything that has one, with a title.

    Opened before the run, so that a file that cannot be written is known at once.
    """
    with replacing(target) as stream:
        yield lambda title, found: print(page(found, title=title), end="", file=stream, flush=True)
