"""A spec as typed objects: one class for each table and each policy with parameters.

>>> from diskwright.spec import Hdd, Host, Poisson, Queue, Spec, Synthetic, Workload
>>> spec = Spec(
...     workload=Workload(synthetic=Synthetic(requests=1_000, arrivals=Poisson("20 ms"), reads=0.67)),
...     device=Hdd(drive="ibm-18es", queue=Queue(depth=32, scheduler="satf")),
... )
>>> spec.replace(host__outstanding=8).host
Host(outstanding=8, scheduler=None)

Made by `tools/spec_classes.py` from the engine's schema: change the engine, not this file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

from diskwright._typed import Document, DrivePath, FilePath, Table

__all__ = [
    "Adaptive",
    "AdaptiveTimeout",
    "Address",
    "After",
    "AgedSatf",
    "Aggressive",
    "AllocationDescription",
    "Allocator",
    "Always",
    "Angle",
    "Apst",
    "Arc",
    "Arm",
    "ArmChoice",
    "ArmMotion",
    "ArmsOf",
    "Array",
    "ArrayLayout",
    "Arrivals",
    "Atca",
    "AtcaSimple",
    "BadSize",
    "BatchSatf",
    "Belady",
    "BitmapRules",
    "BlkEvent",
    "Blktrace",
    "By",
    "BySize",
    "Bypass",
    "Bytes",
    "CLook",
    "CLookFrom",
    "CScan",
    "Cache",
    "Cleaner",
    "CleaningDescription",
    "Clock",
    "Closed",
    "CommitWith",
    "Concat",
    "Constant",
    "Controller",
    "ControllerCacheDevice",
    "ControllerDescription",
    "ControllerJoin",
    "ControllerMemory",
    "ControllerPrefetch",
    "ControllerVictims",
    "ControllerWrites",
    "CostBenefit",
    "Csv",
    "Curve",
    "Custom",
    "DChoices",
    "Deadline",
    "Delay",
    "Device",
    "DevicePlace",
    "Distances",
    "Distribution",
    "Driver",
    "Eager",
    "Energy",
    "Exponential",
    "ExponentialDistribution",
    "ExponentialSizes",
    "Fac",
    "Fail",
    "FailureRate",
    "FailuresDescription",
    "Fault",
    "FaultKind",
    "Fcfs",
    "Fifo",
    "Fio",
    "FioJobs",
    "FioNormal",
    "FioPareto",
    "FioZipf",
    "First",
    "FixedTimeouts",
    "FlashBacked",
    "FlashBackedIdle",
    "FlashBackedNext",
    "FlashBackedOrder",
    "FlashBackedOverlap",
    "FlashTimes",
    "Free",
    "Generator",
    "GeometryDescription",
    "Greedy",
    "GreedyDual",
    "Growing",
    "Hdd",
    "HddPower",
    "HddPowerFigures",
    "HeadOnly",
    "Host",
    "HotCold",
    "Hybrid",
    "Idle",
    "IdleDescription",
    "IdleProcessors",
    "InPlace",
    "Initial",
    "Join",
    "Learned",
    "LeastOutstanding",
    "Lengths",
    "Level",
    "Lfu",
    "Lifo",
    "LinkDescription",
    "Lirs",
    "Load",
    "Local",
    "LogVictim",
    "Look",
    "Lru",
    "MapScheme",
    "MappingDescription",
    "Measure",
    "MeasureEnd",
    "MediaError",
    "MergedPlace",
    "Mirror",
    "MirrorRead",
    "MultiHash",
    "MultiPlaneDescription",
    "Ncq",
    "Nearest",
    "Never",
    "NoCleaning",
    "NoMetadata",
    "NormalDistribution",
    "Oldest",
    "OnCache",
    "OnOff",
    "OracleTimeout",
    "OutOfOrder",
    "Outage",
    "Outstanding",
    "Overhead",
    "OverheadTable",
    "Overwrite",
    "Pace",
    "Paper",
    "Parallel",
    "ParityDescription",
    "ParityDirection",
    "ParityRotation",
    "ParityStriping",
    "ParityWaits",
    "ParityWrites",
    "PartlyRandom",
    "PassThrough",
    "PastEnd",
    "Pattern",
    "Pause",
    "Pcie",
    "Percent",
    "Placement",
    "Poisson",
    "PoissonDistribution",
    "PoissonRequests",
    "Portion",
    "Power",
    "PowerPolicy",
    "Precondition",
    "Priority",
    "Processes",
    "Queue",
    "QueueClass",
    "QueuesDescription",
    "Raid4",
    "Raid5",
    "Raid6",
    "Raid10",
    "Random",
    "RandomGreedy",
    "Rank",
    "Rate",
    "ReadOnly",
    "RebuildRules",
    "Recovery",
    "RecoveryDescription",
    "RedirectBySize",
    "RedirectionRule",
    "Refill",
    "RefreshDescription",
    "Replacement",
    "Requests",
    "Resize",
    "ResyncRules",
    "RetryDescription",
    "RoundRobin",
    "S3Fifo",
    "Sata",
    "Satf",
    "Scale",
    "Scaled",
    "Scan",
    "Scheduler",
    "ScrubRules",
    "Separation",
    "Sequential",
    "Several",
    "Sieve",
    "Simple",
    "SingleStream",
    "Size",
    "SizeByOperation",
    "SizeShare",
    "Sizes",
    "SlcDescription",
    "SlcFull",
    "Slots",
    "Slru",
    "Soonest",
    "SpareDescription",
    "Spec",
    "Spindles",
    "Split",
    "Ssd",
    "SsdPower",
    "SsdPowerFigures",
    "Sstf",
    "SstfTies",
    "Start",
    "StateFigures",
    "StaticLevellingDescription",
    "Streams",
    "Strided",
    "StridedZones",
    "Stripe",
    "SuspendDescription",
    "SuspensionLimits",
    "Sweep",
    "Synchronised",
    "Synthetic",
    "SyntheticClone",
    "SyntheticCloneTable",
    "Think",
    "Threshold",
    "Tier",
    "TierAdmission",
    "TierCleaning",
    "TierEvent",
    "TierEventKind",
    "TierInitial",
    "TierMetadata",
    "TierPromotion",
    "TierRankedBy",
    "TierWritePolicy",
    "Ties",
    "Time",
    "Timeout",
    "TimingDescription",
    "Trace",
    "TraceDevice",
    "Transition",
    "Turns",
    "TwoQ",
    "TwoValueDistribution",
    "Uniform",
    "UniformDistribution",
    "UniformGaps",
    "VScan",
    "Variant",
    "Victims",
    "WTinylfu",
    "WarmUp",
    "Watermark",
    "WearDescription",
    "WeightedSatf",
    "WeightsDescription",
    "Workload",
    "WriteAround",
    "WriteBack",
    "WriteBufferDescription",
    "WritePolicy",
    "WriteThrough",
    "Zipf",
    "Zone",
    "Zones",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec(Document):
    """Everything a run depends on."""

    workload: Workload
    """Where requests come from."""
    device: Device
    """The device that takes them."""
    seed: int | None = None
    """The seed of every random stream. Default: 1."""
    host: Host | None = None
    """How the host hands them over."""
    measure: Measure | None = None
    """What is measured."""
    fault: Sequence[Fault] | None = None
    """What goes wrong, and when."""
    sweep: Sweep | None = None
    """What `diskwright sweep` varies. No run depends on it, so that no result has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload(Table):
    """Where the requests come from, and what is made of them."""

    trace: FilePath | None = None
    """A trace file; this, `synthetic-clone`, `synthetic` or `fio`."""
    synthetic_clone: SyntheticClone | None = None
    """A profile or a table of counts that a trace is made from, with the spec's seed; this, `trace`,
    `synthetic` or `fio`.
    """
    synthetic: Load | None = None
    """A synthetic load; this, `trace`, `synthetic-clone` or `fio`."""
    fio: Fio | None = None
    """A job file of fio's, which becomes a synthetic load; this, `trace`, `synthetic-clone` or `synthetic`.
    """
    processes: Processes | None = None
    """Processes that make requests on simulated processors, as DiskSim's synthetic generators are; in place
    of all of these.
    """
    format: str | None = None
    """The trace's format, where its content does not tell."""
    csv: Csv | None = None
    """Columns and units of a CSV trace."""
    blktrace: Blktrace | None = None
    """Which event of a trace of blktrace or blkparse is a request's arrival."""
    sector_bytes: int | None = None
    """Bytes in a sector of an HP trace, in place of the number in its header."""
    pace: Pace | None = None
    """When the requests are issued. Default: "recorded"."""
    device: TraceDevice | None = None
    """Which of the trace's devices. Default: "single"."""
    devices: Sequence[DevicePlace] | None = None
    """Where the trace's devices are on the one that the requests are for, each with its number; in place of
    `device`.
    """
    from_: Time | None = None
    """Leave out requests that arrive earlier; this instant becomes time 0."""
    to: Time | None = None
    """Leave out requests that arrive then or later."""
    limit: int | None = None
    """At most this many requests."""
    past_end: PastEnd | None = None
    """How requests past the end of the drive are treated. Default: "error"."""
    out_of_order: OutOfOrder | None = None
    """How requests that arrive before their predecessor are treated. Default: "error"."""
    bad_size: BadSize | None = None
    """How requests without blocks, or with more blocks than the drive, are treated. Default: "error"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntheticCloneTable(Table):
    """A synthetic clone of a table of counts, with parameters over those of its file."""

    profile: FilePath
    """The file."""
    modes: Sequence[int] | None = None
    """The sizes that requests have, in blocks, ascending."""
    weights: Sequence[float] | None = None
    """How common each size is before the shares are fitted to the means of the table."""
    small_share: float | None = None
    """The share of small requests, 0 to 1."""
    small: Size | None = None
    """The largest size that counts as small."""
    random_read_share: float | None = None
    """The share of reads among the random requests, 0 to 1."""
    run_requests: float | None = None
    """The mean number of requests in a sequential run of two or more."""
    theta: float | None = None
    """The exponent of Zipf's law by which runs are referenced again, by their depth in the LRU stack, 0 or
    more.
    """
    span: Size | None = None
    """The range of addresses."""
    mean_gap: Time | None = None
    """The mean gap between arrivals."""
    burst_requests: float | None = None
    """The mean number of requests in a burst, 1 or more."""
    burst_gap: Time | None = None
    """The mean gap between the arrivals of a burst."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthetic(Table):
    """One synthetic load."""

    arrivals: Arrivals
    """When they arrive."""
    name: str | None = None
    """What it is called among several; its random numbers depend on its name, or on its place when it has
    none.
    """
    report_as: str | None = None
    """The name under which its requests are reported. Default: its own. Streams with the same name are
    reported together.
    """
    requests: int | None = None
    """How many requests; without a number, as many as there are in `duration`."""
    stage: int | None = None
    """It begins when all streams of lower stages have ended."""
    start: Start | None = None
    """It does not begin before this instant."""
    duration: Time | None = None
    """It issues requests for this time from its beginning, its warm-up included, and none from then on.
    """
    warmup: Time | None = None
    """Its requests that arrive within this time from its beginning are left out of the statistics."""
    ends_stage: bool | None = None
    """When it has ended, the other streams of its stage issue nothing more."""
    reads: float | None = None
    """The share of reads; what reads, trims and flushes leave of 1 are writes. Default: 1.0."""
    trims: float | None = None
    """The share of trims. Default: 0.0."""
    flushes: float | None = None
    """The share of flushes. Default: 0.0."""
    flush_every: int | None = None
    """The number of writes from one flush to the next. Flushes count among the requests."""
    fua: float | None = None
    """The share of writes that are forced to the medium (FUA). Default: 0.0."""
    size: Sizes | None = None
    """How large they are. Default: "8 blocks"."""
    address: Address | None = None
    """Where they are."""


@dataclass(frozen=True, slots=True)
class Poisson(Table):
    """At random, independently of each other, with this mean gap; the first after one such gap."""

    _names: ClassVar[tuple[str, ...]] = ("poisson",)
    _is_value: ClassVar[bool] = True
    value: Time


@dataclass(frozen=True, slots=True)
class Constant(Table):
    """At this gap; the first at time 0.

    Always the same.
    """

    _names: ClassVar[tuple[str, ...]] = ("constant",)
    _is_value: ClassVar[bool] = True
    value: Time


@dataclass(frozen=True, slots=True, kw_only=True)
class UniformGaps(Table):
    """With gaps that are uniformly distributed; the first after one such gap.

    The shortest and the longest gap, between which every whole nanosecond is as likely as another.
    """

    _names: ClassVar[tuple[str, ...]] = ("uniform",)
    max: Time
    """The longest."""
    min: Time | None = None
    """The shortest. Default: "0 ms"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OnOff(Table):
    """In bursts.

    How long the periods are, and how far apart requests.
    """

    _names: ClassVar[tuple[str, ...]] = ("on-off",)
    on: Time
    """The mean length of a period with requests; the load begins with one."""
    off: Time
    """The mean length of a period without."""
    gap: Time
    """The mean gap between requests in a period with requests."""
    periods: Lengths | None = None
    """How the lengths of periods are distributed. Default: "exponential"."""
    gaps: Lengths | None = None
    """How gaps are distributed. Default: "exponential"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed(Table):
    """Each of a number of users sends its next request some time after its last one is done.

    Users that wait for their requests.
    """

    _names: ClassVar[tuple[str, ...]] = ("closed",)
    users: int | None = None
    """How many; the host's outstanding limit when not given."""
    think: Think | None = None
    """From a completion to the same user's next request. Default: "0 ms"."""
    rate: Rate | None = None
    """The most that all of them issue in a second."""
    pause: Pause | None = None
    """When all of them pause together."""
    refill: Refill | None = None
    """When they issue again once each has a request outstanding; each for itself if not given."""


@dataclass(frozen=True, slots=True)
class Exponential(Table):
    """Exponentially distributed with this mean."""

    _names: ClassVar[tuple[str, ...]] = ("exponential",)
    _is_value: ClassVar[bool] = True
    value: Time


@dataclass(frozen=True, slots=True)
class Requests(Table):
    """A number of requests a second, at equal distances.

    The contents after this number of requests of the run's own load, from its first on. The run itself
    begins with the first request, too.
    """

    _names: ClassVar[tuple[str, ...]] = ("requests",)
    _is_value: ClassVar[bool] = True
    value: int


@dataclass(frozen=True, slots=True)
class PoissonRequests(Table):
    """A mean number of requests a second, at exponentially distributed distances."""

    _names: ClassVar[tuple[str, ...]] = ("poisson-requests",)
    _is_value: ClassVar[bool] = True
    value: int


