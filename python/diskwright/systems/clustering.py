"""I/O clustering inside a SATA drive's queue: requests that continue one another become one."""

from diskwright.reproduce import Bars, Figure, Lines, Statement, System, above, below, near
from diskwright.systems._clustering import (
    ACCESS,
    DRIVES,
    GAINS,
    HAND_MADE,
    ORDERS,
    OVERHEADS,
    PACES,
    READINGS,
    SERVICE,
    SYNTHETIC_CLONE,
    THRESHOLDS,
    TIMEOUTS,
    TRACES,
    WAITS,
    WORKLOADS,
    cases,
    four,
    gain,
    largest_ratio,
    orders,
    pairs,
    run,
    sequential,
    service_s,
    share,
    shares,
    slots,
    small_shares,
    timeouts,
    traces,
    waits,
)
from diskwright.systems._traces import CLOUD_PHYSICS, GUEST, HP_WEEK, SMALLDISKMON

FIGURES = [
    Figure(
        id="fig-1",
        title="Share of sequential requests over the threshold",
        paper="A curve of which the text has one point: with a threshold of 8 blocks the share “still "
        "reaches about 50%”. Of what it is a share, the text does not say. The table of the same trace in "
        "the ATCA letter has 21.5 % of the requests and 48.4 % of the blocks as sequential.",
        points=shares([SYNTHETIC_CLONE]),
        measure={"share": share},
        drawn=Lines("threshold", "share", by=["reading"], x_label="threshold (blocks)"),
        published=[{"trace": SYNTHETIC_CLONE, "threshold": 8, "share": 0.5}],
        note="By requests and by blocks: a request is sequential if it begins within this number of blocks "
        "after the end of the one before it, so that the share can only rise with the threshold; "
        "the table fixes both at 0, and the clone has hardly any gaps within 64 blocks. "
        "By size after clustering: each request that continues the one before it in the same direction is "
        "merged with it, and the share is of the merged requests that are longer than the threshold. This "
        "share falls, which suits a share that “still” reaches something. It passes 50 % between 8 and 16 "
        "blocks, the two smallest sizes of the synthetic clone. By blocks the paper's value is met, by "
        "requests it is not.",
    ),
    Figure(
        id="beyond-sequential",
        title="The same of the recorded traces",
        paper="It has one trace.",
        points=shares(workload for workload in WORKLOADS if workload != SYNTHETIC_CLONE),
        measure={"share": share},
        drawn=Lines("threshold", "share", by=["trace", "reading"], x_label="threshold (blocks)"),
        partial=True,
    ),
    Figure(
        id="fig-3",
        title="Total service time with and without clustering, in that of FCFS without",
        paper="FCFS and NCQ with and without clustering: it takes 21 % off the total service time under "
        "FCFS and 8.8 % under NCQ, and NCQ is below FCFS with and without it. The times themselves are not "
        "in the text.",
        points=cases(),
        measure=SERVICE,
        drawn=Bars("case", "of_fcfs", by=["trace"], x_label="scheduler", y_label="total service time / FCFS"),
        published=[
            {
                "trace": SYNTHETIC_CLONE,
                "case": f"{scheduler.upper()}, clustering",
                "scheduler": scheduler,
                "of_without": 1 - gain,
                **({"of_fcfs": 1 - gain} if scheduler == "fcfs" else {}),
            }
            for scheduler, gain in (("fcfs", 0.21), ("ncq", 0.088))
        ],
        note="On ibm-18es, each trace as fast as the queue takes it. Signs and order are the paper's on "
        "every trace: clustering gains, NCQ is below FCFS, and the gain is larger under FCFS. On the "
        "clone it is a sixth of the paper's under FCFS and less than a third under NCQ. The queue is "
        "always full, so that the total service time is the makespan times the depth of the queue "
        "(Little's law), and both gain the same.",
        partial=True,
    ),
    Figure(
        id="fig-4",
        title="Total access time with and without clustering, in that of FCFS without",
        paper="The same four of seek and rotation: “some improvements in the total service time and total "
        "access time”, without a number.",
        points=cases(),
        measure=ACCESS,
        drawn=Bars("case", "of_fcfs", by=["trace"], x_label="scheduler", y_label="total access time / FCFS"),
        note="The runs of fig. 3. An access to the medium counts once, however many requests it serves.",
        partial=True,
    ),
    Figure(
        id="beyond-threshold",
        title="What clustering gains over its threshold",
        paper="32 blocks. Its table says that sequential requests average 112 blocks, of which no two fit.",
        points=pairs(("threshold", THRESHOLDS)),
        measure=GAINS,
        drawn=Lines(
            "threshold",
            "gain",
            by=["trace", "scheduler"],
            x_label="threshold (blocks)",
            y_label="gain in total service time",
            x_log=True,
        ),
        note="This is a search for the paper's numbers, and no evidence for them. The clone stays "
        "below both with any threshold: 12 % under FCFS and 8 % under NCQ at the most. CloudPhysics passes "
        "both between 256 and 512 blocks, at least eight times the paper's threshold. The Debian guest "
        "passes 21 % under FCFS between 64 and 128 blocks, and 8.8 % under NCQ only above 1,024. The HP "
        "week reaches neither.",
        partial=True,
    ),
    Figure(
        id="beyond-small-share",
        title="What clustering gains with more or fewer small requests",
        paper="It does not have the sizes of its requests, only their means.",
        points=small_shares(),
        measure=GAINS,
        drawn=Lines(
            "small_share",
            "gain",
            by=["scheduler", "threshold"],
            x_label="share of requests of up to 16 blocks",
            y_label="gain in total service time",
        ),
        note="Clones of the same table, which allows shares from 0.44 to 0.85. With a threshold of 32 "
        "blocks only small requests are merged, and the gain grows with their share, to less than a third "
        "of the paper's 21 % and to more than half of its 8.8 %. A threshold of 256 blocks merges the long "
        "ones too. This was a search as well: no share has the paper's numbers.",
    ),
    Figure(
        id="beyond-drives",
        title="What clustering gains on two drives",
        paper="One drive of unknown make.",
        points=pairs(("drive", DRIVES)),
        measure=GAINS,
        drawn=Bars("trace", "gain", by=["drive", "scheduler"], y_label="gain in total service time"),
        partial=True,
    ),
    Figure(
        id="beyond-overhead",
        title="What clustering gains with and without command overhead",
        paper="Not said.",
        points=pairs(("overhead", OVERHEADS)),
        measure=GAINS,
        drawn=Bars("trace", "gain", by=["overhead", "scheduler"], y_label="gain in total service time"),
        note="The overhead hardly matters. One would think that without it there is nothing to save; but "
        "these drives have no buffer: the end of a request crosses the bus before the next one starts, and "
        "by then the block behind it has passed by. In order, requests that continue one another cost a "
        "turn each, with and without overhead.",
        partial=True,
    ),
    Figure(
        id="beyond-pace",
        title="What clustering gains with a full queue and at recorded times",
        paper="A host's buffer in front of the queue; how full it is, is not said.",
        points=pairs(("pace", PACES)),
        measure=GAINS,
        drawn=Bars("trace", "gain", by=["pace", "scheduler"], y_label="gain in total service time"),
        note="At recorded times the makespan is that of the recording, as long as the drive keeps up, "
        "which it does not under FCFS on the Debian guest without clustering. The clone's times are "
        "parameters of its own: bursts of 10 requests, 50 ms a request on average.",
        partial=True,
    ),
    Figure(
        id="beyond-settings",
        title="Every drive, overhead, pace and trace",
        paper="NCQ below FCFS in every pair; clustering gains, and more under FCFS.",
        points=orders(),
        measure=ORDERS,
        note="In all 32 settings clustering gains under both schedulers, and NCQ is below FCFS with it and "
        "without it (ncq_of_fcfs is the larger of the two ratios). That the gain is larger under FCFS does "
        "not hold everywhere: on the HP week and on CloudPhysics, with the laptop's drive or without "
        "overhead, NCQ gains more in six of the 32.",
        partial=True,
    ),
    *(
        Figure(
            id=f"beyond-depth{suffix}",
            title=f"What clustering gains over the depth of the queue: {workload}",
            paper="32. It does not say how many slots a merged request has.",
            points=slots(workload),
            measure=GAINS,
            drawn=Lines(
                "depth",
                "gain",
                by=["scheduler", "slots"],
                x_label="depth of the queue",
                y_label="gain in total service time",
                x_log=True,
            ),
            note="Here clustering starts to hurt. With a slot for each part (parts) it gains at every "
            "depth from 2 on. With one slot for a merged request (merged) the queue takes more requests, "
            "which wait in it and no longer in front of it: from some depth on, 2 under NCQ, the total "
            "service time is higher than without clustering, although the makespan, in the table, is lower "
            "at every depth. The sum of service times is no measure of that.",
        )
        for workload, suffix in ((SYNTHETIC_CLONE, ""), ("Debian guest", "-guest"))
    ),
    Figure(
        id="beyond-starvation",
        title="The longest wait under FCFS with clustering",
        paper="“There can be a chance for starvation to occur”; hence it has a timeout for FCFS too.",
        points=waits(),
        measure=WAITS,
        drawn=Bars(
            "trace",
            "longest_wait_ms",
            by=["merged_place", "timeout"],
            x_label="",
            y_label="longest wait (ms)",
        ),
        note="Where a merged request keeps the turn of its oldest part (oldest), FCFS cannot starve. It "
        "can where it falls back to the turn of its newest part (newest), which is our reading of what the "
        "paper means. On none of the four traces does the timeout shorten the longest wait: within 32 "
        "blocks few requests fit, and the seven seconds on the Debian guest are a queue full of writes of "
        "2,560 blocks. The hand-made trace is one of single blocks, each of which continues the ones "
        "before it just before their turn.",
        partial=True,
    ),
    Figure(
        id="beyond-timeout",
        title="Promotions over the timeout, with clustering",
        paper="A timeout, of which it does not say how long it is.",
        points=timeouts(),
        measure=TIMEOUTS,
        drawn=Lines(
            "timeout_s",
            "promoted_share",
            by=["trace", "scheduler"],
            x_label="timeout (s)",
            y_label="promotions / accesses to the medium",
            x_log=True,
        ),
        note="Merged requests have the turn of their newest part. FCFS needs 0.2 to 0.5 s for a full queue "
        "of these traces. With a timeout of 0.1 s nearly all accesses under NCQ are promotions, and its "
        "total service time, in the table, is that of FCFS; with 0.2 s there are more than three quarters "
        "still, and with 2 s less than a twentieth.",
        partial=True,
    ),
    Figure(
        id="beyond-traces",
        title="The traces",
        paper="SMALLDISKMON, recorded with Diskmon on a personal computer; it was not published.",
        points=traces(),
        measure=TRACES,
        note="mapped_share: requests past the end of ibm-18es, which has 9.2 GB: their first block is "
        "taken modulo its size, so that what was contiguous stays so, and distances are shorter than "
        "recorded. Nothing reaches past the end of travelstar-5k160.",
        partial=True,
    ),
]

