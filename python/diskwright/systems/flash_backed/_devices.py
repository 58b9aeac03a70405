"""The drive of the reproduction of flash-backed requests: two models of its medium, and the card."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from diskwright.reproduce import GeneratedFile

DRIVE = "travelstar-5k160"
CURVE, MECHANICAL = "curve", "mechanical"
MEDIA = (CURVE, MECHANICAL)
DRIVE_BLOCKS = 312_581_808
MEDIUM_RATE = "46 MB/s"
"""The drive's sustained rate at its edge, where the addresses of these loads lie."""

CARD_WRITE, CARD_READ = "1 ms", "1 ms"
CARD_WRITE_RATE = 9.0
CARD = "256 MB"
"""SanDisk Ultra II CompactFlash: 9 MB/s written; 1 ms for each command is an estimate."""
ERASE_KIB = 128
ENDURANCE = 100_000

SAMPLES = 1_000


def curve_file(target: Path, op: str, samples: int) -> None:
    """The access times of the drive by distance, as `diskwright probe` measures them."""
    found = _probed(samples)[op]
    lines = ["distance_blocks,mean_ms,low_ms,high_ms"]
    lines += [f"{at['distance_blocks']},{at['mean_ms']},{at['low_ms']},{at['high_ms']}" for at in found]
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _probed(samples: int) -> Mapping[str, Any]:
    from diskwright import _api

    found = _api.probe(DRIVE, only=["curve"], samples=samples)
    curve: Mapping[str, Any] = found.to_dict()["curve"]
    return curve


def drive_curve(samples: int) -> Mapping[str, Any]:
    """The points of Fig. 2 of the drive."""
    found = _probed(samples)
    return {"points": found["write"]}


def card_curve(distances: list[int], size_kib: int) -> Mapping[str, Any]:
    """The points of Fig. 2 of the card: writes of one size, one after the other, so far apart."""
    import tempfile

    from diskwright import _api

    blocks, points = size_kib * 2, []
    for distance in distances:
        with tempfile.TemporaryDirectory() as folder:
            trace = Path(folder, "apart.csv")
            places = [0 if number % 2 else distance + blocks for number in range(_CARD_WRITES)]
            rows = [f"{number},0,write,0,{place},{blocks}" for number, place in enumerate(places)]
            trace.write_text("time_ns,device,op,fua,lbn,blocks\n" + "\n".join(rows) + "\n", encoding="utf-8")
            run = _api.run(
                {
                    "workload": {"trace": str(trace), "pace": "closed"},
                    "host": {"outstanding": 1},
                    "measure": {"warmup": 0},
                    "device": card(1.0),
                }
            )
        mean, spread = float(run.response_ms.mean), _WITHIN_99 * float(run.response_ms.std or 0.0)
        points.append(
            {"distance_blocks": distance, "mean_ms": mean, "low_ms": mean - spread, "high_ms": mean + spread}
        )
    return {"points": points}


_CARD_WRITES = 400
_WITHIN_99 = 2.576


def medium(kind: str) -> Mapping[str, Any]:
    """The medium: by its measured curve, or with all its mechanics; its memory is off in both."""
    if kind == MECHANICAL:
        return {
            "hdd": {
                "drive": DRIVE,
                "angle": "random",
                "buffer": False,
                "queue": {"depth": 1, "scheduler": "fcfs"},
            }
        }
    files = {
        op: GeneratedFile(curve_file, {"op": op, "samples": SAMPLES}, suffix=".csv")
        for op in ("read", "write")
    }
    return {"curve": {"capacity": f"{DRIVE_BLOCKS} blocks", **files, "rate": MEDIUM_RATE}}


def card(speed: float) -> Mapping[str, Any]:
    """The card, as many times as fast in all that it does."""
    return {
        "simple": {
            "capacity": CARD,
            "read": f"{1000 / speed:.0f} us",
            "write": f"{1000 / speed:.0f} us",
            "rate": f"{CARD_WRITE_RATE * speed:g} MB/s",
        }
    }


def hybrid(kind: str, speed: float = 1.0) -> Mapping[str, Any]:
    """The hybrid drive."""
    return {"hybrid": {"media": medium(kind), "nvcache": card(speed)}}