@dataclass(frozen=True, slots=True)
class Bytes(Table):
    """A number of bytes a second: a request waits until those before it would have been carried at this
    rate.
    """

    _names: ClassVar[tuple[str, ...]] = ("bytes",)
    _is_value: ClassVar[bool] = True
    value: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause(Table):
    """All users of a stream stop, wait until what is under way has completed, and pause."""

    time: Time
    """How long."""
    requests: int | None = None
    """The number of requests from the end of one pause to the next; flushes are not counted."""
    period: Time | None = None
    """When so much time has passed since the end of the last pause."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refill(Table):
    """Once every user has a request outstanding, none issues its next one before a number of requests has
    completed: the queue is filled in batches. As fio's `iodepth_batch_complete_min` and `iodepth_low`.
    """

    completions: int | None = None
    """Completions are taken in groups of this number. Default: 1."""
    low: int | None = None
    """The users issue again when a group has been taken and at most this number of requests is outstanding.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeShare(Table):
    """A size and the share of requests that have it."""

    size: Size
    """The size."""
    share: float
    """The share of the requests; all together they make 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExponentialSizes(Table):
    """Sizes drawn from an exponential distribution, each rounded up to a multiple."""

    exponential: Size
    """The mean before rounding."""
    multiple: Size | None = None
    """What sizes are multiples of. Default: "1 block"."""
    most: Size | None = None
    """The largest size, a multiple; larger ones become this. Without it the largest is 37 times the mean,
    which one size in 10^16 exceeds.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeByOperation(Table):
    """Sizes that differ between reads and writes; none of them differs once more."""

    reads: Sizes
    """The sizes of reads."""
    writes: Sizes
    """The sizes of writes."""
    trims: Sizes | None = None
    """The sizes of trims; those of writes when not given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Uniform(Table):
    """Every place in a range as likely as another.

    The range, and where in it requests may begin.
    """

    _names: ClassVar[tuple[str, ...]] = ("uniform",)
    from_: int | None = None
    """First block. Default: 0."""
    blocks: int | None = None
    """Number of blocks; to the end of the drive when not given."""
    align: Size | None = None
    """Requests begin at multiples of this; of their own size when not given. `"1 block"` is anywhere."""
    once: bool | None = None
    """Every place once, in random order, before any a second time; then again, in another order. Of several
    sizes each has its own places. Default: false.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Sequential(Table):
    """One request after the other, and from the start of the range again after its end.

    The range to go through, again and again.
    """

    _names: ClassVar[tuple[str, ...]] = ("sequential",)
    from_: int | None = None
    """First block. Default: 0."""
    blocks: int | None = None
    """Number of blocks; to the end of the drive when not given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Zipf(Table):
    """The place of rank k as likely as 1/k^theta.

    How skewed, and over which places.
    """

    _names: ClassVar[tuple[str, ...]] = ("zipf",)
    theta: float | None = None
    """The exponent, 0 or more: 0 is uniform, 1 is Zipf's own law. Default: 1.0."""
    scatter: bool | None = None
    """Ranks are scattered over the range at random; if not, rank 1 is the lowest place, and so on upwards.
    Default: true.
    """
    from_: int | None = None
    """First block. Default: 0."""
    blocks: int | None = None
    """Number of blocks; to the end of the drive when not given."""
    align: Size | None = None
    """Requests begin at multiples of this; of their own size when not given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FioZipf(Table):
    """What fio makes of `random_distribution=zipf`.

    How skewed, and over which places.
    """

    _names: ClassVar[tuple[str, ...]] = ("fio-zipf",)
    theta: float | None = None
    """The exponent, 0 or more, not 1. Default: 1.1."""
    center: float | None = None
    """Where in the range rank 1 is, 0 to 1; drawn when not given."""
    from_: int | None = None
    """First block. Default: 0."""
    blocks: int | None = None
    """Number of blocks; to the end of the drive when not given."""
    align: Size | None = None
    """Requests begin at multiples of this; of their own size when not given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FioPareto(Table):
    """What fio makes of `random_distribution=pareto`.

    How skewed, and over which places.
    """

    _names: ClassVar[tuple[str, ...]] = ("fio-pareto",)
    h: float | None = None
    """Between 0 and 1: the part h of the places gets the part 1 − h of the requests. Default: 0.2."""
    center: float | None = None
    """Where in the range the most likely place is, 0 to 1; drawn when not given."""
    from_: int | None = None
    """First block. Default: 0."""
    blocks: int | None = None
    """Number of blocks; to the end of the drive when not given."""
    align: Size | None = None
    """Requests begin at multiples of this; of their own size when not given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FioNormal(Table):
    """What fio makes of `random_distribution=normal`.

    How wide, and over which places.
    """

    _names: ClassVar[tuple[str, ...]] = ("fio-normal",)
    deviation: float | None = None
    """A percentage of the range, 0 to below 100. Default: 0.0."""
    center: float | None = None
    """Where in the range the most likely place is before it is scattered, 0 to 1; 0.5 when not given."""
    from_: int | None = None
    """First block. Default: 0."""
    blocks: int | None = None
    """Number of blocks; to the end of the drive when not given."""
    align: Size | None = None
    """Requests begin at multiples of this; of their own size when not given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HotCold(Table):
    """Part of the places gets most of the requests.

    How much is hot, and how hot.
    """

    _names: ClassVar[tuple[str, ...]] = ("hot-cold",)
    hot: Portion | None = None
    """The hot part of the range. Default: "10 %"."""
    share: Percent | None = None
    """The percentage of requests that go to it. Default: "90 %"."""
    scatter: bool | None = None
    """Hot places are scattered over the range at random; if not, they are its beginning. Default: true.
    """
    from_: int | None = None
    """First block. Default: 0."""
    blocks: int | None = None
    """Number of blocks; to the end of the drive when not given."""
    align: Size | None = None
    """Requests begin at multiples of this; of their own size when not given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Zones(Table):
    """Parts of the range, each with its share of the requests.

    The parts.
    """

    _names: ClassVar[tuple[str, ...]] = ("zones",)
    zones: Sequence[Zone] | None = None
    """Them, from the beginning of the range. Default: []."""
    from_: int | None = None
    """First block. Default: 0."""
    blocks: int | None = None
    """Number of blocks; to the end of the drive when not given."""
    align: Size | None = None
    """Requests begin at multiples of this; of their own size when not given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Zone(Table):
    """A part of the range."""

    share: Percent
    """The percentage of requests that go to it; all together they make 100 %."""
    size: Portion
    """How much of the range it is; all together they make it up, or leave a rest that nothing goes to.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Streams(Table):
    """Several sequential streams in turn, each of which jumps when its run is done.

    How many streams, and how long their runs are.
    """

    _names: ClassVar[tuple[str, ...]] = ("streams",)
    count: int | None = None
    """How many. Default: 8."""
    run: Size | None = None
    """How far a stream goes before it jumps: a request that would cross the end of its run begins another
    one. Default: "2048 blocks".
    """
    turns: Turns | None = None
    """Which stream is next. Default: "round-robin"."""
    from_: int | None = None
    """First block. Default: 0."""
    blocks: int | None = None
    """Number of blocks; to the end of the drive when not given."""
    align: Size | None = None
    """Runs begin at multiples of this; of the size of the largest request when not given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strided(Table):
    """One request after the other at a fixed distance.

    The distance, and the range.
    """

    _names: ClassVar[tuple[str, ...]] = ("strided",)
    stride: Size | None = None
    """From the beginning of a request to the beginning of the next. Default: "128 blocks"."""
    shift: Size | None = None
    """After each pass through the range the next one begins so much further on, until it would begin a
    stride further on; the size of the largest request when not given, so that the passes together cover
    the range. 0 blocks makes every pass the same.
    """
    from_: int | None = None
    """First block. Default: 0."""
    blocks: int | None = None
    """Number of blocks; to the end of the drive when not given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StridedZones(Table):
    """Zones one after the other, each with as much data before the next.

    The zones.
    """

    _names: ClassVar[tuple[str, ...]] = ("strided-zones",)
    zone: Size | None = None
    """The size of a zone. Default: "2048 blocks"."""
    transfer: Size | None = None
    """How much is transferred in a zone before the next one begins; as much as it holds when not given. Less
    leaves part of it out, more goes through it again.
    """
    skip: Size | None = None
    """The distance from the end of a zone to the start of the next one. Default: "0 blocks"."""
    random: bool | None = None
    """Requests go to random places of their zone, in place of one behind the other. Default: false."""
    from_: int | None = None
    """First block, where the first zone begins. Default: 0."""
    blocks: int | None = None
    """Number of blocks; to the end of the drive when not given. A zone that does not fit whole is left out.
    """
    align: Size | None = None
    """Random requests begin at multiples of this from the start of their zone on; of their own size when not
    given.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class PartlyRandom(Table):
    """Part of the requests at random, the others each behind the one before.

    The share of the random ones, and the range.
    """

    _names: ClassVar[tuple[str, ...]] = ("partly-random",)
    random: float | None = None
    """The share of requests that go to a random place. The others begin where the last request of the same
    operation ends, or at a random place where that does not fit into the range. Default: 0.5.
    """
    writes: float | None = None
    """The share of writes, where it is another."""
    trims: float | None = None
    """The share of trims, where it is another."""
    from_: int | None = None
    """First block. Default: 0."""
    blocks: int | None = None
    """Number of blocks; to the end of the drive when not given."""
    align: Size | None = None
    """Random requests begin at multiples of this; of their own size when not given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Local(Table):
    """Each request near the one before.

    How near, and how often elsewhere.
    """

    _names: ClassVar[tuple[str, ...]] = ("local",)
    distance: Size | None = None
    """The mean distance from a request's beginning to the next one's. Default: "2048 blocks"."""
    distances: Distances | None = None
    """How distances are distributed; both directions are as likely. Default: "exponential"."""
    jumps: Percent | None = None
    """The percentage of requests that go anywhere in the range. Default: "0 %"."""
    from_: int | None = None
    """First block. Default: 0."""
    blocks: int | None = None
    """Number of blocks; to the end of the drive when not given."""
    align: Size | None = None
    """Requests begin at multiples of this; of their own size when not given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Growing(Table):
    """Over a region that part of the writes make larger.

    What is there at the start, and how fast it grows.
    """

    _names: ClassVar[tuple[str, ...]] = ("growing",)
    blocks: int
    """Number of blocks that are there at the start."""
    new: float
    """The share of writes that are new data."""
    from_: int | None = None
    """First block. Default: 0."""
    align: Size | None = None
    """Requests begin at multiples of this; of their own size when not given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Several(Table):
    """Several synthetic loads at once."""

    stream: Sequence[Synthetic]
    """The loads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FioJobs(Table):
    """Some of the jobs of a job file of fio's."""

    file: FilePath
    """The file."""
    jobs: Sequence[str] | None = None
    """Only these jobs, which run together; all when not given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Processes(Table):
    """Processes on simulated processors, each of which computes, makes a request, and waits for it or not:
    the synthetic generators of DiskSim 4.0, request for request.
    """

    requests: int
    """The run ends at once when a process plans its next request and all processes together have gone on
    from this many requests. What is under way then is not counted.
    """
    generator: Sequence[Generator]
    """The generators, each of which is a process."""
    duration: Time | None = None
    """The run ends at once when a process plans its next request at this instant or later."""
    processors: int | None = None
    """How many processors there are. A process keeps its processor while it computes, and gives it up only
    to wait for a request: with fewer processors than processes that do not wait, some never make a
    request. Default: 1.
    """
    idle_processors: IdleProcessors | None = None
    """What becomes of a processor that has no process to go on with. Default: "lost"."""
    time_scale: float | None = None
    """What the time of all computing is multiplied by. Default: 1.0."""
    first_seed: int | None = None
    """The seed of the first request of each generator, of which the lowest 32 bits count. Default: the
    spec's `seed`.
    """
    later_seed: int | None = None
    """The seed of all requests after the first ones: DiskSim has a constant here. Default: 1000003."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Generator(Table):
    """One generator of requests."""

    gap_ms: Distribution
    """The time for which the process computes before a request, in ms; drawn again while it is below 0.
    """
    size_blocks: Distribution
    """The sizes of requests, in blocks: rounded towards 0 to a block, then up to whole units. Drawn again
    while it is 0 or less, or does not fit, together with the place.
    """
    name: str | None = None
    """The name under which its requests are reported. Default: its place, `generator[0]`, where there are
    several.
    """
    devices: Sequence[int] | None = None
    """The numbers of its devices, one of which is drawn for each request that is neither sequential nor
    local: `workload.devices` says where they are. Default: the one device there is.
    """
    capacity: Size | None = None
    """How much of each device it uses, from its beginning. Default: all of the smallest one. Up to 1 % more
    is accepted; requests past the end are mapped, their place modulo the device's capacity, and counted.
    """
    unit: Size | None = None
    """Places and sizes are multiples of this. A capacity that is none is not used to its end. Default: "1
    block".
    """
    sequential: float | None = None
    """The share of requests that begin where the one before has ended, with its size, its device and its
    direction. Default: 0.0.
    """
    local: float | None = None
    """The share of requests that are at a distance from the one before, on the same device. Default: 0.0.
    """
    reads: float | None = None
    """The share of reads; all others are writes. Default: 1.0."""
    critical: float | None = None
    """The share of time-critical requests: the process waits for them. Default: 0.0."""
    limited: float | None = None
    """The share of time-limited requests: the process waits for them if they are under way when their time
    is over. Default: 0.0.
    """
    limit_ms: Distribution | None = None
    """The time of time-limited requests, in ms; needed where there are some. Drawn again while it is below
    0.
    """
    sequential_gap_ms: Distribution | None = None
    """The same before a sequential request. Default: that of the others."""
    local_gap_ms: Distribution | None = None
    """The same before a local request. Default: that of the others."""
    distance_blocks: Distribution | None = None
    """From the first block of the request before to that of a local one, in blocks; needed where there are
    some. Rounded towards 0 to whole units.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class UniformDistribution(Table):
    """Every number of a range alike.

    Every number of a range alike: one random number.
    """

    _names: ClassVar[tuple[str, ...]] = ("uniform",)
    min: float
    """The least."""
    max: float
    """The end of the range, which is not drawn itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NormalDistribution(Table):
    """The normal distribution.

    The normal distribution, by von Neumann's comparison of two exponential numbers: three random numbers
    or more.
    """

    _names: ClassVar[tuple[str, ...]] = ("normal",)
    mean: float
    """The mean."""
    deviation: float
    """The standard deviation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExponentialDistribution(Table):
    """A number, and an exponentially distributed one.

    `base`, and an exponentially distributed number: one random number.
    """

    _names: ClassVar[tuple[str, ...]] = ("exponential",)
    mean: float
    """The mean, without `base`."""
    base: float | None = None
    """What is added to each. Default: 0.0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoissonDistribution(Table):
    """A number, and the number of events in a Poisson process.

    `base`, and the number of events in a Poisson process: one random number for each event, and one more.
    """

    _names: ClassVar[tuple[str, ...]] = ("poisson",)
    mean: float
    """The mean, without `base`: at most 700."""
    base: float | None = None
    """What is added to each. Default: 0.0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoValueDistribution(Table):
    """One of two numbers.

    One of two numbers: one random number.
    """

    _names: ClassVar[tuple[str, ...]] = ("two-value",)
    usual: float
    """The usual number."""
    other: float
    """The other one."""
    share: float
    """The share of the other one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Csv(Table):
    """What a CSV file's columns mean, where their names do not say it."""

    columns: Sequence[str] | None = None
    """Names of the columns of a file without a header line."""
    delimiter: str | None = None
    """The character between columns; found by the first line when not given."""
    time: str | None = None
    """The column of the arrival time."""
    time_unit: str | None = None
    """Its unit: s, ms, us, 100ns or ns; or iso, for dates with a time of day such as
    `2023-11-14T22:13:20.5Z`, which the first line shows, too.
    """
    lbn: str | None = None
    """The column of the first block."""
    offset_bytes: str | None = None
    """The column of the first byte, in place of `lbn`."""
    blocks: str | None = None
    """The column of the number of blocks."""
    bytes: str | None = None
    """The column of the number of bytes, in place of `blocks`."""
    block_bytes: int | None = None
    """Bytes in one unit of `lbn` and `blocks`; 512 when not given."""
    op: str | None = None
    """The column of the operation."""
    read: str | None = None
    """A text in it that means read, besides `r` and `read`."""
    write: str | None = None
    """A text in it that means write, besides `w` and `write`."""
    device: str | None = None
    """The column of the device: its number, or its name, such as sda; names are numbered from 0 in the order
    in which they first appear.
    """
    fua: str | None = None
    """The column that says 1 or true for force unit access."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Blktrace(Table):
    """How blktrace's records and blkparse's lines become requests."""

    event: BlkEvent | None = None
    """The event that is a request's arrival. Default: "queue"."""


