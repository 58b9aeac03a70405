"""Traces and synthetic clones that come with diskwright, and recorded ones that several systems want."""

from pathlib import Path

from diskwright.reproduce import Trace, bundled

_DATA = Path(__file__).parent / "data"

GUEST = bundled(
    "debian-guest",
    _DATA / "traces" / "debian-guest.csv.zst",
    "comes with diskwright: a small Debian machine at work, 35 minutes",
)
SMALLDISKMON = bundled(
    "smalldiskmon",
    _DATA / "synthetic-clone" / "smalldiskmon.toml",
    "comes with diskwright: the counts of the trace SMALLDISKMON, from table I of Arfan, Kim and Kwon, "
    "Access time-aware cache algorithm for SATA hard disks, IEICE Electronics Express 9(22), 2012",
)
PCFAT32 = bundled(
    "pcfat32",
    _DATA / "synthetic-clone" / "pcfat32.toml",
    "comes with diskwright: the counts of the trace PCFAT32, from the same table",
)
HP_WEEK = Trace(
    "ajw.1week.srt",
    bytes=2_495_268,
    sha256="949eecedac5682be9a349f8028fd25a2a458ae99944f7a8838038044ed6b96f8",
    source="a week of a single-user HP-UX workstation, 1992, as it comes with DiskSim 4.0",
)
CLOUD_PHYSICS = Trace(
    "cloudPhysicsIO.vscsi",
    bytes=3_643_904,
    sha256="3e67d66a07e9292bb47f6c765eb24ab3ea3f1f7de7d64a1b9e8c28b38b7439b9",
    source="a virtual disk of CloudPhysics's collection, as it comes with libCacheSim",
)
