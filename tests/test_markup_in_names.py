"""Names with markup in them: a page shows them, and runs nothing of them."""

from pathlib import Path

import pytest

from conftest import Command, Look

EVIL = "<img src=x onerror='globalThis.hit=1'></script><script>globalThis.hit=1</script>"

DRIVE = f"""like = "ibm-18es"
name = "{EVIL}"
"""

# A file's name has no slash in it.
NAME = "<img src=x onerror='globalThis.hit=1'>"

COMMANDS = {
    "run": ["run", f"{NAME}.toml", "--report", "page.html"],
    "compare": [
        "compare",
        f"{NAME}.toml",
        "--vary",
        f"device.hdd.drive={NAME}-drive.toml,ibm-18es",
        "--report",
        "page.html",
    ],
    "sweep": ["sweep", f"{NAME}-sweep.toml", "--store", "points", "--report", "page.html"],
    "inspect": ["inspect", f"{NAME}.csv", "--report", "page.html"],
    "validate": ["validate", f"{NAME}-drive.toml", f"{NAME}.recording", "--report", "page.html"],
    "extract": ["extract", f"{NAME}-drive.toml", "--minutes", "1", "--report", "page.html"],
    "fit": ["fit", f"{NAME}-drive.toml", f"{NAME}.recording", "--report", "page.html"],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    spec = (
        f'[workload]\ntrace = "{NAME}.csv"\nformat = "csv"\n'
        f'[measure]\nwarmup = 0\n[device.hdd]\ndrive = "{NAME}-drive.toml"\n'
    )
    lines = [f"{n * 20_000_000},{'read' if n % 3 else 'write'},{n * 97 % 6_000},8" for n in range(300)]
    (tmp_path / f"{NAME}.csv").write_text("time_ns,op,lbn,blocks\n" + "\n".join(lines) + "\n")
    served = [f"R Hit {n * 97_531 % 9_000_000} 8 {3_000 + 7_919 * n % 5_000}.5 20.0\n" for n in range(300)]
    (tmp_path / f"{NAME}.recording").write_text("".join(served))
    (tmp_path / f"{NAME}-drive.toml").write_text(DRIVE)
    (tmp_path / f"{NAME}.toml").write_text(spec)
    sweep = '[sweep.vary]\n"device.hdd.queue.scheduler" = ["fcfs", "sstf"]\n'
    (tmp_path / f"{NAME}-sweep.toml").write_text(spec + sweep)
    return tmp_path


@pytest.mark.parametrize("command_name", COMMANDS)
def test_names_with_markup_are_shown_and_do_nothing(
    command_name: str, folder: Path, command: Command, look: Look
) -> None:
    done = command(*COMMANDS[command_name], cwd=folder)
    page = folder / "page.html"
    assert page.exists(), done.stderr
    browser = look(page)
    assert "<img src=x" in browser.value("document.body.innerText"), "the page tells no name"
    assert browser.value("document.querySelectorAll('img[src=x]').length") == 0
    assert browser.value("typeof globalThis.hit") == "undefined"