@dataclass(frozen=True, slots=True)
class Scaled(Table):
    """The recorded pace times this factor: 2 halves every gap."""

    _names: ClassVar[tuple[str, ...]] = ("scaled",)
    _is_value: ClassVar[bool] = True
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DevicePlace(Table):
    """Where a device of a trace is."""

    device: int
    """Its number in the trace."""
    offset: Size | None = None
    """Where its block 0 is. Default: "0 blocks"."""
    size: Size | None = None
    """How large it is; to the end of the device that takes the requests where it is left out."""
    location_scale: int | None = None
    """How many bytes a place of the trace is further than the one before: 512 where it counts blocks. A part
    or a multiple of 512. Default: 512.
    """
    size_scale: int | None = None
    """What the sizes of its requests are multiplied by. Default: 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hdd(Table):
    """A hard disk."""

    _names: ClassVar[tuple[str, ...]] = ("hdd",)
    drive: DrivePath
    """The name of a drive, or the path of a drive's TOML file or of a `.parv` file of DiskSim's."""
    angle: Angle | None = None
    """The position of the platters at time zero. Default: 0, or in an array that of its `spindles`."""
    queue: Queue | None = None
    """The drive's queue."""
    buffer: bool | Mapping[str, Any] | None = None
    """The drive's buffer: `true` for the one that the drive has, `false` for none, or a table of what is to
    differ from the drive's. Without it, none where a cache, arms or a log are given, and else the
    drive's.
    """
    write_cache: bool | None = None
    """Whether the drive's write cache is on; as the drive ships where it is left out. Beside a block cache
    only with `buffer`.
    """
    bus: str | None = None
    """The name of a bus that it shares with the other drives that name it: one of them uses it at a time.
    Only with a segmented buffer, which knows when a drive needs the bus.
    """
    overhead: Overhead | None = None
    """How long the controller takes for a command: a time before every command, or a table of what is to
    differ from the drive's; the drive's own where it is left out.
    """
    cache: Cache | None = None
    """A block cache in front of the queue."""
    arms: ArmsOf | None = None
    """The drive's arms; its own, or a single one, where it is left out."""
    placement: Placement | None = None
    """Where data go: to their place, or wherever the head is."""
    power: HddPower | None = None
    """When it enters its low power states, and how much power it draws. Without this table it enters none.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue(Table):
    """A drive's queue."""

    depth: int | None = None
    """The slots: the active request and those that wait. Default: as the drive ships, or 32 where its file
    has no depth.
    """
    scheduler: Scheduler | None = None
    """The choice of the next request. Default: as the drive ships, or `"fcfs"` where its file has no
    scheduler.
    """
    clustering: Size | None = None
    """Requests that continue one another become one of at most this size; without it, none do."""
    slots: Slots | None = None
    """The slots of a merged request. Default: `"parts"`."""
    merged_place: MergedPlace | None = None
    """The turn of a merged request in the order of arrival. Default: `"oldest"`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fcfs(Table):
    """First come, first served.

    Rule: the request that came first; but one that has waited `timeout` in the queue is next, of several
    the one that has waited longest. Tie: none can arise. Source: the baseline of every study; the timeout
    from work on I/O clustering in SATA disks: only requests that were merged can be served before older
    ones. Weakness: pays the full seek between any two requests.
    """

    _names: ClassVar[tuple[str, ...]] = ("fcfs",)
    timeout: Time | None = None
    """The longest wait before a request is promoted, where requests are merged: `"2 s"` unless said, `"0
    ms"` for never.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Sstf(Table):
    """Shortest seek time first: the nearest waiting request.

    Rule: the nearest request. Tie: the one that has waited longer; with `ties = "alternate"` upwards and
    downwards in turn. Source: Denning, "Effects of scheduling on file memory operations", AFIPS 1967;
    DiskSim's policies 4 (by LBN) and 7 (by cylinder). Weakness: blind to rotation; requests far from the
    crowd starve.
    """

    _names: ClassVar[tuple[str, ...]] = ("sstf",)
    by: By | None = None
    """Whether it goes by LBN or by cylinder. Default: "cylinder"."""
    ties: SstfTies | None = None
    """Which of two is next that are as near, one on either side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look(Table):
    """The elevator: the next request in the arm's direction, which turns when none is left there.

    Rule: the next request in the direction of the arm, upwards at first; with none left there it turns.
    Tie: the one that has waited longer. Source: Merten, 1970, who calls it LOOK; DiskSim's policies 2 (by
    LBN) and 5 (by cylinder). Weakness: blind to rotation; at the edges a request may wait for two sweeps,
    in the middle for one.
    """

    _names: ClassVar[tuple[str, ...]] = (
        "look",
        "elevator",
    )
    by: By | None = None
    """Whether it goes by LBN or by cylinder. Default: "lbn"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan(Table):
    """As look, but the arm travels on to the edge of the disk before it turns.

    Rule: the next request in the direction of the arm, upwards at first; with none left there the arm
    travels to the edge of the disk, turns, and takes the request next to it, those included that have
    come on the way. Tie: the one that has waited longer. Source: Denning, "Effects of scheduling on file
    memory operations", AFIPS 1967. Weakness: the travel to the edge is wasted; in a host's queue, which
    moves no arm, it is LOOK.
    """

    _names: ClassVar[tuple[str, ...]] = ("scan",)
    by: By | None = None
    """Whether it goes by LBN or by cylinder. Default: "lbn"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CLook(Table):
    """Circular LOOK: upwards, then back to the lowest waiting request.

    Rule: the next request at or above the end of the previous one, else the lowest; with `from = "start"`
    at or above its start. Tie: the one that has waited longer. Source: Merten, 1970, as C-SCAN without
    the run to the edge; Worthington, Ganger and Patt, SIGMETRICS 1994; DiskSim's policies 3 (by LBN) and
    6 (by cylinder), which go on from the start. Weakness: blind to rotation; a stream just ahead of the
    arm holds up everything behind it; by LBN, a request that begins within the previous one waits for the
    next sweep.
    """

    _names: ClassVar[tuple[str, ...]] = (
        "c-look",
        "clook",
    )
    by: By | None = None
    """Whether it goes by LBN or by cylinder. Default: "lbn"."""
    from_: CLookFrom | None = None
    """Where the previous request leaves off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CScan(Table):
    """As c-look, but the arm travels to the upper edge and back to the lower one before it begins again.

    Rule: the next request at or above the end of the previous one; with none left there the arm travels
    to the upper edge of the disk, from there to the lower one, and begins again. Tie: the one that has
    waited longer. Source: Seaman, Lind and Wilson, "On teleprocessing system design, part IV: an analysis
    of auxiliary-storage activity", IBM Systems Journal 5(3), 1966, and Teorey and Pinkerton, CACM 15(3),
    1972, who name it. Weakness: a full stroke each turn is wasted; in a host's queue, which moves no arm,
    it is C-LOOK.
    """

    _names: ClassVar[tuple[str, ...]] = (
        "c-scan",
        "cscan",
    )
    by: By | None = None
    """Whether it goes by LBN or by cylinder. Default: "lbn"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VScan(Table):
    """V(R): the nearest request, with a penalty for a turn; between sstf (0) and look (1).

    Rule: the nearest request, where those against the direction of the arm count as `r` times the size of
    the drive further away, rounded to whole places. The direction is that of the last move, upwards at
    first. Tie: the one that has waited longer. `r = 0` is SSTF, `r = 1` is LOOK. Source: Geist and
    Daniel, "A continuum of disk scheduling algorithms", ACM TOCS 5(1), 1987, who find 0.2 good; DiskSim's
    policies 17 (by LBN) and 18 (by cylinder). Weakness: blind to rotation; below 1, requests far from the
    crowd starve.
    """

    _names: ClassVar[tuple[str, ...]] = (
        "v-scan",
        "vscan",
    )
    r: float | None = None
    """The penalty for a turn, as a share of the drive's size. Default: 0.2."""
    by: By | None = None
    """Whether it goes by LBN or by cylinder. Default: "cylinder"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Satf(Table):
    """Shortest access time first: the shortest seek, switch, settle and rotation together.

    Rule: the shortest positioning time: seek, switch, settle and rotation, not transfer. Tie: the one
    that has waited longer. Source: Jacobson and Wilkes, HPL-CSP-91-7, 1991; Seltzer, Chen and Ousterhout,
    USENIX 1990. Weakness: no bound on waiting.
    """

    _names: ClassVar[tuple[str, ...]] = (
        "satf",
        "sptf",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AgedSatf(Table):
    """Aged SATF: the shortest positioning time after deduction of a share of the time waited.

    Rule: the least positioning time − `weight` · time waited. Tie: the one that has waited longer. With a
    weight of 0 it is SATF, with a very large one FCFS. Source: Jacobson and Wilkes, HPL-CSP-91-7, 1991,
    as ASATF; Worthington, Ganger and Patt, SIGMETRICS 1994, as ASPTF(W); DiskSim's policy 14, whose
    weight is in ms a second: its 6 is 0.006 here. Weakness: the weight that suits depends on the load.
    """

    _names: ClassVar[tuple[str, ...]] = (
        "aged-satf",
        "asptf",
    )
    weight: float | None = None
    """How much positioning time a unit of waiting time is worth. Default: 0.006."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedSatf(Table):
    """Weighted SATF: the shortest positioning time, which shrinks to nothing as the wait reaches a window.

    Rule: the least positioning time · (`window` − time waited) / `window`, and 0 for what has waited that
    long. Tie: the one that has waited longer, so that overdue requests are served in the order of their
    arrival. Source: Seltzer, Chen and Ousterhout, USENIX Winter 1990, as the weighted shortest time
    first; DiskSim's policy 11, where the factor of an overdue request is negative and so prefers the
    slowest of them. Weakness: with a window below a few queue lengths of service it degenerates to FCFS.
    """

    _names: ClassVar[tuple[str, ...]] = (
        "weighted-satf",
        "wptf",
    )
    window: Time | None = None
    """The wait after which a request counts as no positioning time at all; `"0 ms"` for never. Default: "2
    s".
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchSatf(Table):
    """Batched SATF: all that wait are served by shortest positioning time before any that come later.

    Rule: the shortest positioning time among the requests of the present batch; when that is empty, all
    that wait are the next one. Tie: the one that has waited longer. Source: the two queues of FSCAN,
    Coffman, Klimko and Ryan, SIAM Journal on Computing 1(3), 1972, with SATF in place of SCAN; Jacobson
    and Wilkes, HPL-CSP-91-7, 1991. Weakness: the last requests of a batch leave little to choose from.
    """

    _names: ClassVar[tuple[str, ...]] = (
        "batch-satf",
        "bsatf",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ncq(Table):
    """Native command queueing: SATF, with promotion of requests that have waited longer than a timeout.

    Rule: shortest access time first, but a request that has waited `timeout` in the queue is next; of
    several the oldest. Source: Arfan, Kim and Kwon, IEICE Electronics Express 9(22), 2012, whose NCQ is
    similar to SATF, with a timeout. Weakness: with a timeout below a few queue lengths of service it
    degenerates to FCFS.
    """

    _names: ClassVar[tuple[str, ...]] = ("ncq",)
    timeout: Time | None = None
    """The longest wait before a request is promoted; `"0 ms"` for never. Default: "2 s"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadline(Table):
    """Linux' mq-deadline: batches upwards by LBN, reads before writes, begun with the oldest when that has
    expired.

    Rule: batches of reads or of writes, each upwards by LBN from where the last request of its kind
    began. A batch ends after `fifo_batch` requests, or with none of its kind above. The next one is of
    reads if any wait, unless writes have waited through `writes_starved` of those. It goes on upwards,
    but begins with the oldest of its kind if that has expired or none is above. The first batch of all is
    of writes if any wait. Tie: the one that has waited longer. Source: Linux, block/mq-deadline.c (6.x),
    one priority class. There, times are in jiffies, adjacent requests merge, a flush goes past the
    scheduler and asynchronous requests may use only a part of the tags; here times are exact, nothing
    merges, and a flush is a write at its LBN. Weakness: deadlines are when a request may go first, not
    when it is done; blind to rotation.
    """

    _names: ClassVar[tuple[str, ...]] = (
        "deadline",
        "mq-deadline",
    )
    read_expire: Time | None = None
    """The wait after which a read expires. Default: "500 ms"."""
    write_expire: Time | None = None
    """The wait after which a write, flush or trim expires. Default: "5 s"."""
    fifo_batch: int | None = None
    """The most requests of a batch; 0 is as 1. Default: 16."""
    writes_starved: int | None = None
    """How many batches of reads are begun while writes wait; with 0, writes always go first. Default: 2.
    """


