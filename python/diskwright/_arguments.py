"""Misspelt arguments of functions: what was probably meant."""

import difflib
import inspect
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

_Arguments = ParamSpec("_Arguments")
_Answer = TypeVar("_Answer")


def suggesting(function: Callable[_Arguments, _Answer]) -> Callable[_Arguments, _Answer]:
    """The function; a keyword that it does not have is a TypeError with the one that is meant.

    Where it takes any keyword, as an override of a spec, only what looks like one of its own is refused.
    """
    parameters = inspect.signature(function).parameters.values()
    takes_any = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters)
    kinds = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    known = [parameter.name for parameter in parameters if parameter.kind in kinds]

    @wraps(function)
    def call(*arguments: _Arguments.args, **named: _Arguments.kwargs) -> _Answer:
        for name in named:
            if name in known:
                continue
            meant = difflib.get_close_matches(name, known, n=1)
            if takes_any and not (meant and "__" not in name and "." not in name):
                continue
            hint = f"did you mean {meant[0]!r}" if meant else f"it has {', '.join(known)}"
            raise TypeError(f"{function.__name__}() has no argument {name!r}: {hint}")
        return function(*arguments, **named)

    return call