OF_SYNTHETIC_CLONE = four(SYNTHETIC_CLONE)
FCFS_GAIN = gain(service_s, "fcfs without", "fcfs with")
NCQ_GAIN = gain(service_s, "ncq without", "ncq with")

STATEMENTS = [
    Statement(
        id="fcfs-gain",
        text="Under FCFS, clustering takes this share off the total service time.",
        paper=near(0.21),
        work=OF_SYNTHETIC_CLONE,
        measure=FCFS_GAIN,
    ),
    Statement(
        id="ncq-gain",
        text="Under NCQ, clustering takes this share off the total service time.",
        paper=near(0.088),
        work=OF_SYNTHETIC_CLONE,
        measure=NCQ_GAIN,
    ),
    Statement(
        id="ncq-below-fcfs",
        text="NCQ is below FCFS irrespective of clustering: the largest ratio of their total service "
        "times, over the traces, with and without clustering.",
        paper=below(1),
        work={f"{workload}: {name}": work for workload in WORKLOADS for name, work in four(workload).items()},
        measure=lambda runs: largest_ratio(
            {
                workload: {name: runs[f"{workload}: {name}"] for name in OF_SYNTHETIC_CLONE}
                for workload in WORKLOADS
            }
        ),
    ),
    Statement(
        id="gain-larger-under-fcfs",
        text="Clustering gains more under FCFS than under NCQ: the difference of the two shares.",
        paper=above(0),
        work=OF_SYNTHETIC_CLONE,
        measure=lambda runs: FCFS_GAIN(runs) - NCQ_GAIN(runs),
    ),
    Statement(
        id="sequential-share-at-8",
        text="With a threshold of 8 blocks, this share is sequential, by blocks.",
        paper=near(0.5),
        work=sequential(SYNTHETIC_CLONE, 8)[READINGS[1]],
        measure=lambda found: found.sequential_blocks / found.blocks,
    ),
    Statement(
        id="starvation",
        text="FCFS with clustering can starve: the longest wait without a timeout in that with one of 2 s, "
        "on the hand-made trace.",
        paper=above(1),
        work={
            name: run(HAND_MADE, "fcfs", merged_place="newest", timeout_s=timeout_s)
            for name, timeout_s in (("without", 0), ("with", 2))
        },
        measure=lambda runs: (
            runs["without"].devices["hdd"].longest_wait_ms / runs["with"].devices["hdd"].longest_wait_ms
        ),
    ),
]