@dataclass(frozen=True, slots=True)
class Custom(Table):
    """One of the program's own, by the name that it has there."""

    _names: ClassVar[tuple[str, ...]] = ("custom",)
    _is_value: ClassVar[bool] = True
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OverheadTable(Table):
    """The controller's times that are to differ from the drive's, for a command that needs the medium."""

    read_after_read: Time | None = None
    """Before a read that follows a read."""
    read_after_write: Time | None = None
    """Before a read that follows a write."""
    write_after_read: Time | None = None
    """Before a write that follows a read."""
    write_after_write: Time | None = None
    """Before a write that follows a write."""
    completion_read: Time | None = None
    """After the data of a read have crossed the interface."""
    completion_write: Time | None = None
    """After the data of a write are on the medium."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cache(Table):
    """A block cache in front of a drive's queue."""

    size: Size
    """How much it holds."""
    block_size: Size | None = None
    """The unit of the cache, at most 1 MiB. Only the requested part of a cache block is fetched. Default: "8
    blocks".
    """
    policy: Replacement | None = None
    """Which block leaves when another needs its place. Default: "lru"."""
    write_policy: WritePolicy | None = None
    """When a write is complete. Default: "write-through"."""
    hit_overhead: Time | None = None
    """The controller's time for a request that the cache serves; without it, the drive's overhead for a
    command after one of its kind.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Lru(Table):
    """Least recently used: the block whose last access is longest ago leaves.

    Rule: the block that was accessed least recently leaves. Tie: none can be. Source: Mattson et al.,
    "Evaluation techniques for storage hierarchies", IBM Systems Journal 9(2), 1970. Weakness: one pass
    over many blocks drives everything out.
    """

    _names: ClassVar[tuple[str, ...]] = ("lru",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fifo(Table):
    """First in, first out: the block that has been in the cache longest leaves.

    Rule: the block that came first leaves, however often it was accessed. Tie: none can be. Source:
    Belady, "A study of replacement algorithms for a virtual-storage computer", IBM Systems Journal 5(2),
    1966. Weakness: popular blocks leave like others.

    The block that has been full longest is cleaned.

    Rule: the block that has been full longest is cleaned. Tie: none can be. Source: Menon, "A performance
    comparison of RAID-5 and log-structured arrays", HPDC 1995; its write amplification under uniform load
    is 1/(1 − u) with (u − 1)/ln u the part of the blocks that is valid.
    """

    _names: ClassVar[tuple[str, ...]] = ("fifo",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifo(Table):
    """Last in, first out: the block that came last leaves.

    Rule: the block that came last leaves. Tie: none can be. Source: textbooks; good for a loop over a
    little more than the cache holds. Weakness: what came first stays for ever, whether anyone wants it or
    not.
    """

    _names: ClassVar[tuple[str, ...]] = ("lifo",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock(Table):
    """Second chance: as fifo, but a block accessed since the hand last came by is passed once.

    Rule: as fifo, but a block that was accessed since the hand last passed it, or since it came, is
    passed once more. Tie: none can be. Source: Corbato, "A paging experiment with the Multics system",
    1968. Weakness: as lru's; it tells one access from none, no more.
    """

    _names: ClassVar[tuple[str, ...]] = ("clock",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lfu(Table):
    """Least frequently used: the block with the fewest accesses since it came leaves.

    Rule: the block with the fewest accesses since it came leaves; a count dies with its block's
    departure. Tie: the one that reached the count first. Source: Denning, "Virtual memory", ACM Computing
    Surveys 2(3), 1970; in constant time as Matani, Shah and Mitra, "An O(1) algorithm for implementing
    the LFU cache eviction scheme", 2010. Weakness: what was popular once stays; new blocks leave each
    other.
    """

    _names: ClassVar[tuple[str, ...]] = ("lfu",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Slru(Table):
    """Segmented LRU: a block rises a segment with every hit, and only the lowest segment loses blocks.

    Rule: a block comes into the lowest segment and rises one with every hit; what is too much in a
    segment falls into the one below, and the least recently used of the lowest that has one leaves. Tie:
    none can be. Source: Karedla, Love and Wherry, "Caching strategies to improve disk system
    performance", Computer 27(3), 1994, with two segments. Weakness: the sizes of the segments do not
    adapt.
    """

    _names: ClassVar[tuple[str, ...]] = ("slru",)
    segments: int | None = None
    """How many segments; the lowest is the probationary one. Default: 2."""
    protected: float | None = None
    """The share of the cache that the others have together, in equal parts. Default: 0.8."""
    variant: Variant | None = None
    """`"libcachesim"`: a new block comes into the lowest segment that is not full, the lowest too has a
    size, and what falls into it beyond that drives its oldest out, even at a hit. libCacheSim has
    `segments = 4` and `protected = 0.75`. Default: "paper".
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoQ(Table):
    """A FIFO queue for blocks that came once, an LRU list for those that came again after they had left it.

    Rule: a block that comes for the first time is in a FIFO queue, A1in; when it has left that and is
    accessed while its key is still remembered, in A1out, it comes into an LRU list, Am. A1in gives a
    block up while it has more than its share, else Am. Tie: none can be. Source: Johnson and Shasha, "2Q:
    a low overhead high performance buffer management replacement algorithm", VLDB 1994, the full version;
    libCacheSim's is the same. Weakness: the shares do not adapt, and hits in A1in count for nothing.
    """

    _names: ClassVar[tuple[str, ...]] = (
        "2q",
        "two-q",
    )
    first: float | None = None
    """The share of the cache that A1in has (Kin). Default: 0.25."""
    ghosts: float | None = None
    """How many keys A1out remembers, as a share of the cache's blocks (Kout). Default: 0.5."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arc(Table):
    """Adaptive: a list by recency and one of blocks accessed again, whose sizes follow the misses of what
    has just left.

    Rule: T1 holds the blocks accessed once of late, T2 the others, both by recency; B1 and B2 remember
    the keys that left them. An access to one remembered in B1 makes the target size of T1 larger, in B2
    smaller; T1 gives a block up where it is above its target, else T2. Tie: none can be. Source: Megiddo
    and Modha, "ARC: a self-tuning, low overhead replacement cache", FAST 2003, figure 4, with the target
    to 2⁻³² of a block. Weakness: a block accessed twice at once is taken for popular; the target swings
    with the load.
    """

    _names: ClassVar[tuple[str, ...]] = ("arc",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lirs(Table):
    """Most of the cache for the blocks whose last two accesses were closest together; of the others the
    oldest leaves.

    Rule: the blocks whose last two accesses were close together (LIR) have most of the cache; the others
    (HIR) share the rest, and the one that has been there longest without an access leaves. A stack by
    recency, down to the last LIR block, tells whether a HIR block that is accessed was so more recently
    than a LIR block: then they change places. Tie: none can be. Source: Jiang and Zhang, "LIRS: an
    efficient low inter-reference recency set replacement policy", SIGMETRICS 2002. Weakness: slow to let
    go of blocks that were popular once.
    """

    _names: ClassVar[tuple[str, ...]] = ("lirs",)
    high: float | None = None
    """The share of the cache that HIR blocks have; one block at least. Default: 0.01."""
    ghosts: float | None = None
    """How many keys of blocks that have left are remembered, in capacities of the cache. The paper sets no
    bound; beyond this one the key that left first is forgotten. Default: 2.0.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class S3Fifo(Table):
    """Three FIFO queues: a small one for new blocks, the main one, and one of the keys of what left the
    small one.

    Rule: a new block comes into a small FIFO queue; from its end it moves to the main one if it had hits
    enough, else it leaves and its key is remembered; one that is remembered comes into the main queue.
    There every hit, of three at most, saves a block from leaving once. Tie: none can be. Source: Yang et
    al., "FIFO queues are all you need for cache eviction", SOSP 2023, algorithm 1; a promotion into a
    full main queue frees one block, not two. Weakness: a second access later than the small queue and the
    ghosts last comes too late.
    """

    _names: ClassVar[tuple[str, ...]] = (
        "s3-fifo",
        "s3fifo",
    )
    small: float | None = None
    """The share of the cache that the small queue has; one block at least. Default: 0.1."""
    ghosts: float | None = None
    """How many keys are remembered, as a share of the cache's blocks. Default: 0.9."""
    hits: int | None = None
    """Hits in the small queue with which a block moves to the main one. Default: 2."""
    variant: Variant | None = None
    """In the paper a block that moves into a full main queue makes that give one up, which then is the one
    to leave; with `"libcachesim"` the small queue goes on until one of its own leaves. Default: "paper".
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Sieve(Table):
    """As clock, but what the hand passes stays where it is, so that new blocks are looked at soon.

    Rule: a hand goes from the oldest block to the youngest and round again; what was accessed since it
    came by is passed, the first that was not leaves. Tie: none can be. Source: Zhang et al., "SIEVE is
    simpler than LRU", NSDI 2024. Weakness: blocks that were popular once stay until the hand has come
    round.
    """

    _names: ClassVar[tuple[str, ...]] = ("sieve",)


@dataclass(frozen=True, slots=True, kw_only=True)
class WTinylfu(Table):
    """A small LRU window, and an SLRU that takes a block from it only if that is accessed more often than
    its own victim.

    Rule: a new block comes into a small LRU window; when it falls out it is compared with the block that
    the main part, an SLRU, would give up: the one whose estimated frequency is lower leaves. Tie: the one
    from the window leaves. Source: Einziger, Friedman and Manes, "TinyLFU: a highly efficient cache
    admission policy", ACM Transactions on Storage 13(4), 2017, section 5; the sketch has four rows of
    four-bit counters and no doorkeeper. Weakness: a small window loses blocks that are accessed again
    soon but never were before.
    """

    _names: ClassVar[tuple[str, ...]] = (
        "w-tinylfu",
        "wtinylfu",
    )
    window: float | None = None
    """The share of the cache that the window has; one block at least. Default: 0.01."""
    protected: float | None = None
    """The share of the main part that is protected. Default: 0.8."""
    sample: float | None = None
    """The number of accesses after which all counts are halved, in capacities of the cache (W / C in the
    paper). Default: 10.0.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Atca(Table):
    """As lru, but a block that took long to access stays longer, in proportion to its access time.

    Rule: the block of the smallest worth M + α·N leaves, where M numbers the block accesses up to its
    last, and N is the access time of the media access that last brought or wrote it; α = `weight` ·
    capacity / mean N, as it was when the block was last accessed or paid for. Tie: the least recently
    accessed. Source: Arfan, Kim and Kwon, IEICE Electronics Express 9(22), 2012, who print neither α nor
    its unit: this one is ours. Weakness: access time says little of what is accessed again; a block that
    was expensive once is kept long for it.
    """

    _names: ClassVar[tuple[str, ...]] = ("atca",)
    weight: float | None = None
    """How many turnovers of the cache longer a block of mean access time lives than one that was free (κ).
    With 0 the policy is lru. Default: 1.0.
    """
    relative_to: Scale | None = None
    """What an access time is compared with. Default: "mean"."""
    alpha: float | None = None
    """In place of `weight`: accesses of longer life for a millisecond (α)."""
    per_block: bool | None = None
    """Whether N is divided by the blocks of its media access. Default: false."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AtcaSimple(Table):
    """As lru, but a block that took longer to access than a threshold stays longer by a fixed bonus.

    Rule: as atca, but an access time is only big or small, and big gives a fixed bonus. Tie: the least
    recently accessed. Source: section 2 of the paper on ATCA, as for `atca`; the sizes of threshold and
    bonus are ours. Weakness: as atca's, and an access just over the threshold counts as much as the
    longest.
    """

    _names: ClassVar[tuple[str, ...]] = ("atca-simple",)
    threshold: Time | None = None
    """Access times above this are big; without it, those above the mean of all media accesses so far, this
    one included.
    """
    bonus: float | None = None
    """How many turnovers of the cache longer a block lives whose access time was big. Default: 1.0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fac(Table):
    """Frequency and access time: every access is worth 1, and up to 1 more the longer the block's access
    time is.

    Rule: with every access a block's worth grows by 1 + N / Nmax, where N is the access time of the media
    access that last brought or wrote it, and Nmax the longest, slowly averaged; the block of the smallest
    worth leaves. Tie: the least recently accessed. Source: Kim, "Frequency-based NCQ-aware disk cache
    algorithm", IEICE Electronics Express 11(11), 2014; the average and the ageing, as Arlitt and others'
    LFU with dynamic ageing (2000), are ours. Weakness: without ageing what was popular once stays, as
    with lfu.
    """

    _names: ClassVar[tuple[str, ...]] = ("fac",)
    follow: float | None = None
    """The share of the way that Nmax goes towards a longer access time; it never becomes shorter. Default:
    0.1.
    """
    ageing: bool | None = None
    """Whether a block's worth counts from that of the last that left when it is accessed, so that old merit
    fades. Default: false.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class GreedyDual(Table):
    """The block leaves whose access time, added to what the last to leave was worth at its own last access,
    is smallest.

    Rule: at every access a block's worth becomes L + N, where N is the access time of the media access
    that last brought or wrote it, and L the worth of the last block that left for another; the smallest
    worth leaves. Tie: the least recently accessed, so that with equal costs it is lru. Source: Young,
    "On-line caching as cache size varies", SODA 1991; with L as Cao and Irani, "Cost-aware WWW proxy
    caching algorithms", USITS 1997. Weakness: an expensive block that nobody wants stays until others
    have paid for it.
    """

    _names: ClassVar[tuple[str, ...]] = (
        "greedy-dual",
        "greedydual",
    )
    per_block: bool | None = None
    """Whether the access time is divided by the blocks of its media access. Default: false."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Random(Table):
    """A block at random leaves, each as likely as another.

    Rule: any block leaves, each as likely as another. Tie: none can be. Source: Belady, "A study of
    replacement algorithms for a virtual-storage computer", IBM Systems Journal 5(2), 1966. Weakness: it
    learns nothing.
    """

    _names: ClassVar[tuple[str, ...]] = ("random",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Belady(Table):
    """The optimum, which knows the future of a trace: the block whose next access is furthest away leaves.

    Rule: the block whose next access is furthest away leaves. Tie, which only blocks without a next
    access can be in: the least recently accessed. Source: Belady, IBM Systems Journal 5(2), 1966; Mattson
    et al., IBM Systems Journal 9(2), 1970, who prove it the optimum of those that keep every block
    accessed. Weakness: it must know the future; where nobody tells it ([`Access::next`]), it is lru.
    """

    _names: ClassVar[tuple[str, ...]] = (
        "belady",
        "min",
        "opt",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmsOf(Table):
    """What a spec says of a drive's arms: other arms than the drive's, and which of them serves what."""

    motion: ArmMotion | None = None
    """Whether arms move one at a time or each by itself; the drive's own way, or one at a time, where it is
    left out.
    """
    choice: ArmChoice | None = None
    """Which arm serves an access. Default: "soonest"."""
    arm: Sequence[Arm] | None = None
    """The arms, from number 0 on; the drive's own where it is left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Soonest(Table):
    """The arm that positions soonest: seek, switch, settle and rotation together.

    Rule: the arm with the shortest seek, head switch, settling and rotation together. Tie: the one with
    the lower number. Source: Chandy, "A dual actuator logging disk architecture", the dual actuator disk
    (DAD).
    """

    _names: ClassVar[tuple[str, ...]] = ("soonest",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearest(Table):
    """The arm with the shortest motion, wherever the platter is.

    Rule: the arm with the shortest seek, head switch and settling; rotation does not count. Tie: the one
    that positions sooner, then the one with the lower number.

    The member whose last request ended nearest, in blocks, however many requests it has.

    Rule: the member whose last request ended nearest, in blocks: an array does not know where its members
    have their cylinders. Tie: the fewest requests outstanding, then the first. Source: Bitton and Gray,
    "Disk shadowing", VLDB 1988, on the nearest arm; the read balance of Linux's md counts in sectors.
    Weakness: near blocks all go to one member, however long its queue is.
    """

    _names: ClassVar[tuple[str, ...]] = ("nearest",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Split(Table):
    """Reads go to one arm, writes to another.

    Rule: reads go to one arm and writes to another, as far as these reach the place; else to the one that
    positions soonest. Source: Chandy, "A dual actuator logging disk architecture", section 2.
    """

    _names: ClassVar[tuple[str, ...]] = ("split",)
    reads: int | None = None
    """The number of the arm that reads, from 0. Default: 0."""
    writes: int | None = None
    """The number of the arm that writes. Default: 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Adaptive(Table):
    """In place with the soonest arm, or into a log with one arm for reads and one for writes: whichever
    serves the present share of writes better.

    Rule: in place with the arm that positions soonest, or into the log with one arm for reads and one for
    writes: whichever has the lower expected latency at the share of writes seen in the last window. What
    reads and writes take in either mode is measured, a mode that is not known yet is tried for a window.
    Source: Chandy, "A dual actuator logging disk architecture", end of section 3, which leaves the rule
    open.
    """

    _names: ClassVar[tuple[str, ...]] = ("adaptive",)
    window: int | None = None
    """Requests over which the share of writes is taken. Default: 500."""
    margin: float | None = None
    """By how much the other mode must be better before it is changed to, as a share. Default: 0.01."""
    reads: int | None = None
    """The number of the arm that reads while there is a log, from 0. Default: 0."""
    writes: int | None = None
    """The number of the arm that writes into the log. Default: 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm(Table):
    """One arm with its heads."""

    angle: float | None = None
    """Where its heads stand around the spindle, in turns from the first arm's, the way the platters turn.
    Default: 0.0.
    """
    reads: bool | None = None
    """Whether its heads can read. Default: true."""
    writes: bool | None = None
    """Whether its heads can write. Default: true."""
    surfaces: Sequence[int] | None = None
    """The first and the last surface that it reaches; all where it is left out."""
    cylinders: Sequence[int] | None = None
    """The first and the last cylinder that it reaches; all where it is left out."""
    start: int | None = None
    """The cylinder where it is at time zero; the first that it reaches where it is left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InPlace(Table):
    """Every block has its place, and is written there.

    Every block has its place.
    """

    _names: ClassVar[tuple[str, ...]] = ("in-place",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Eager(Table):
    """A write goes to a free slot near the head; a map tells where each block is.

    A block is written into a free slot near the head, and the slot that held it before becomes free.

    English and Stepanov, "Loge: a self-organizing storage device", USENIX Winter 1992; Wang, Anderson and
    Patterson, "Virtual log based file systems for a programmable disk", OSDI 1999; Chandy, "A dual
    actuator logging disk architecture".
    """

    _names: ClassVar[tuple[str, ...]] = (
        "eager",
        "logging",
    )
    block: Size | None = None
    """What has a place of its own, and lies on one track: a slot. A write of less reads the rest of the slot
    first. Default: "8 blocks".
    """
    allocator: Allocator | None = None
    """Which free slot a write takes. Default: "soonest"."""
    ties: Ties | None = None
    """Which cylinder a write takes where free slots of several come by at the same instant. Default:
    "outward".
    """
    reserve: float | None = None
    """The share of all slots that is kept free, and not told as capacity. Default: 0.01."""
    recovery: Recovery | None = None
    """How the map is found again after a loss of power. Default: "headers"."""
    cleaner: Cleaner | None = None
    """Makes tracks empty; nothing does where it is left out."""
    initial: Initial | None = None
    """The data written before time zero. Default: none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Idle(Table):
    """Cleans when the drive has been idle for a while.

    Works when the drive has been idle for a while, until a share of all tracks is empty.
    """

    _names: ClassVar[tuple[str, ...]] = ("idle",)
    after: Time | None = None
    """How long it waits after the last request, or after time zero. Default: "50 ms"."""
    empty: float | None = None
    """The share of all tracks that it wants to be empty. Default: 0.05."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watermark(Table):
    """Cleans between requests when few tracks are empty, until enough are.

    Begins when few tracks are empty, whatever waits, and ends when enough are.
    """

    _names: ClassVar[tuple[str, ...]] = ("watermark",)
    low: float | None = None
    """The share of all tracks below which it begins. Default: 0.02."""
    high: float | None = None
    """The share at which it ends. Default: 0.05."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Initial(Table):
    """What a logging drive wrote before time zero."""

    write: Size
    """So much of the address space, from its start on, block after block."""
    gap: Time | None = None
    """The mean of the exponential gaps between these writes, from the end of one to the beginning of the
    next. Without gaps every track would be filled to the last slot. Default: "100 ms".
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class HddPower(Table):
    """The power of a hard disk."""

    policy: PowerPolicy | None = None
    """When it goes into which low power state; into none where it is left out."""
    figures: HddPowerFigures | None = None
    """Its power figures where they differ from the drive's: each key replaces that of the drive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedTimeouts(Table):
    """A timeout for each state.

    Rule: the device goes into a state when it has been idle for the state's timeout. A state without a
    timeout is never gone into. Source: ACS-3, extended power conditions: a timer for each condition, all
    of which start when the device has nothing to do.
    """

    _names: ClassVar[tuple[str, ...]] = ("fixed",)
    idle_a: Time | None = None
    """Of a disk: less of the electronics powered."""
    idle_b: Time | None = None
    """Of a disk: heads unloaded."""
    idle_c: Time | None = None
    """Of a disk: heads unloaded, and a lower speed."""
    standby_y: Time | None = None
    """Of a disk: stopped, with electronics for a quicker start."""
    standby_z: Time | None = None
    """Of a disk: stopped."""
    slumber: Time | None = None
    """Of an SSD: the link sleeps."""
    devsleep: Time | None = None
    """Of an SSD: all but off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptiveTimeout(Table):
    """A timeout for one state that follows the lengths of idle periods: the share algorithm.

    Rule: the timeout is the weighted mean of fixed ones, the experts, from 0 to the state's break-even
    time b. After an idle period of length x each expert t has lost (t + b if t < x, else x, less the
    smaller of x and b) / b, which multiplies its weight by e^(-η · loss); then it gives the share 1 - (1
    - α)^loss of what is left, and all experts get equal parts of what was given. Source: Helmbold, Long,
    Sconyers, Sherrod, "Adaptive disk spin-down for mobile computers", Mobile Networks and Applications 5
    (2000): the share algorithm.
    """

    _names: ClassVar[tuple[str, ...]] = ("adaptive",)
    state: str | None = None
    """The state that it goes into; the deepest that the drive has where it is left out."""
    experts: int | None = None
    """How many experts. Default: 25."""
    learning_rate: float | None = None
    """How fast an expert that errs loses weight: η. Default: 4.0."""
    share: float | None = None
    """How much weight experts share: α. Default: 0.08."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Apst(Table):
    """Each low power state after 50 times as long as its ways in and back take: the autonomous transitions
    of NVMe, as Linux sets them.

    Rule: from the beginning of an idle period, or from when it is in a state, the device goes into the
    next deeper state with a way back of at most `max_latency` after 50 times as long as this state's ways
    in and back take together, rounded up to the millisecond: so no more than 2 % of the time is spent on
    them. Source: Linux 5.4, `nvme_configure_apst` (drivers/nvme/host/core.c); NVM Express 1.4, 8.4.2.
    """

    _names: ClassVar[tuple[str, ...]] = ("apst",)
    max_latency: Time | None = None
    """The longest way back that is accepted. Default: "100 ms"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OracleTimeout(Table):
    """The state that takes the least energy, chosen with the length of the idle period known, and without
    any delay.

    Rule: an idle period is spent in the state in which it takes the least energy, from its beginning on,
    and the device is back from it at the very end. No drive can do that: it is the least energy of these
    idle periods at which no request waits.
    """

    _names: ClassVar[tuple[str, ...]] = ("oracle",)


@dataclass(frozen=True, slots=True, kw_only=True)
class HddPowerFigures(Table):
    """What a hard disk draws. Powers are of the whole drive, and means."""

    idle: Power | None = None
    """At rest at full speed, with the heads over a track."""
    seek: Power | None = None
    """While an arm moves; as idle where it is left out."""
    read: Power | None = None
    """While sectors are read; as idle where it is left out."""
    write: Power | None = None
    """While sectors are written; as idle where it is left out."""
    idle_a: StateFigures | None = None
    """Less of the electronics powered."""
    idle_b: StateFigures | None = None
    """Heads unloaded."""
    idle_c: StateFigures | None = None
    """Heads unloaded, and a lower speed."""
    standby_y: StateFigures | None = None
    """Stopped, with electronics for a quicker start."""
    standby_z: StateFigures | None = None
    """Stopped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateFigures(Table):
    """A low power state of a drive."""

    power: Power
    """The power in this state."""
    enter: Transition | None = None
    """The way into it; none takes no time."""
    leave: Transition | None = None
    """The way back; none takes no time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition(Table):
    """The way into a low power state, or back."""

    time: Time
    """How long it takes."""
    power: Power | None = None
    """Its mean power; that of `idle` where neither this nor `energy` is given."""
    energy: Energy | None = None
    """Its energy, in place of its mean power."""
    peak: Power | None = None
    """The highest power on the way, for the power supply: in no energy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Array(Table):
    """Several devices as one.

    Several devices as one: of any kind, by `D`.
    """

    _names: ClassVar[tuple[str, ...]] = ("array",)
    layout: ArrayLayout
    """Which member has which blocks."""
    member: Sequence[Device]
    """The devices that it is made of."""
    spindles: Spindles | None = None
    """How the platters of members that are hard disks turn."""
    spare: Sequence[Device] | None = None
    """Devices that take the place of members that fail, the first one first. Of layouts with redundancy.
    """
    rebuild: RebuildRules | None = None
    """How a spare is filled."""
    scrub: ScrubRules | None = None
    """How the members are read through in the background; left out, they are not."""
    resync: ResyncRules | None = None
    """How redundancy is made anew when the power has failed and returned."""
    bitmap: BitmapRules | None = None
    """Which regions may be written is kept on the members, so that nothing else is made anew."""
    journal: Device | None = None
    """A device to which data and parity of writes go before they go to the members. Of layouts with parity.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Stripe(Table):
    """Units of blocks go round the members.

    Rule: one unit of blocks after the other on one member after the other. Source: Salem and Garcia-
    Molina, "Disk striping", ICDE 1986; on the unit, Chen and Patterson, "Maximizing performance in a
    striped disk array", ISCA 1990. Weakness: a request over several members waits for the slowest.
    """

    _names: ClassVar[tuple[str, ...]] = (
        "stripe",
        "raid-0",
    )
    unit: Size
    """How many blocks follow each other on a member before the next member's turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mirror(Table):
    """Every member has every block.

    Rule: writes go to all members and a read to one, which a policy of its own chooses. Source: Bitton
    and Gray, "Disk shadowing", VLDB 1988. Weakness: a write waits for the slowest member; of writes of
    the same blocks that are outstanding together each member may have another one last, as in real
    arrays: a host that needs an order waits for the first write to end.
    """

    _names: ClassVar[tuple[str, ...]] = (
        "mirror",
        "raid-1",
    )
    read: MirrorRead | None = None
    """Which member a read goes to. Default: "least-outstanding"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeastOutstanding(Table):
    """The member with the fewest requests outstanding; of several the one whose last request ended nearest.

    Rule: the member with the fewest requests outstanding. Tie: the one whose last request ended nearest,
    then the first. Source: the read balance of Linux's md for flash, which knows no heads; here heads
    break the ties. Weakness: requests do not all take as long.
    """

    _names: ClassVar[tuple[str, ...]] = ("least-outstanding",)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundRobin(Table):
    """One member after the other.

    Rule: one member after the other, whatever they do. Tie: none can arise. Source: the baseline of
    mirrors. Weakness: takes arms away from sequential reads, and sends reads to members that are busy.
    """

    _names: ClassVar[tuple[str, ...]] = ("round-robin",)


@dataclass(frozen=True, slots=True, kw_only=True)
class First(Table):
    """The first member, always.

    Rule: the first member. Tie: none can arise. Source: a mirror that is there for safety alone.
    Weakness: the others read nothing.
    """

    _names: ClassVar[tuple[str, ...]] = ("first",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Concat(Table):
    """The blocks of one member after those of the other.

    Rule: all blocks of the first member, then all of the second, and so on; a request across the boundary
    is split. Source: the linear mode of volume managers. Weakness: what is hot may all be on one member.
    """

    _names: ClassVar[tuple[str, ...]] = ("concat",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Raid4(Table):
    """Units go round the members, but for the last, which has the parity.

    Rule: units go round all members but the last, which has the sum of the others in each row. Source:
    Patterson, Gibson and Katz, "A case for redundant arrays of inexpensive disks", SIGMOD 1988. Weakness:
    every small write goes to the last member.
    """

    _names: ClassVar[tuple[str, ...]] = ("raid-4",)
    unit: Size
    """How many blocks follow each other on a member before the next member's turn."""
    writes: ParityWrites | None = None
    """When the parity of a row is computed from what changes, and when from the whole row. Default: "fewest-
    reads".
    """
    waits: ParityWaits | None = None
    """Which pre-reads a write waits for. Default: "all"."""


@dataclass(frozen=True, slots=True)
class Threshold(Table):
    """By the number of the row's units that are written, as DiskSim does."""

    _names: ClassVar[tuple[str, ...]] = ("threshold",)
    _is_value: ClassVar[bool] = True
    value: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Raid5(Table):
    """Units go round the members, and so does the parity of each row.

    Rule: each row of units has the sum of the others on one member, another one in the next row. Source:
    Patterson, Gibson and Katz, "A case for redundant arrays of inexpensive disks", SIGMOD 1988; the
    rotations, Lee and Katz, ASPLOS 1991. Weakness: a small write takes two reads and two writes.
    """

    _names: ClassVar[tuple[str, ...]] = ("raid-5",)
    unit: Size
    """How many blocks follow each other on a member before the next member's turn."""
    parity_unit: Size | None = None
    """How many blocks of parity follow each other on a member: a multiple of the unit, which it is where it
    is left out.
    """
    rotation: ParityRotation | None = None
    """How parity goes from member to member. Default: "left-symmetric"."""
    writes: ParityWrites | None = None
    """When the parity of a row is computed from what changes, and when from the whole row. Default: "fewest-
    reads".
    """
    waits: ParityWaits | None = None
    """Which pre-reads a write waits for. Default: "all"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Raid6(Table):
    """Units go round the members, and so do two parities of each row: any two members may fail.

    Rule: each row of units has two parities beside each other, the sum of the others and their sum with
    weights in GF(2⁸), so that any two units can be lost. Source: H. P. Anvin, "The mathematics of
    RAID-6", 2004; the places are those of Linux's md. Weakness: a small write takes three reads and three
    writes.
    """

    _names: ClassVar[tuple[str, ...]] = ("raid-6",)
    unit: Size
    """How many blocks follow each other on a member before the next member's turn."""
    rotation: ParityRotation | None = None
    """How parity goes from member to member. Default: "left-symmetric"."""
    writes: ParityWrites | None = None
    """When the parity of a row is computed from what changes, and when from the whole row. Default: "fewest-
    reads".
    """
    waits: ParityWaits | None = None
    """Which pre-reads a write waits for. Default: "all"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Raid10(Table):
    """Units go round groups of members; those of a group have the same blocks.

    Rule: with n members and c copies, units go round the first n/c members, and the copy k of what member
    x has is on member x + k·n/c, at the same place. Source: DiskSim's shadowed organisations. Weakness:
    each write goes to all copies, and half the space is lost with two.
    """

    _names: ClassVar[tuple[str, ...]] = ("raid-10",)
    unit: Size
    """How many blocks follow each other on a member before the next member's turn."""
    copies: int | None = None
    """How many members have each block. They divide the number of members. Default: 2."""
    read: MirrorRead | None = None
    """Which copy a read goes to. Default: "least-outstanding"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParityStriping(Table):
    """Parity goes round the members, and the data of each stay together.

    Rule: each row of units has the sum of the others on one member, another one in the next row; the
    blocks of the array go over all units of data of the first member, then over those of the next one.
    Source: Gray, Horst and Walker, "Parity striping of disc arrays", VLDB 1990, with units in place of
    one area of parity for each member; DiskSim's rotated parity over devices as they are. Weakness:
    members share neither the load of a busy region nor the transfer of a large request.
    """

    _names: ClassVar[tuple[str, ...]] = ("parity-striping",)
    unit: Size
    """How many blocks of parity follow each other on a member."""
    rotation: ParityDirection | None = None
    """How parity goes from member to member. Default: "left"."""
    writes: ParityWrites | None = None
    """When the parity of a row is computed from what changes, and when from the whole row. Default: "fewest-
    reads".
    """
    waits: ParityWaits | None = None
    """Which pre-reads a write waits for. Default: "all"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Free(Table):
    """Each by itself: from a random angle, at a speed of its own near the drive's.

    How far free spindles deviate.
    """

    _names: ClassVar[tuple[str, ...]] = ("free",)
    tolerance: Percent | None = None
    """The largest deviation of a disk's speed from its drive's, at most 10 %. All deviations up to it are
    equally likely. Default: "0.1 %".
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Synchronised(Table):
    """All together, at the drive's speed: from the same angle, unless a member's `angle` says another.

    Nothing but that they turn together.
    """

    _names: ClassVar[tuple[str, ...]] = ("synchronised",)


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuildRules(Table):
    """How a spare is filled."""

    rate: Rate | None = None
    """How many bytes a second of the spare are written at most; left out, as many as the members manage.
    """
    step: Size | None = None
    """How much of the spare is written at a time. The rows of it are closed to writes until it is done.
    Default: "2048 blocks".
    """
    delay: Time | None = None
    """How long after a failure the rebuild begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScrubRules(Table):
    """How an array is scrubbed."""

    rate: Rate
    """How many bytes a second of each member are read at most."""
    step: Size | None = None
    """How much of each member is read at a time. The rows of it are closed to writes until it is done.
    Default: "512 blocks".
    """
    at: Time | None = None
    """When the first pass begins. Default: "0 ms"."""
    every: Time | None = None
    """How long after the beginning of a pass the next one begins, if there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResyncRules(Table):
    """How an array is resynchronised when the power returns."""

    rate: Rate | None = None
    """How many bytes a second of each member are read at most; left out, as many as the members manage.
    """
    step: Size | None = None
    """How much of each member is read at a time. The rows of it are closed to writes until it is done.
    Default: "2048 blocks".
    """
    automatic: bool | None = None
    """Whether it begins by itself. If not, rows stay as the power cut has left them until a scrub comes to
    them, or they are written as a whole. Default: true.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class BitmapRules(Table):
    """A bitmap of regions that may be written."""

    region: Size | None = None
    """How much of each member a bit stands for; whole units, one at least. The default is md's. Default:
    "131072 blocks".
    """
    delay: Time | None = None
    """How long nothing in a region must have been written before its mark is taken away. The default is
    md's. Default: "5 s".
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Driver(Table):
    """An operating system's queue before one device."""

    _names: ClassVar[tuple[str, ...]] = ("driver",)
    device: Device
    """The device behind it."""
    name: str | None = None
    """What the device behind it is called, for results."""
    outstanding: Outstanding | None = None
    """The most requests that the device behind it is given at a time. Default: 1."""
    scheduler: Scheduler | None = None
    """Which of the waiting requests is next. It knows LBNs only. Default: "fcfs"."""
    join: Join | None = None
    """Waiting requests that continue one another become one."""
    priority: Priority | None = None
    """Requests that a process waits for, or will wait for after a time, go before all others. Without it
    they do not.
    """
    timeout: Timeout | None = None
    """Requests that have waited too long go before others. Without it they do not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Join(Table):
    """Which requests are joined while they wait."""

    most: Size
    """The most that a joined request asks for."""
    reads: bool | None = None
    """Whether reads are joined. Default: true."""
    writes: bool | None = None
    """Whether writes are joined. Default: true."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Priority(Table):
    """How urgent requests wait."""

    scheduler: Scheduler | None = None
    """Which of the urgent ones is next. Default: "fcfs"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeout(Table):
    """When requests have waited too long."""

    after: Time
    """After this time they go to the urgent ones, or where these are not told apart to a queue of their own
    before the others.
    """
    every: Time | None = None
    """They are looked for at the whole multiples of this time. Default: "1 s"."""
    scheduler: Scheduler | None = None
    """Which is next of those that have waited too long, where they have a queue of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Simple(Table):
    """A device that takes a constant time for each request, and a rate for its bytes.

    A device of constant times.
    """

    _names: ClassVar[tuple[str, ...]] = ("simple",)
    capacity: Size
    """How much it holds."""
    read: Time
    """The time of a read, without its bytes."""
    write: Time
    """The time of a write, without its bytes."""
    rate: Rate | None = None
    """How fast the bytes of a request are read and written, each request by itself; they take no time where
    it is left out.
    """
    parallel: int | None = None
    """How many requests it serves at a time; others wait in the order of their arrival. Default: 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve(Table):
    """A device of which the access time is known by the distance from its last request.

    A device of a measured curve.
    """

    _names: ClassVar[tuple[str, ...]] = ("curve",)
    capacity: Size
    """How much it holds."""
    read: str
    """The CSV file with the access times of reads: columns `distance_blocks`, `mean_ms` and, for `spread`,
    `low_ms` and `high_ms`.
    """
    write: str | None = None
    """The same for writes. Default: that of reads."""
    rate: Rate | None = None
    """How fast the bytes of a request are read and written; they take no time where it is left out."""
    spread: bool | None = None
    """Whether an access time is drawn from `low_ms` to `high_ms`, each as likely; else it is the mean.
    Default: false.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Ssd(Table):
    """An SSD."""

    _names: ClassVar[tuple[str, ...]] = ("ssd",)
    drive: DrivePath
    """The name of a drive, or the path of a drive's TOML file."""
    queue_depth: int | None = None
    """The number of host requests that it serves at a time; others wait in the order of their arrival.
    Default: the drive's own.
    """
    queues: QueuesDescription | None = None
    """The submission queues from which it fetches requests. Default: the drive's own."""
    initial: Precondition | None = None
    """The data on the drive at the start. Default: the drive's own."""
    flash: GeometryDescription | None = None
    """The geometry of its flash. Default: the drive's own."""
    timing: TimingDescription | None = None
    """The times of its flash. Default: the drive's own."""
    interface: ControllerDescription | None = None
    """The controller and its link to the host. Default: the drive's own."""
    parallel: Parallel | None = None
    """The unit that does one operation at a time. Default: the drive's own."""
    copy_back: bool | None = None
    """Whether a page that is moved within a plane stays in the flash. Default: the drive's own."""
    multi_plane: MultiPlaneDescription | None = None
    """The operations that the planes of a die do together. Default: the drive's own."""
    reads_allocate: bool | None = None
    """Whether the read of a page that was never written gives the page a place. Default: the drive's own.
    """
    spare: SpareDescription | None = None
    """The spare part of its flash. Default: the drive's own."""
    allocation: AllocationDescription | None = None
    """The planes on which data are written. Default: the drive's own."""
    cleaning: CleaningDescription | None = None
    """When and how blocks are freed. Default: the drive's own."""
    wear: WearDescription | None = None
    """How blocks wear. Default: the drive's own."""
    retry: RetryDescription | None = None
    """How reads of worn and old blocks are retried. Default: the drive's own."""
    refresh: RefreshDescription | None = None
    """When the data of a block are moved because of reads and age. Default: the drive's own."""
    failures: FailuresDescription | None = None
    """The programs and erases that fail. Default: the drive's own."""
    mapping: MappingDescription | None = None
    """The map from addresses to flash. Default: the drive's own."""
    parity: ParityDescription | None = None
    """Its parity over dies. Default: the drive's own."""
    suspend: SuspendDescription | None = None
    """The operations that are suspended for reads. Default: the drive's own."""
    slc: SlcDescription | None = None
    """Its SLC cache. Default: the drive's own."""
    buffer: WriteBufferDescription | None = None
    """Its write buffer. Default: the drive's own."""
    recovery: RecoveryDescription | None = None
    """How its map survives a power cut. Default: the drive's own."""
    power: SsdPower | None = None
    """When it enters its low power states, and how much power it draws. Without this table it enters none.
    """
    steady_round: Percent | None = None
    """The writes of the host in a round, as a share of the drive; five rounds show whether the drive is in a
    steady state. Default: "10 %".
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuesDescription(Table):
    """Submission queues, and how a controller chooses among them. Source: NVM Express Base Specification
    1.4, 4.13 (Command Arbitration).
    """

    count: int
    """How many: requests of the load's stream n are in queue n modulo this."""
    depth: int | None = None
    """How many requests of a queue the drive serves at a time, at most; all that it serves where it is left
    out.
    """
    burst: int | None = None
    """How many requests are fetched from a queue before the next one has its turn. Default: 1."""
    weights: WeightsDescription | None = None
    """Queues have classes, which share by weights; without them all queues are equal: round robin."""
    classes: Sequence[QueueClass] | None = None
    """The class of each queue, from the first one on; with `weights` only. The others are of class medium.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightsDescription(Table):
    """How many requests are fetched from the queues of a class before the next class has its turn."""

    high: int
    """Of class high."""
    medium: int
    """Of class medium."""
    low: int
    """Of class low."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Precondition(Table):
    """What is on a drive at the start: it is put there before time zero."""

    fill: Percent | None = None
    """How much of it has been written, from its first block on. Default: "100 %"."""
    pattern: Pattern | None = None
    """In which order. Default: "sequential"."""
    overwrite: Overwrite | None = None
    """How often all that it holds has then been overwritten at random; `"until-steady"`: until five rounds
    of that use up as much flash each. Default: 0.0.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class GeometryDescription(Table):
    """How the flash of a drive is divided."""

    channels: int
    """Channels, each of which moves the data of one page at a time."""
    blocks: int
    """Blocks of a plane, those that are bad from the start among them."""
    pages: int
    """Pages of a block that hold data."""
    page: Size
    """Size of a page."""
    packages: int | None = None
    """Packages that share a channel. Default: 1."""
    dies: int | None = None
    """Dies of a package. Default: 1."""
    planes: int | None = None
    """Planes of a die. Default: 1."""
    unit: Size | None = None
    """The unit of the drive's map: a page, or an equal part of a page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimingDescription(Table):
    """How long the flash of a drive takes, its channels included."""

    read: Sequence[Time]
    """From the array into the page register, for each type of page in turn: page i of a block is of type i
    modulo their number.
    """
    program: Sequence[Time]
    """From the page register into the array, by the types of pages."""
    erase: Time
    """Erasing a block."""
    block: Time
    """512 bytes of data on the channel."""
    read_part: Sequence[Time] | None = None
    """The same for reads of less than half a page, if that is shorter."""
    read_command: Time | None = None
    """The time of a read on the channel before the array works. Default: "0 ms"."""
    program_command: Time | None = None
    """The time of a program on the channel, besides its data. Default: "0 ms"."""
    erase_command: Time | None = None
    """The time of an erase on the channel. Default: "0 ms"."""
    summary: Time | None = None
    """A program that writes the summary of a block, at the end of the last of its pages: the time that it
    adds. Default: "0 ms".
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerDescription(Table):
    """The controller and its link to the host."""

    read: Time | None = None
    """The controller's time before a read. Default: "0 ms"."""
    read_end: Time | None = None
    """Its time after a read's data. Default: "0 ms"."""
    write: Time | None = None
    """Its time before a write's data. Default: "0 ms"."""
    write_end: Time | None = None
    """Its time after a write. Default: "0 ms"."""
    mapping: Time | None = None
    """The time to look up where the data are. Default: "0 ms"."""
    rate: Rate | None = None
    """How fast data cross the link, in each direction by itself; they take no time where it is left out.
    """
    frames: Time | None = None
    """The time that the frames of a read's end, and of a write's command, take on the link. Default: "0 ms".
    """
    link: LinkDescription | None = None
    """The link by its standard, which commands, data and completions share, in place of `rate` and `frames`.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Sata(Table):
    """Serial ATA with native command queueing: one direction at a time.

    A Serial ATA link.
    """

    _names: ClassVar[tuple[str, ...]] = ("sata",)
    generation: int | None = None
    """Its generation: 1.5, 3 or 6 Gbit/s. Default: 3."""
    handshake: Time | None = None
    """The handshakes of a frame: from when the link is free until the frame begins, and from its end until
    the link is free. Default: "0 ms".
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Pcie(Table):
    """NVM Express over PCI Express: both directions at once.

    A PCI Express link.
    """

    _names: ClassVar[tuple[str, ...]] = ("pcie",)
    generation: int
    """Its generation: 2.5, 5, 8, 16 or 32 GT/s for each lane."""
    lanes: int
    """How many lanes."""
    payload: int | None = None
    """The most bytes of data of a packet. Default: 256."""
    latency: Time | None = None
    """From when the link has carried something until it is at the other end. Default: "0 ms"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MultiPlaneDescription(Table):
    """What each of the operations that the planes of a die do together costs the channel."""

    read: Time
    """Of a read."""
    program: Time
    """Of a program."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpareDescription(Table):
    """How much of the flash is spare."""

    share: Percent
    """The share of the flash that the host does not see."""
    reserved: int | None = None
    """Blocks of each plane that are neither for data nor for spares: those of the map. Default: 0."""
    bad: Percent | None = None
    """The share of blocks that are bad from the start, drawn by the seed. Default: "0 %"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AllocationDescription(Table):
    """How units are spread over the planes."""

    order: Sequence[Level] | None = None
    """The levels, each once; from one page to the next the first one changes, and each of the others when
    the one before it has gone round. Default: ["channel", "package", "die", "plane"].
    """
    fixed: int | None = None
    """How many of these, from the first one on, the logical number decides. Over the others pages are spread
    as they are written. Default: 4.
    """
    separation: Separation | None = None
    """Which units are written to the same blocks. Default: "single-stream"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleStream(Table):
    """All that the host writes is one stream.

    Rule: all that the host writes is one stream.
    """

    _names: ClassVar[tuple[str, ...]] = ("single-stream",)


@dataclass(frozen=True, slots=True, kw_only=True)
class BySize(Table):
    """Large requests are cold, small ones hot.

    Rule: units of requests of `cold` or more are the second stream, all others the first. Small writes
    are metadata that change often. Source: Chang, "A hybrid approach to NAND-flash-based solid-state
    disks", IEEE Transactions on Computers 59(10), 2010.
    """

    _names: ClassVar[tuple[str, ...]] = ("by-size",)
    cold: Size | None = None
    """The size of a request from which on its data are cold. Default: "128 blocks"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MultiHash(Table):
    """Units that were written often lately are hot.

    Rule: a unit has two counters of a table, which count its writes up to 15; others may share them, and
    the two may be one, which then counts once. It is hot, and of the first stream, when both have come to
    `hot` with this write; else it is of the second. After every `decay` writes all counters are halved.
    The counters of unit n are those of numbers ⌊(n + 1) · k mod 2⁶⁴ / 2³²⌋ mod `counters`, with k =
    0x9E3779B97F4A7C15 and k = 0xC2B2AE3D27D4EB4F. Source: Hsieh, Kuo and Chang, "Efficient identification
    of hot data for flash memory storage systems", ACM Transactions on Storage 2(1), 2006.
    """

    _names: ClassVar[tuple[str, ...]] = ("multi-hash",)
    counters: int | None = None
    """Counters of the table. Default: 65536."""
    hot: int | None = None
    """From how many writes on a unit is hot. Default: 4."""
    decay: int | None = None
    """Writes after which all counters are halved. Default: 65536."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CleaningDescription(Table):
    """When and how blocks are freed."""

    begin: int
    """A plane is cleaned when it has fewer free blocks than this."""
    at_once: int | None = None
    """How many blocks of a plane may be under cleaning at a time; another one is begun when one is opened or
    erased. Default: 1.
    """
    stop: int | None = None
    """The host opens no block while a plane has fewer free blocks than this and something can be cleaned.
    Default: 0.
    """
    throttled: bool | None = None
    """Whether the host's writes and cleaning take turns while the free blocks are between the two; else
    cleaning goes first. Default: false.
    """
    write_delay: Time | None = None
    """How long a write of the host is delayed for each unit that cleaning moves per unit that it frees, as
    the block has them that was chosen last; left out, not at all.
    """
    background: bool | None = None
    """Whether an operation of cleaning may begin while no read or program waits for its worker. Default:
    true.
    """
    idle: IdleDescription | None = None
    """Cleaning while the drive is idle."""
    victim: Victims | None = None
    """Which block is cleaned. Default: "greedy"."""
    separate: bool | None = None
    """Whether moved data go to blocks of their own. Default: true."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleDescription(Table):
    """Cleaning of an idle drive."""

    after: Time
    """How long it has been idle."""
    free: int
    """How many free blocks it wants in each plane."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Greedy(Table):
    """The block with the fewest valid units is cleaned.

    Rule: the block with the fewest valid units is cleaned. Tie: the lowest number. Source: Rosenblum and
    Ousterhout, "The design and implementation of a log-structured file system", ACM TOCS 10(1), 1992,
    section 3.4.
    """

    _names: ClassVar[tuple[str, ...]] = ("greedy",)


@dataclass(frozen=True, slots=True, kw_only=True)
class CostBenefit(Table):
    """The block is cleaned that gives most for its cost, old ones before young ones.

    Rule: the block with the largest age · (units − valid) / (units + valid) is cleaned, its age being
    counted in blocks that were filled since, itself among them. Tie: the lowest number. Source: Rosenblum
    and Ousterhout, "The design and implementation of a log-structured file system", ACM TOCS 10(1), 1992,
    section 3.6.
    """

    _names: ClassVar[tuple[str, ...]] = ("cost-benefit",)


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomGreedy(Table):
    """The best of some different blocks, drawn from the full and the free blocks of the plane.

    Rule: different blocks of the plane are drawn, one number after another, from those that are full or
    free: other numbers, and those drawn already, are drawn again. Of them the one with the fewest valid
    units is cleaned. Tie: the lowest number. Where none of those drawn may be cleaned, others are drawn.
    Source: Li, Lee and Lui, "Stochastic modeling of large-scale solid-state storage systems: analysis,
    design tradeoffs and optimization", SIGMETRICS 2013, as MQSim has it, which draws free blocks, too.
    """

    _names: ClassVar[tuple[str, ...]] = ("random-greedy",)
    of: int | None = None
    """How many are drawn; 0: the logarithm to the base 2 of the blocks of a plane, rounded down, as in
    MQSim. Default: 0.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class DChoices(Table):
    """The best of some blocks, drawn from those that may be cleaned.

    Rule: of `d` draws, each from all full blocks of which a page can be gained, the one with the fewest
    valid units is cleaned. Tie: the one drawn first. Source: Van Houdt, "A mean field model for a class
    of garbage collection algorithms in flash-based solid state drives", SIGMETRICS 2013.
    """

    _names: ClassVar[tuple[str, ...]] = ("d-choices",)
    d: int | None = None
    """How many are drawn. Default: 10."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WearDescription(Table):
    """How blocks wear."""

    levelling: bool | None = None
    """Whether the free block that was erased least is written next; else the one that has been free longest.
    Default: true.
    """
    static: StaticLevellingDescription | None = None
    """When data that nobody writes again are moved from blocks with few erases; never where it is left out.
    """
    endurance: int | None = None
    """The number of erases after which a block cannot be used any more; no limit where it is left out.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticLevellingDescription(Table):
    """Static wear levelling."""

    spread: int
    """How many more erases the block of a plane erased most may have than the one erased least."""
    every: int
    """At most one in this number of erases of a plane is for levelling."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryDescription(Table):
    """Reads that are retried."""

    time: Time
    """The additional time of each retry."""
    most: int
    """How often a read is retried, at most."""
    erases: int | None = None
    """The number of erases of the block that add one retry."""
    age: Time | None = None
    """A retry more for each such age of the block."""
    initial_age: Time | None = None
    """How old the blocks are at the start that have been written. Default: "0 ms"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshDescription(Table):
    """Blocks of which the data are moved in the background before reads and age make them unreadable."""

    reads: int | None = None
    """When a block has been read so often since it was last erased."""
    age: Time | None = None
    """When a block is older than this."""
    period: Time | None = None
    """How often each plane looks for a block that is too old. Default: "3600 s"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailuresDescription(Table):
    """Programs and erases that fail."""

    program: FailureRate | None = None
    """Of programs, those of cleaning among them; none fails where it is left out."""
    erase: FailureRate | None = None
    """Of erases; none fails where it is left out."""
    reserve: int | None = None
    """Blocks of each plane that are left to cleaning for when others fail. Default: 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureRate(Table):
    """How probable the failure of an operation is: it changes in a straight line with the erases of the
    block.
    """

    worn: Percent
    """In a block that has been erased `erases` times or oftener."""
    erases: int
    """The number of erases after which the probability stays as it is."""
    new: Percent | None = None
    """In a block that was never erased. Default: "0 %"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingDescription(Table):
    """How the drive knows where data are."""

    scheme: MapScheme | None = None
    """What the map has entries for. Default: "page"."""
    cache: Size | None = None
    """How much of a map of pages the memory holds, in whole units, the rest being on flash; an entry takes 4
    bytes.
    """
    log_blocks: int | None = None
    """Log blocks of each plane: with `fast` one of them is for sequential writes; with `block` blocks that
    may be written again side by side.
    """
    victim: LogVictim | None = None
    """The log block that is merged when another one is needed. Default: `fifo`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParityDescription(Table):
    """Stripes of pages over dies, each with one page of parity."""

    stripe: int
    """Pages of a stripe, that of parity among them: the number of planes is a multiple."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuspendDescription(Table):
    """Operations that make way for reads."""

    program: SuspensionLimits | None = None
    """Those that program; none of them where this is left out."""
    erase: SuspensionLimits | None = None
    """Those that erase; none of them where this is left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuspensionLimits(Table):
    """How operations are suspended."""

    cost: Time
    """From the decision until a read may begin."""
    most: int
    """How often one operation is suspended, at most."""
    resume: Time | None = None
    """From the resumption until the operation works again. Default: "0 ms"."""
    gap: Time | None = None
    """How long the operation must have worked since it began to, or worked again. Default: "0 ms"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlcDescription(Table):
    """Blocks that are written in SLC mode, one bit a cell, before what they hold is folded into the native
    mode.
    """

    pages: int
    """Pages of a block in SLC mode, fewer than it has in the native mode: a third of a TLC block."""
    read: Time
    """From the array into the page register."""
    program: Time
    """From the page register into the array."""
    fixed: int | None = None
    """Blocks of each plane that may always be in SLC mode. Default: 0."""
    dynamic: int | None = None
    """Blocks of each plane that may be in SLC mode besides, at most, while data do not need them. Default:
    0.
    """
    erase: Time | None = None
    """The time to erase a block in SLC mode. Default: that of the native mode."""
    full: SlcFull | None = None
    """What the host writes when the cache is full. Default: "direct"."""
    fold_after: Time | None = None
    """How long a drive has been idle when it folds; it does not where this is left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteBufferDescription(Table):
    """A write buffer: a write is done when it is in there."""

    size: Size
    """How much it holds, in whole units; 0: there is none."""
    capacitor: bool | None = None
    """Whether a capacitor saves its contents when the power fails. Default: false."""
    hold: Time | None = None
    """How long data wait for others to fill a page with. Default: "1 ms"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryDescription(Table):
    """How the map survives a power cut."""

    checkpoint: Size
    """The changed parts of the map are written whenever this amount has been programmed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SsdPower(Table):
    """The power of an SSD."""

    policy: PowerPolicy | None = None
    """When it goes into which low power state; into none where it is left out."""
    figures: SsdPowerFigures | None = None
    """Its power figures where they differ from the drive's: each key replaces that of the drive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SsdPowerFigures(Table):
    """What an SSD draws. Powers are of the whole drive, and means."""

    idle: Power | None = None
    """At rest, ready at once."""
    read: Power | None = None
    """While it reads; as idle where it is left out."""
    write: Power | None = None
    """While it writes or erases; as idle where it is left out."""
    slumber: StateFigures | None = None
    """The link sleeps."""
    devsleep: StateFigures | None = None
    """All but off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hybrid(Table):
    """A rotating medium and an NV cache as one device.

    A hybrid drive: a medium and an NV cache in one device, both of any kind.
    """

    _names: ClassVar[tuple[str, ...]] = ("hybrid",)
    media: Device
    """The device that is the medium: the drive has its blocks."""
    nvcache: Device
    """The device that is the NV cache."""
    command: Time | None = None
    """How long a command takes that only changes which blocks are pinned. Default: "5 us"."""
    power_mode: bool | None = None
    """NV cache power mode is on from the start: the NV cache takes all writes that it has room for, and the
    medium is stopped whenever it has nothing to do. Default: false.
    """
    high_power: Time | None = None
    """In NV cache power mode, how long the medium is left turning after it has come back: the minimum high-
    power time. Default: "0 ms".
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Controller(Table):
    """One or more devices behind a controller, which may have a cache.

    A controller of one or more devices of any kind, with a cache or without.
    """

    _names: ClassVar[tuple[str, ...]] = ("controller",)
    device: Sequence[Device]
    """The devices, whose blocks the controller has one after the other."""
    queue: int | None = None
    """How many requests it works on at a time; others wait in the order of arrival. Left out, any number.
    """
    message: Time | None = None
    """What a message takes: to a device, from one, to the host. Default: "0 ms"."""
    one_message: bool | None = None
    """It handles one message at a time. Default: false."""
    block: Time | None = None
    """What a block takes between the host and the cache; the data of one request at a time are moved.
    Default: "0 ms".
    """
    max_request: Size | None = None
    """The most blocks of a request that are worked on at a time: larger ones are cut into pieces, one after
    the other. Left out, any number.
    """
    scheduler: Scheduler | None = None
    """What is next for a device of what waits for it. Default: "fcfs"."""
    outstanding: int | None = None
    """How many operations are under way in a device at a time. Left out, any number."""
    join: ControllerJoin | None = None
    """Which operations that wait for a device and continue one another are joined; left out, none."""
    memory: ControllerMemory | None = None
    """A cache in its memory."""
    cache: ControllerCacheDevice | None = None
    """A device that caches the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerJoin(Table):
    """Which operations that wait and continue one another become one."""

    most: Size
    """The most blocks of a joined operation."""
    reads: bool | None = None
    """Reads are joined. Default: true."""
    writes: bool | None = None
    """Writes are joined. Default: true."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerMemory(Table):
    """A cache in a controller's memory, which a power cut empties."""

    size: Size
    """Its size, a whole number of lines."""
    line: Size | None = None
    """The unit of the cache, from 1 block to 1 MiB. Default: "64 blocks"."""
    policy: Replacement | None = None
    """Which line leaves when another needs its place. Default: "lru"."""
    victims: ControllerVictims | None = None
    """Which lines may leave. Default: "any"."""
    grain: Size | None = None
    """The blocks that are there, or dirty, together: a line is a whole number of them. Default: "1 block".
    """
    lock: Size | None = None
    """The blocks that are locked together."""
    shared_reads: bool | None = None
    """Reads of the same blocks may be under way together. Default: false."""
    writes: ControllerWrites | None = None
    """When a write is complete. Default: "write-back"."""
    read_prefetch: ControllerPrefetch | None = None
    """What a read that misses fetches beyond its blocks. Default: "none"."""
    write_prefetch: ControllerPrefetch | None = None
    """What a write to a line that is not there as a whole fetches beside its blocks. Default: "none"."""
    line_by_line: bool | None = None
    """A line is fetched before the next one gets its place; else the missing blocks of all lines are fetched
    together. Default: false.
    """
    gather: int | None = None
    """The most lines of one fetch; left out, any number."""
    cluster: int | None = None
    """The most lines that are written together when dirty ones are. Default: 1."""
    flush_period: Time | None = None
    """All that is dirty is written each time that this has passed; left out, never."""
    idle_flush: Time | None = None
    """What is dirty is written, run after run, once the devices have been idle for this time; left out,
    never.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerCacheDevice(Table):
    """A device that caches the devices of a controller: block n of the controller at its block n."""

    device: Device
    """The device."""
    size: Size | None = None
    """How many blocks of the controller are cached, from the first one on. Left out, as many as the device
    has.
    """
    writes: ControllerWrites | None = None
    """When a write is complete; the cache device always has it first. Default: "write-back"."""
    idle_flush: Time | None = None
    """What is dirty is written to the devices behind it, run after run, once all have been idle for this
    time; left out, never.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Tier(Table):
    """A device as the cache of another one.

    A cache tier: one device in front of another, both of any kind.
    """

    _names: ClassVar[tuple[str, ...]] = ("tier",)
    cache: Device
    """The device that is the cache."""
    backing: Device
    """The device whose blocks it caches: the tier has as many."""
    size: Size | None = None
    """How much of the cache device is used for lines: a whole number of them. Left out, as many as it has
    room for beside its metadata, but no more than the backing device has.
    """
    line: Size | None = None
    """The unit of the cache, from 1 block to 1 MiB. A line holds only the blocks that were requested.
    Default: "8 blocks".
    """
    policy: Replacement | None = None
    """Which line leaves when another needs its place. Default: "lru"."""
    write_policy: TierWritePolicy | None = None
    """The write policy. Default: "write-through"."""
    admission: TierAdmission | None = None
    """Which lines that miss get a place. Default: "always"."""
    promotion: TierPromotion | None = None
    """When a read that misses is complete. Default: "behind"."""
    cleaning: TierCleaning | None = None
    """When dirty lines are written back, and which first."""
    metadata: TierMetadata | None = None
    """Whether the cache device keeps which dirty blocks it has."""
    initial: TierInitial | None = None
    """The contents of the cache at the start. Default: none."""
    event: Sequence[TierEvent] | None = None
    """How the cache changes in mid-run."""
    bypass: Bypass | None = None
    """Which sequential streams pass the cache by; left out, none does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteThrough(Table):
    """A write goes to both devices and is complete when both have it.

    Rule: a write goes to both devices and is complete when both have it. Tie: none can be. Source: Open
    CAS, bcache and dm-cache have it under this name; Smart Response calls it enhanced. Weakness: a write
    is as slow as the backing device.
    """

    _names: ClassVar[tuple[str, ...]] = ("write-through",)


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteBack(Table):
    """A write is complete when the cache device has it, and goes to the backing device later.

    Rule: a write is complete when the cache device has it; its blocks are dirty until they are written
    back. Tie: none can be. Source: Open CAS, bcache and dm-cache have it under this name; Smart Response
    calls it maximized. Weakness: what is dirty is lost with the cache device.
    """

    _names: ClassVar[tuple[str, ...]] = ("write-back",)


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteAround(Table):
    """A write goes to the backing device and updates lines that are held, but gets none.

    Rule: a write goes to the backing device, and to the cache device as far as lines are held; it gets no
    line. Tie: none can be. Source: Open CAS. Weakness: what is written and then read misses once.
    """

    _names: ClassVar[tuple[str, ...]] = ("write-around",)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOnly(Table):
    """A write goes to the backing device, and lines lose its blocks: the cache holds what was read.

    Rule: a write goes to the backing device, and lines lose its blocks. Tie: none can be. Source:
    EnhanceIO; Open CAS calls it write-invalidate. Weakness: what is written leaves the cache.
    """

    _names: ClassVar[tuple[str, ...]] = (
        "read-only",
        "write-invalidate",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PassThrough(Table):
    """Every request goes to the backing device, and nothing is cached.

    Rule: every request goes to the backing device; nothing is cached. Tie: none can be. Source: Open CAS.
    Weakness: it is no cache; it is there to compare with.
    """

    _names: ClassVar[tuple[str, ...]] = ("pass-through",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Always(Table):
    """Every line that misses gets a place.

    Rule: every line that misses is admitted. Tie: none can be. Source: the promotion policy `always` of
    Open CAS. Weakness: lines that are accessed once drive others out, and wear the cache device.

    Every write is redirected.

    Rule: every write is redirected that fits. Source: the simplest that there is. Weakness: large and
    sequential writes are slower on flash than on the medium, and fill the FQueue.
    """

    _names: ClassVar[tuple[str, ...]] = ("always",)


@dataclass(frozen=True, slots=True, kw_only=True)
class After(Table):
    """A line gets a place at its n-th access that misses.

    Rule: a line is admitted at its n-th access that misses, as far as the accesses are remembered: those
    of the `remembered` lines that missed last. Tie: none can be. Source: the promotion policy `nhit` of
    Open CAS, whose table is larger. Weakness: the first accesses to a line that becomes popular go to the
    backing device.
    """

    _names: ClassVar[tuple[str, ...]] = (
        "after",
        "nhit",
    )
    accesses: int | None = None
    """At which access a line is admitted, from 1. Default: 2."""
    remembered: int | None = None
    """Of how many lines that missed the accesses are counted; as many as the cache has, if it is left out.
    The line that missed least recently is forgotten for another.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class NoCleaning(Table):
    """Only lines whose place is needed, and lines that a flush needs, are written back.

    Rule: a dirty line is written back when its place is needed, or for a flush. Tie: none can be. Source:
    the cleaning policy `nop` of Open CAS. Weakness: once all lines are dirty, every new line waits for
    the backing device.
    """

    _names: ClassVar[tuple[str, ...]] = (
        "none",
        "nop",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Oldest(Table):
    """The line that has been dirty longest first, while the host is idle or too much is dirty.

    Rule: while the host has been idle for some time, or while too much is dirty, the run of the line that
    has been dirty longest is written back, with the dirty blocks that follow it. Tie: none can be.
    Source: the cleaning policy `alru` of Open CAS, and the watermarks of writeback in bcache. Weakness:
    in the order of age a disk seeks between any two runs.
    """

    _names: ClassVar[tuple[str, ...]] = (
        "oldest",
        "alru",
    )
    idle: Time | None = None
    """How long the host has had no request before cleaning begins. Left out, 100 ms without `high`, and with
    it idleness is no reason.
    """
    high: Percent | None = None
    """The dirty share of the cache from which on it is cleaned during requests of the host. Without it, it
    never is.
    """
    low: Percent | None = None
    """The share at which that ends; left out, `high`."""
    merge: Size | None = None
    """The most that is written back together. Default: "2048 blocks"."""
    pause: Time | None = None
    """How long cleaning rests after each write-back. Default: "0 ms"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggressive(Table):
    """All dirty blocks, at once and in ascending order.

    Rule: as soon as anything is dirty it is written back, whatever the host does: the next dirty run
    behind the last one, by LBN, and after the end the first. Tie: none can be. Source: the cleaning
    policy `acp` of Open CAS. Weakness: blocks that are written often are written back often, and requests
    of the host wait behind it.
    """

    _names: ClassVar[tuple[str, ...]] = (
        "aggressive",
        "acp",
    )
    merge: Size | None = None
    """The most that is written back together. Default: "2048 blocks"."""
    pause: Time | None = None
    """How long cleaning rests after each write-back. Default: "0 ms"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoMetadata(Table):
    """In memory only: a power cut loses it, and a flush writes back what is dirty.

    Rule: which lines are held is in memory only, so that a power cut loses all that the cache device has;
    a flush writes back every dirty block. Tie: none can be. Source: the closed forms of a tier, and
    DiskSim's cache device, know no metadata. Weakness: a flush takes as long as all write-backs together.
    """

    _names: ClassVar[tuple[str, ...]] = ("none",)


@dataclass(frozen=True, slots=True, kw_only=True)
class OnCache(Table):
    """A table on the cache device: dirty blocks survive a power cut, and a flush writes none back.

    Rule: the cache device has a table with an entry for each place, behind the places; after a power cut
    the dirty blocks that it names are found again, and clean ones are dropped. A commit writes all blocks
    of the table that have changed. Tie: none can be. Source: the table and its recovery are those of Open
    CAS, the interval is dm-cache's; bcache also lets writes wait for metadata only at a flush. Weakness:
    each change costs a write of 4 KiB, however many share it.
    """

    _names: ClassVar[tuple[str, ...]] = ("on-cache",)
    commit: CommitWith | None = None
    """What waits until changes of the table are durable. Left out, writes if the cache device promises what
    it acknowledges, and else flushes.
    """
    interval: Time | None = None
    """The longest time for which a change waits for its commit. Default: "1 s"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rank(Table):
    """Whole lines, by where they are or by how popular they are.

    Whole lines by their rank.
    """

    _names: ClassVar[tuple[str, ...]] = ("rank",)
    by: TierRankedBy | None = None
    """What ranks them. Default: "address"."""
    fill: Percent | None = None
    """How many there are: a share of the lines that the cache has. Default: "100 %"."""
    dirty: Percent | None = None
    """The share of them that is dirty: those that were accessed last. Only with write-back. Default: "0 %".
    """


@dataclass(frozen=True, slots=True)
class Trace(Table):
    """What the requests of this trace leave there, each of which is complete long before the next arrives."""

    _names: ClassVar[tuple[str, ...]] = ("trace",)
    _is_value: ClassVar[bool] = True
    value: FilePath


@dataclass(frozen=True, slots=True, kw_only=True)
class TierEvent(Table):
    """A change of the cache in mid-run."""

    at: Time
    """When it begins, in simulated time."""
    kind: TierEventKind
    """What changes."""


@dataclass(frozen=True, slots=True)
class Resize(Table):
    """The cache has this size from then on: a whole number of lines."""

    _names: ClassVar[tuple[str, ...]] = ("resize",)
    _is_value: ClassVar[bool] = True
    value: Size


@dataclass(frozen=True, slots=True, kw_only=True)
class Bypass(Table):
    """Which sequential streams pass the cache by."""

    sequential: Size
    """A request gets no lines that makes a sequential stream longer than this: what is held is served from
    the cache all the same.
    """
    streams: int | None = None
    """How many streams are followed at a time. Default: 16."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Host(Table):
    """The host."""

    outstanding: int | None = None
    """The most requests handed to the device at a time; no limit where it is left out."""
    scheduler: Scheduler | None = None
    """The order in which requests that are held back are handed over. Default: "fcfs"."""
    flash_backed: FlashBacked | None = None
    """The host redirects writes that would take longer on a hybrid drive's medium to its NV cache. Without
    this table it does not.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class FlashBacked(Table):
    """Flash-backed requests: the host's scheduler writes to the NV cache of a hybrid drive what its medium
    would take longer for.
    """

    fqueue: Size
    """How much the FQueue holds, in the host's memory and in the NV cache alike."""
    queue: Scheduler | None = None
    """The order of the Request Queue: `fcfs`, `sstf` or `c-look`."""
    rule: RedirectionRule | None = None
    """Which writes are redirected. Default: "paper"."""
    overlap: FlashBackedOverlap | None = None
    """How a write that covers data in the FQueue is treated. Default: "overwrite"."""
    order: FlashBackedOrder | None = None
    """When what has gone to the medium leaves the FQueue. Default: "durable-first"."""
    idle: FlashBackedIdle | None = None
    """When the FQueue is purged while the Request Queue is empty. Default: "eager"."""
    next: FlashBackedNext | None = None
    """What the next request is where the Request Queue is empty. Default: "none-if-empty"."""
    high: Percent | None = None
    """Flushing begins when so much of the FQueue is full, or a redirected write has no room. Default: "100
    %".
    """
    low: Percent | None = None
    """It ends when no more than this is full. Default: "90 %"."""
    flash: FlashTimes | None = None
    """What the host takes a write to the NV cache for; left out, what the device there lets expect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper(Table):
    """Where it shortens this write and the next request together.

    Rule: a write is redirected where the medium would take longer for it and the next request than the NV
    cache for it and the medium for the next: h_n + n_nn > f_n + h_nn. Tie: the medium. Source: Bisson and
    Brandt, MASCOTS 2007, Fig. 6. Weakness: where the queue is empty it does not look ahead, and most
    writes of a desktop come one by one.
    """

    _names: ClassVar[tuple[str, ...]] = ("paper",)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadOnly(Table):
    """Where the NV cache is faster for this write alone.

    Rule: a write is redirected where the medium would take longer for it than the NV cache: h_n > f_n.
    Tie: the medium. Source: what Bisson and Brandt, MASCOTS 2007, section III-B, argue against. Weakness:
    after a redirected write far away the head stays where it is, and those near that write are redirected
    too.
    """

    _names: ClassVar[tuple[str, ...]] = ("head-only",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Never(Table):
    """No write is redirected.

    Rule: no write is redirected. Source: the baseline of Bisson and Brandt, MASCOTS 2007. Weakness: the
    NV cache has no use.
    """

    _names: ClassVar[tuple[str, ...]] = ("never",)


@dataclass(frozen=True, slots=True, kw_only=True)
class RedirectBySize(Table):
    """Writes up to a size are redirected.

    Rule: writes of up to `most` are redirected. Source: the usual rule of thumb that flash is for small
    writes. Weakness: blind to where the head is.
    """

    _names: ClassVar[tuple[str, ...]] = ("by-size",)
    most: Size | None = None
    """The largest write that is redirected. Default: "128 blocks"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned(Table):
    """As in the paper, with the next request weighted by what it has been worth.

    Rule: that of Fig. 6, with the accesses to the next request weighted by how often a next request was a
    write that the medium served: h + p (n − m) > f. Else a shorter way to the next request shortens no
    write: a read is none, and a write that is redirected itself goes no way. Tie: the medium. Source: our
    own. Weakness: it does not see which next request will be which.
    """

    _names: ClassVar[tuple[str, ...]] = ("learned",)
    memory: int | None = None
    """The share p is a moving average over about this number of next requests, from 1 to 65,536. Default:
    64.
    """


@dataclass(frozen=True, slots=True)
class Delay(Table):
    """After it has been empty, and the medium idle, for so long."""

    _names: ClassVar[tuple[str, ...]] = ("delay",)
    _is_value: ClassVar[bool] = True
    value: Time


@dataclass(frozen=True, slots=True, kw_only=True)
class FlashTimes(Table):
    """The time of a write to the NV cache."""

    write: Time
    """Without its bytes."""
    rate: Rate | None = None
    """How fast its bytes are written; they take no time where it is left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure(Table):
    """What is measured of a run, and how much of a run there is."""

    warmup: WarmUp | None = None
    """How much of the start is left out of the statistics: requests (`1000`), a share (`"10 %"`) or a time
    (`"5 s"`).
    """
    duration: Time | None = None
    """Take no request that arrives later than this after the first."""
    requests: int | None = None
    """The most requests that are taken."""
    end: MeasureEnd | None = None
    """When the run ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault(Table):
    """Something that goes wrong."""

    at: Time
    """When, in simulated time."""
    kind: FaultKind
    """What."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outage(Table):
    """The power of the devices fails and returns: requests under way fail, the host goes on, and what it
    submits meanwhile waits. Arrays with redundancy are resynchronised. Of `simple` and `curve`, of hard
    disks in place without pool and power states, and of arrays of these.

    Power that returns.
    """

    _names: ClassVar[tuple[str, ...]] = ("outage",)
    lasts: Time
    """How long the devices take no request: until the power is back and they are ready."""


@dataclass(frozen=True, slots=True)
class Fail(Table):
    """A device fails for good, with all below it, and the run goes on: the device by its path, as in
    results, or by that of the place where it stands, such as `array.member[1]`.
    """

    _names: ClassVar[tuple[str, ...]] = ("fail",)
    _is_value: ClassVar[bool] = True
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaError(Table):
    """Blocks of a device's medium cannot be read any more, until they are written.

    Blocks that cannot be read.
    """

    _names: ClassVar[tuple[str, ...]] = ("media-error",)
    device: str
    """The device by its path, as in results: one that has a medium of its own."""
    from_: int
    """The first of the blocks, by the device's own numbers."""
    blocks: int
    """How many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep(Table):
    """A grid of points: all combinations of the values of some keys of the spec. `diskwright sweep` runs it;
    every other verb runs the spec without it.
    """

    seeds: int | None = None
    """Runs of each point, with seeds from the spec's on. Default: 5."""
    vary: Mapping[str, Any] | None = None
    """The keys that are varied, by dotted path, each with a list of its values: `"device.hdd.queue.depth" =
    [1, 32]`.
    """
    metrics: Sequence[str] | None = None
    """The numbers of the results that its table shows, by their keys with dots between them, such as
    `by_op.read.response_ms.p99`; the response time's mean and p99 and the IOPS where there are none.
    Default: [].
    """


Size: TypeAlias = str
"""A size with its unit, a multiple of 512 bytes, such as "8 blocks" or "4 KiB" (units: blocks, B, KiB, MiB,
GiB, TiB, kB, MB, GB, TB).
"""

Time: TypeAlias = str
"""A time with its unit, such as "20 ms" (units: ns, us, ms, s, min, h, d)."""

SyntheticClone: TypeAlias = FilePath | SyntheticCloneTable
"""A profile or a table of counts, or such a table with parameters."""

Lengths: TypeAlias = Literal["exponential", "constant"]
"""How times are distributed about their mean.

`exponential`: Exponentially.

`constant`: All the same.
"""

Think: TypeAlias = Time | Constant | Exponential
"""From a completion to the same user's next request: a time, always the same, or a distribution."""

Rate: TypeAlias = Requests | PoissonRequests | Bytes
"""A limit of what the users of a stream issue together; a stream that fell behind catches up, as far as its
users are free.
"""

Arrivals: TypeAlias = Literal["closed"] | Poisson | Constant | UniformGaps | OnOff | Closed
"""When requests arrive."""

Start: TypeAlias = Time | UniformGaps
"""The earliest beginning of a stream, from the start of the run: a time, or an interval from which it is
drawn.
"""

Sizes: TypeAlias = Size | Sequence[SizeShare] | ExponentialSizes | SizeByOperation
"""One size, several with their shares, exponentially distributed ones, or different ones for reads and
writes.
"""

Portion: TypeAlias = str
"""A percentage such as "10 %" or a size such as "1 GiB"."""

Percent: TypeAlias = str
"""A percentage from 0 to 100, such as "10 %"."""

Turns: TypeAlias = Literal["round-robin", "random"]
"""Which stream is next.

`round-robin`: One after the other.

`random`: Any.
"""

Distances: TypeAlias = Literal["exponential", "normal"]
"""How distances are distributed.

`exponential`: Exponentially: with both directions, Laplace's distribution.

`normal`: Half of a normal distribution: with both directions, the whole.
"""

Address: TypeAlias = (
    Literal[
        "uniform",
        "sequential",
        "zipf",
        "fio-zipf",
        "fio-pareto",
        "fio-normal",
        "hot-cold",
        "zones",
        "streams",
        "strided",
        "strided-zones",
        "partly-random",
        "local",
    ]
    | Uniform
    | Sequential
    | Zipf
    | FioZipf
    | FioPareto
    | FioNormal
    | HotCold
    | Zones
    | Streams
    | Strided
    | StridedZones
    | PartlyRandom
    | Local
    | Growing
)
"""Where requests go."""

Load: TypeAlias = Synthetic | Several
"""A synthetic load, written with its keys, or several, each in its own [[workload.synthetic.stream]]."""

Fio: TypeAlias = FilePath | FioJobs
"""A job file, or some of its jobs."""

Distribution: TypeAlias = (
    UniformDistribution
    | NormalDistribution
    | ExponentialDistribution
    | PoissonDistribution
    | TwoValueDistribution
)
"""A distribution of numbers: of milliseconds, or of blocks.

How each is drawn, and from how many random numbers, is that of DiskSim 4.0: the same generator gives the
same stream.
"""

IdleProcessors: TypeAlias = Literal["lost", "resumed"]
"""What becomes of a processor that has no process to go on with.

`lost`: It is not used again, unless it is the first one: as in DiskSim 4.0, where all interrupts are
handled by the first one.

`resumed`: It goes on with the next process that has waited.
"""

BlkEvent: TypeAlias = Literal["queue", "issue"]
"""An event that can be a request's arrival.

`queue`: Q: the request came to the block layer, before merging, splitting and scheduling.

`issue`: D: the request was sent to the driver, after them.
"""

Pace: TypeAlias = Literal["recorded", "closed"] | Scaled
"""When the requests of a trace are issued.

`recorded`: As recorded.

`closed`: As fast as the host's outstanding limit lets them; recorded times decide only `from`, `to` and
the order.
"""

TraceDevice: TypeAlias = int | Literal["single", "all"]
"""Which of a trace's devices: its number, "all", or "single"."""

PastEnd: TypeAlias = Literal["error", "map", "clip", "skip"]
"""How requests past the end of the drive are treated.

`error`: The run ends with an error that says which request it was.

`map`: The LBN modulo the drive's capacity, moved back as far as the request needs to fit; counted as
mapped.

`clip`: The part on the drive is done, counted as clipped; a request with no such part is counted as
skipped.

`skip`: Left out and counted as skipped.
"""

OutOfOrder: TypeAlias = Literal["error", "map", "skip"]
"""How requests that arrive before their predecessor are treated.

`error`: The run ends with an error that says which request it was.

`map`: They arrive together with the one in front; counted as mapped.

`skip`: Left out and counted as skipped.
"""

BadSize: TypeAlias = Literal["error", "clip", "skip"]
"""How requests without blocks, or with more blocks than the drive, are treated.

`error`: The run ends with an error that says which request it was.

`clip`: As large as the drive, counted as clipped; one of no blocks is counted as skipped.

`skip`: Left out and counted as skipped.
"""

Angle: TypeAlias = float | Literal["random"]
"""A part of a turn from 0 to below 1, such as 0.25, or "random"."""

By: TypeAlias = Literal["lbn", "cylinder"]
"""What places are told apart by. A host's queue knows LBNs only and goes by them, whichever is asked for.

`lbn`: The first LBN. The present place is the end of the previous request.

`cylinder`: The cylinder of the first LBN. The present place is the arm's.
"""

SstfTies: TypeAlias = Literal["oldest", "alternate"]
"""Which of two requests is next that are as near.

`oldest`: The one that has waited longer.

`alternate`: The upper one and the lower one in turn, the upper one first, as in DiskSim.
"""

CLookFrom: TypeAlias = Literal["end", "start"]
"""Where a request leaves off, for the one that is picked after it.

`end`: Behind its last block; by cylinder, where the arm then is.

`start`: Where it began, as in DiskSim: the same place may be served again and again.
"""

Scheduler: TypeAlias = (
    Literal[
        "fcfs",
        "sstf",
        "look",
        "elevator",
        "scan",
        "c-look",
        "clook",
        "c-scan",
        "cscan",
        "v-scan",
        "vscan",
        "satf",
        "sptf",
        "aged-satf",
        "asptf",
        "weighted-satf",
        "wptf",
        "batch-satf",
        "bsatf",
        "ncq",
        "deadline",
        "mq-deadline",
    ]
    | Fcfs
    | Sstf
    | Look
    | Scan
    | CLook
    | CScan
    | VScan
    | Satf
    | AgedSatf
    | WeightedSatf
    | BatchSatf
    | Ncq
    | Deadline
    | Custom
)
"""Which of the waiting requests is next."""

Slots: TypeAlias = Literal["parts", "merged"]
"""What a merged request counts as in a queue of limited depth.

`parts`: As many slots as it has parts, each of which keeps its tag.

`merged`: One slot.
"""

MergedPlace: TypeAlias = Literal["oldest", "newest"]
"""When a merged request has come, for schedulers that go by the order of arrival; its wait is always that of
its oldest part.

`oldest`: With its oldest part: the others move up.

`newest`: With its newest part: the others fall back, as often as more join them.
"""

Overhead: TypeAlias = Time | OverheadTable
"""A time before every command, or a table of what is to differ from the drive's."""

Variant: TypeAlias = Literal["paper", "libcachesim"]
"""Which variant of a policy, where publications and implementations differ.

`paper`: As in the paper.

`libcachesim`: As in libCacheSim.
"""

Scale: TypeAlias = Literal["mean", "maximum"]
"""What an access time is compared with.

`mean`: The mean access time so far.

`maximum`: The longest access time so far.
"""

Replacement: TypeAlias = (
    Literal[
        "lru",
        "fifo",
        "lifo",
        "clock",
        "lfu",
        "slru",
        "2q",
        "two-q",
        "arc",
        "lirs",
        "s3-fifo",
        "s3fifo",
        "sieve",
        "w-tinylfu",
        "wtinylfu",
        "atca",
        "atca-simple",
        "fac",
        "greedy-dual",
        "greedydual",
        "random",
        "belady",
        "min",
        "opt",
    ]
    | Lru
    | Fifo
    | Lifo
    | Clock
    | Lfu
    | Slru
    | TwoQ
    | Arc
    | Lirs
    | S3Fifo
    | Sieve
    | WTinylfu
    | Atca
    | AtcaSimple
    | Fac
    | GreedyDual
    | Random
    | Belady
    | Custom
)
"""Which block leaves the cache when another needs its place."""

WritePolicy: TypeAlias = Literal["write-through", "write-back"]
"""When a write is complete.

`write-through`: When it is on the medium; the cache has it too.

`write-back`: When it is in the cache: it goes to the medium when its frame is wanted for another block,
or at a flush.
"""

ArmMotion: TypeAlias = Literal["one-at-a-time", "independent"]
"""Whether the arms of a drive move and transfer at the same time.

`one-at-a-time`: One arm moves or transfers at a time; the others hold their cylinders.

`independent`: Every arm serves a request of its own. Two arms must then serve the same requests, or none
in common.
"""

ArmChoice: TypeAlias = (
    Literal["soonest", "nearest", "split", "adaptive"] | Soonest | Nearest | Split | Adaptive
)
"""Which of several arms serves an access."""

Allocator: TypeAlias = Literal["soonest", "nearest-cylinder", "edge"]
"""The rule by which a logging drive chooses among free slots.

`soonest`: The slot with the shortest positioning time: seek, head switch, settling and rotation.

`nearest-cylinder`: The soonest slot of the nearest cylinder that has a free one: no seek while the arm's
own cylinder has room.

`edge`: The soonest slot that does not lie before the highest cylinder written so far; from the first
cylinder again when the end of the disk is reached.
"""

Ties: TypeAlias = Literal["outward", "emptier", "inward"]
"""Which cylinder a write takes where free slots of several come by at the same instant, none of them in the
arm's own.

Tracks have their sector edges in common, so that this is frequent, and it decides where a log grows.

`outward`: One with a higher number than the arm's, the nearest of them: the arm stays at the edge of the
log.

`emptier`: The one with the most free slots; of those with as many the nearest, and of two as near the one
with the higher number.

`inward`: One with a lower number than the arm's, the nearest of them: the arm stays among the holes of
the log.
"""

Recovery: TypeAlias = Literal["headers", "virtual-log"]
"""How a logging drive finds its map again after a loss of power.

`headers`: By a scan of all tracks: sector headers have the number of the block and that of the write.
Costs nothing before.

`virtual-log`: By reading the map from the medium: after each write of data the changed part of the map is
written near the head.
"""

Cleaner: TypeAlias = Literal["idle", "watermark"] | Idle | Watermark
"""When a logging drive makes tracks empty."""

Placement: TypeAlias = Literal["in-place", "eager", "logging"] | InPlace | Eager
"""Where a drive puts the data of a write."""

PowerPolicy: TypeAlias = (
    Literal["fixed", "adaptive", "apst", "oracle"] | FixedTimeouts | AdaptiveTimeout | Apst | OracleTimeout
)
"""When an idle device goes into which low power state."""

Power: TypeAlias = str
"""A power from 0 to 1 kW, such as "1.4 W" (units: uW, mW, W)."""

Energy: TypeAlias = str
"""An energy from 0 to 1 MJ, such as "12 J" (units: uJ, mJ, J)."""

MirrorRead: TypeAlias = (
    Literal["least-outstanding", "round-robin", "nearest", "first"]
    | LeastOutstanding
    | RoundRobin
    | Nearest
    | First
)
"""Which member of a mirror a read goes to."""

ParityWrites: TypeAlias = Literal["fewest-reads"] | Threshold
"""When the new parity is computed from what changes, which takes the old data and the old parity (read-
modify-write), and when from the rest of the row (reconstruction).

`fewest-reads`: Whichever reads fewer units; reconstruction where both read as many, as Linux's md does.
"""

ParityWaits: TypeAlias = Literal["all", "own-chain"]
"""Which pre-reads a write waits for.

`all`: All writes wait for all pre-reads of the request.

`own-chain`: A write of data waits for the pre-reads of its own member, one of parity for those of its
row. A member that fails between may take data of other requests along.
"""

ParityRotation: TypeAlias = Literal[
    "left-symmetric", "left-asymmetric", "right-symmetric", "right-asymmetric"
]
"""How parity goes from member to member, row after row: the four of Lee and Katz, "Performance consequences
of parity placement in disk arrays", ASPLOS 1991.

`left-symmetric`: Parity from the last member down; data begin behind it and go round.

`left-asymmetric`: Parity from the last member down; data from the first member on, past the parity.

`right-symmetric`: Parity from the first member up; data begin behind it and go round.

`right-asymmetric`: Parity from the first member up; data from the first member on, past the parity.
"""

ParityDirection: TypeAlias = Literal["left", "right"]
"""Where parity begins, and where it goes from there.

`left`: From the last member down.

`right`: From the first member up.
"""

ArrayLayout: TypeAlias = (
    Literal["mirror", "raid-1", "concat"]
    | Stripe
    | Mirror
    | Concat
    | Raid4
    | Raid5
    | Raid6
    | Raid10
    | ParityStriping
)
"""Which member of an array has which blocks."""

Spindles: TypeAlias = Literal["free", "synchronised"] | Free | Synchronised
"""How the platters of several disks turn."""

Outstanding: TypeAlias = int | Literal["unlimited"]
"""A number of requests from 1, or "unlimited"."""

QueueClass: TypeAlias = Literal["urgent", "high", "medium", "low"]
"""The class of a queue.

`urgent`: Before all others.

`high`: The first of those that share by weights.

`medium`: The second.

`low`: The third.
"""

Pattern: TypeAlias = Literal["sequential", "random"]
"""The order in which a drive was filled.

`sequential`: From the first block to the last.

`random`: Each page once, in a random order.
"""

Overwrite: TypeAlias = float | Literal["until-steady"]
"""A number of drive writes, or "until-steady": until the flash that a round of them uses up stays the same.
"""

LinkDescription: TypeAlias = Literal["sata"] | Sata | Pcie
"""The link to the host: its rate and what a command costs follow from its standard."""

Parallel: TypeAlias = Literal["dies", "packages", "planes"]
"""What does one operation at a time.

`dies`: A die: the dies of a package work side by side.

`packages`: A package, with all its dies.

`planes`: A plane: the planes of a die work side by side.
"""

Level: TypeAlias = Literal["channel", "package", "die", "plane"]
"""A level of the hierarchy of planes.

`channel`: The channel.

`package`: The package of a channel.

`die`: The die of a package.

`plane`: The plane of a die.
"""

Separation: TypeAlias = Literal["single-stream", "by-size", "multi-hash"] | SingleStream | BySize | MultiHash
"""Which units are written to the same blocks."""

Victims: TypeAlias = (
    Literal["greedy", "fifo", "cost-benefit", "random-greedy", "d-choices"]
    | Greedy
    | Fifo
    | CostBenefit
    | RandomGreedy
    | DChoices
)
"""Which block of a plane is cleaned."""

MapScheme: TypeAlias = Literal["page", "block", "bast", "fast"]
"""What a drive's map has entries for.

`page`: Pages, or units of them: a page may be anywhere.

`block`: Blocks: a page has its own place in its block, and what is written again goes to a block that is
to replace it.

`bast`: Blocks, and pages of a log block for each of some blocks (block-associative sector translation).

`fast`: Blocks, and pages of log blocks that all blocks share (fully-associative sector translation).
"""

LogVictim: TypeAlias = Literal["fifo", "lru"]
"""Which log block is merged when one is needed.

`fifo`: The one that was begun first.

`lru`: The one that was written least recently.
"""

SlcFull: TypeAlias = Literal["direct", "fold"]
"""What the host writes when the SLC cache is full.

`direct`: Pages in the native mode.

`fold`: Nothing, until a block is folded.
"""

ControllerVictims: TypeAlias = Literal["any", "clean"]
"""Which lines may leave the cache for others.

`any`: Those that the replacement policy chooses: a dirty one is written first.

`clean`: Clean ones, as long as there are any; for each line that leaves, a dirty run is written.
"""

ControllerWrites: TypeAlias = Literal["synchronous", "write-through", "write-back"]
"""When a write is complete.

`synchronous`: When its data are on their device.

`write-through`: When its data are in the cache; they go to their device at once.

`write-back`: When its data are in the cache, which keeps them until their place is needed, or a flush.
"""

ControllerPrefetch: TypeAlias = Literal["none", "front", "rest", "line"]
"""What of a line is fetched beyond what is needed.

`none`: Nothing.

`front`: From the line's first block on.

`rest`: Up to the line's last block.

`line`: The whole line.
"""

TierWritePolicy: TypeAlias = (
    Literal["write-through", "write-back", "write-around", "read-only", "write-invalidate", "pass-through"]
    | WriteThrough
    | WriteBack
    | WriteAround
    | ReadOnly
    | PassThrough
)
"""What a cache tier does with writes."""

TierAdmission: TypeAlias = Literal["always", "after", "nhit"] | Always | After
"""Which lines that miss get a place in a cache tier."""

TierPromotion: TypeAlias = Literal["behind", "waited"]
"""When a read that misses is complete.

`behind`: When the backing device's data are there; what is promoted goes to the cache device afterwards.

`waited`: When what is promoted is on the cache device.
"""

TierCleaning: TypeAlias = (
    Literal["none", "nop", "oldest", "alru", "aggressive", "acp"] | NoCleaning | Oldest | Aggressive
)
"""When a cache tier writes dirty lines back, and which first."""

CommitWith: TypeAlias = Literal["writes", "flushes"]
"""What waits until changes of the table are durable.

`writes`: Each write that makes blocks dirty, as in Open CAS.

`flushes`: Flushes and writes with FUA, as in bcache and dm-cache.
"""

TierMetadata: TypeAlias = Literal["none", "on-cache"] | NoMetadata | OnCache
"""Where a cache tier keeps which lines it holds."""

TierRankedBy: TypeAlias = Literal["address", "popularity"]
"""What ranks lines.

`address`: Where they are: the first ones of the backing device, accessed in ascending order.

`popularity`: How popular they are with the run's own load, which has the addresses `zipf`: the most
popular ones, that of rank 1 accessed last.
"""

TierInitial: TypeAlias = Literal["rank"] | Rank | Trace | Requests
"""What the cache holds at the start."""

TierEventKind: TypeAlias = Literal["remove", "attach"] | Resize
"""What changes.

`remove`: The cache device is not used any more: all goes to the backing device.

`attach`: The cache device is used again, with an empty cache.
"""

Device: TypeAlias = Hdd | Array | Driver | Simple | Curve | Ssd | Hybrid | Controller | Tier
"""A device and its parts; the one key says what it is."""

RedirectionRule: TypeAlias = (
    Literal["paper", "head-only", "never", "always", "by-size", "learned"]
    | Paper
    | HeadOnly
    | Never
    | Always
    | RedirectBySize
    | Learned
)
"""Which writes go to the NV cache in place of the medium."""

FlashBackedOverlap: TypeAlias = Literal["overwrite", "coalesce"]
"""What becomes of a write that covers entries of the FQueue wholly.

`overwrite`: It takes their place, where the rule would redirect it.

`coalesce`: It goes to the medium, and they with it.
"""

FlashBackedOrder: TypeAlias = Literal["durable-first", "paper"]
"""When what goes to the medium leaves the FQueue.

`durable-first`: When it is on the medium durably.

`paper`: Before it is written there, as in the paper: a power cut in between loses it.
"""

FlashBackedIdle: TypeAlias = Literal["eager", "watermark"] | Delay
"""When the FQueue is purged while the Request Queue is empty.

`eager`: At once.

`watermark`: Never: only flushing that the high watermark has begun goes on.
"""

FlashBackedNext: TypeAlias = Literal["none-if-empty", "never-redirect", "oracle"]
"""What the next request is where the Request Queue is empty.

`none-if-empty`: There is none: both accesses to it take no time.

`never-redirect`: There is none, and a rule that looks ahead does not redirect.

`oracle`: The one that arrives next, which no host knows.
"""

WarmUp: TypeAlias = int | str
"""A number of requests, a share such as "10 %", or a time such as "5 s"."""

MeasureEnd: TypeAlias = Literal["last-completion", "last-arrival"]
"""When a run ends.

`last-completion`: When the last request is complete.

`last-arrival`: When the last request has arrived, of a load whose requests arrive by themselves. It and
all that is outstanding then are in no statistics.
"""

FaultKind: TypeAlias = Literal["power-cut"] | Outage | Fail | MediaError
"""What can go wrong.

`power-cut`: The power fails: requests under way are lost, and the run ends. With the checker on, every
promised write must be on a medium that keeps it.
"""
