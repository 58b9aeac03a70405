"""Does diskwright work without its checkout: from a wheel, and from one of the sources' archive?"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import diskwright
from conftest import ROOT, environment, names, parsed

pytestmark = pytest.mark.long

ASKED = """\
import importlib.metadata, json, sys, diskwright
from diskwright import report
found = diskwright.run("demo.toml", picture=True)
report.write(found, "page.html")
files = [str(file) for file in importlib.metadata.files("diskwright")]
print(json.dumps([diskwright.__file__, found.digest, diskwright.drives(), files, sys.path]))
"""


def told(*command: str | Path, cwd: Path, **variables: str) -> None:
    """Runs what builds or installs; tells what it said where it fails."""
    done = subprocess.run(command, cwd=cwd, env=os.environ | variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module", params=["checkout", "archive"])
def installed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that has diskwright from a wheel."""
    folder = tmp_path_factory.mktemp(request.param)
    # What the engine depends on is compiled already.
    built = {"CARGO_TARGET_DIR": str(ROOT / "target"), "PYO3_PYTHON": sys.executable}
    maturin = [sys.executable, "-m", "maturin"]
    if request.param == "checkout":
        told(*maturin, "build", "--release", "--quiet", "--out", folder, cwd=ROOT, **built)
    else:
        told(*maturin, "sdist", "--out", folder, cwd=ROOT, **built)
        (archive,) = folder.glob("*.tar.gz")
        shutil.unpack_archive(archive, folder / "sources", filter="data")
        (sources,) = (folder / "sources").iterdir()
        told(*maturin, "build", "--release", "--quiet", "--out", folder, cwd=sources, **built)
    (wheel,) = folder.glob("*.whl")
    told(sys.executable, "-m", "venv", folder / "environment", cwd=folder)
    programs = folder / "environment" / "bin"
    told(programs / "python", "-m", "pip", "install", "--quiet", wheel, cwd=folder)
    return programs


def test_the_demo_runs_in_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    shutil.copy(ROOT / "examples" / "demo.toml", tmp_path)
    expected = diskwright.run(ROOT / "examples" / "demo.toml").digest

    def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
        apart = {name: value for name, value in environment().items() if not name.startswith("PYTHON")}
        return subprocess.run(command, cwd=tmp_path, env=apart, capture_output=True, text=True)

    assert parsed(run(installed / "diskwright", "run", "demo.toml", "--json", "-"))["digest"] == expected
    done = run(installed / "python", "-I", "-c", ASKED)
    assert done.returncode == 0, done.stderr
    module, digest, drives, files, path = json.loads(done.stdout)
    assert module.startswith(str(installed.parent))
    assert not [place for place in path if place.startswith(str(ROOT))]
    assert digest == expected
    assert drives == diskwright.drives()
    wanted = ["LICENSE-MIT", "LICENSE-APACHE", "report/static/plotly-cartesian.LICENSE", "py.typed"]
    # Systems have data of their own.
    data = ROOT / "python" / "diskwright" / "systems" / "data"
    wanted += [str(path.relative_to(data.parent)) for path in data.rglob("*") if path.is_file()]
    for file in wanted:
        assert any(name.endswith(file) for name in files), file
    assert names(tmp_path) == ["demo.toml", "page.html"]
    assert "Plotly" in (tmp_path / "page.html").read_text(encoding="utf-8")
