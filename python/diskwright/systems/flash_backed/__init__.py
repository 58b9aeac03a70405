"""Writes that go to the NV cache of a hybrid drive where its medium would take longer."""

from diskwright.reproduce import System
from diskwright.systems._traces import GUEST, HP_WEEK
from diskwright.systems.flash_backed._extensions import EXTENSIONS
from diskwright.systems.flash_backed._figures import FIGURES
from diskwright.systems.flash_backed._statements import STATEMENTS

SYSTEM = System(
    name="flash-backed",
    title="Writes that go to the NV cache of a hybrid drive where its medium would take longer",
    paper="T. Bisson and S. A. Brandt, Reducing Hybrid Disk Write Latency with Flash-Backed I/O Requests, "
    "MASCOTS 2007.",
    about=[
        "The drive is a hybrid: the library's travelstar-5k160 without memory of its own as the medium, "
        "and a card as the "
        "paper's, SanDisk Ultra II, as the NV cache: 9 MB/s and an estimate of 1 ms for each command. The "
        "paper's "
        "simulator knows the drive by its access time over distance: so does `curve`, with the curve that "
        "`diskwright "
        "probe` measures; statements are judged on that, and beside each stands one on the full model, "
        "with another "
        "angle for each seed.",
        "The HP week is the paper's HP load: the root disk, device 0, in its addresses. Debian is half an "
        "hour of a machine "
        "recorded for diskwright. The paper's Eng, WinPC and Mac are not public. Eng*, WinPC* and Mac* "
        "are stand-ins, "
        "generated anew with each seed: bursts in the hours of work from a journal, from places that are "
        "written again and again, from files and from anywhere. Their parameters are estimates, and what "
        "is found on them says "
        "nothing of the paper's traces.",
        "Write time is what medium or card are kept for by writes, flushing while requests wait included, "
        "waiting and "
        "flushing in idle time not; it is normalised to the same order of the Request Queue without an "
        "FQueue. The "
        "readings are the defaults of docs/model/flash-backed.md unless a figure says otherwise.",
        "In a quick try stand-ins have 12,000 requests; the HP week is whole.",
    ],
    traces=[HP_WEEK, GUEST],
    quick=50_000,
    figures=[*FIGURES, *EXTENSIONS],
    statements=STATEMENTS,
)