SYSTEM = System(
    name="clustering",
    title="I/O clustering in the queue of a SATA drive",
    paper="A short paper on I/O clustering in the queue of a SATA hard disk, tried in its authors' "
    "simulator. Of its trace, SMALLDISKMON, the counts are in Arfan, Kim and Kwon, Access time-aware cache "
    "algorithm for SATA hard disks, IEICE Electronics Express 9(22), 2012.",
    about=[
        "A drive's queue of 32 slots merges requests of one direction that continue one another, up to 32 "
        "blocks, and serves them in order (FCFS) or by the shortest positioning time (NCQ), both with a "
        "timeout of 2 s. The drive has no buffer, as in the paper. Unless said otherwise it is an IBM "
        "Ultrastar 18ES of 1999 with a command overhead of 0.3 ms, each trace comes as fast as the queue "
        "takes it, and a merged request has a slot for each part and the turn of its oldest part.",
        "The paper's trace is not public. A synthetic clone has its counts, another for each seed; "
        "three recorded traces stand beside it: the repository's own of a Debian guest, a week of a "
        "workstation at HP, and a virtual disk of CloudPhysics. Total service time is the sum of the times "
        "from a request's entry into the queue to its completion. Beside it stands the makespan, from the "
        "first arrival to the last completion: with a full queue the sum is the makespan times the depth.",
        "What was found: the signs and the order are the paper's on every trace, and its gains are not. "
        "With 32 blocks clustering takes 3 % off the clone's total service time, because few of its "
        "sequential requests are small enough for two of them to fit. With larger thresholds it gains "
        "more; near both of the paper's numbers at once it comes on CloudPhysics alone, between 256 and "
        "512 blocks. With one slot for a merged request, the paper's metric says that clustering hurts "
        "where it helps.",
    ],
    traces=[SMALLDISKMON, GUEST, HP_WEEK, CLOUD_PHYSICS],
    quick=6_000,
    figures=FIGURES,
    statements=STATEMENTS,
)
