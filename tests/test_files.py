"""Is a written file whole or not there?"""

from pathlib import Path

import pytest

from conftest import names
from diskwright._files import replacing


def test_a_file_appears_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    with replacing(path) as stream:
        stream.write("new")
        assert not path.exists()
    assert path.read_text() == "new"
    assert names(tmp_path) == ["out.json"]


def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), replacing(path) as stream:
        stream.write("new")
        raise KeyboardInterrupt
    assert path.read_text() == "old"
    assert names(tmp_path) == ["out.json"]


def test_the_mode_is_that_of_the_old_file_or_of_a_new_one(tmp_path: Path) -> None:
    plain, written, private = (tmp_path / name for name in ("plain", "written", "private"))
    plain.touch()
    private.touch(mode=0o600)
    for path in (written, private):
        with replacing(path):
            pass
    assert written.stat().st_mode == plain.stat().st_mode
    assert private.stat().st_mode & 0o777 == 0o600


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("target")
    (tmp_path / "target").touch()
    with replacing(tmp_path / "link") as stream:
        stream.write("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new"


def test_a_device_is_written_to_and_not_replaced() -> None:
    with replacing("/dev/null") as stream:
        stream.write("new")
    assert Path("/dev/null").is_char_device()


def test_a_folder_is_refused_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="directory"), replacing(tmp_path):
        pass
    with pytest.raises(OSError, match="missing/out"), replacing(tmp_path / "missing/out"):
        pass
