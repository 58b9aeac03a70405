"""`diskwright schema`."""

import json
from typing import Annotated, Literal

import typer

from diskwright import _api


def schema(
    of: Annotated[
        Literal["spec", "drive"], typer.Argument(metavar="[spec|drive]", help="The kind of file.")
    ] = "spec",
) -> None:
    """Print the JSON schema of specs, or of drives, for editors."""
    found = _api.spec_schema() if of == "spec" else _api.drive_schema()
    print(json.dumps(found, indent=2, ensure_ascii=False))
