"""The command `diskwright`: one file per verb; what only prints is imported when something is printed."""

import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import diskwright
from diskwright.cli import ending
from diskwright.cli.verbs import Commands, summaries

_ONE_OF_EACH = (
    ": a command reads one spec, one trace or one drive. Of several traces make one file, in the order of "
    "their times; to vary a spec, take `compare` or `sweep`"
)


# Where it is from depends on the version of Typer.
_UsageError: Any = typer.BadParameter.__base__


class _Group(TyperGroup):
    """Turns what went wrong into a message for people and an exit code."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = Commands()

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.commands)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        # The summaries are whole, and no verb is imported for them.
        with formatter.section("Commands"):
            formatter.write_dl(summaries())

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except _UsageError as error:
            if error.message.startswith("Got unexpected extra argument"):
                error.message += _ONE_OF_EACH
            raise
        except (diskwright.InputError, diskwright.SimulationError) as error:
            message = str(error)
            ending.complain(message if message.startswith("error") else f"error: {message}")
            raise typer.Exit(2 if isinstance(error, diskwright.InputError) else 1) from error
        except OSError as error:
            if error.filename is None:
                raise
            ending.complain(f"error: cannot write {os.fsdecode(error.filename)}: {error.strerror}")
            raise typer.Exit(ending.code_of(error)) from error
        except KeyboardInterrupt:
            ending.complain("interrupted")
            raise typer.Exit(130) from None


app = typer.Typer(
    name="diskwright",
    cls=_Group,
    help="Simulates storage drives, request by request.",
    # Its import takes longer than all else that the help needs.
    rich_markup_mode=None,
    epilog="Exit codes: 0 done, 1 a simulation or a write failed or a check found a fault, 2 wrong input.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"diskwright {diskwright.__version__} ({diskwright.__commit__})")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Show the version and the commit of this build.",
            callback=_version,
            is_eager=True,
        ),
    ] = False,
) -> None:
    pass


def main() -> None:
    """The entry point."""
    ending.listen_to_signals()
    ending.guard_standard_output()
    try:
        try:
            app()
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except ending.StandardOutputError as failed:
        ending.after_standard_output(failed)
