# %% [markdown]
# # How much does reordering gain, and when?
#
# A drive that may choose among the requests in its queue serves more of them. Twenty runs show how the gain
# grows with the queue: five schedulers at four depths. Editors that know `# %%` run this file cell by cell;
# as a script it writes the picture, `reordering.png`, into the current folder.

# %%
from itertools import product

import matplotlib.pyplot as plt
import polars as pl

import diskwright

# %% [markdown]
# ## The specs
#
# Thirty-two processes each have one read or write of 4 KiB outstanding, all the time, anywhere on the drive.

# %%
load = {
    "requests": 5_000,
    "arrivals": {"closed": {"users": 32, "think": "0 ms"}},
    "reads": 0.67,
    "size": "8 blocks",
}
base = {
    "seed": 1,
    "workload": {"synthetic": load},
    "measure": {"warmup": "10 %"},
    "device": {"hdd": {"drive": "cheetah-9lp"}},
}
schedulers = ["fcfs", "sstf", "c-look", "satf", {"ncq": {"timeout": "300 ms"}}]
depths = [1, 4, 16, 32]
specs = [
    (base, {"device.hdd.queue.scheduler": scheduler, "device.hdd.queue.depth": depth})
    for scheduler, depth in product(schedulers, depths)
]

# %% [markdown]
# ## The runs, side by side on all cores, as one table

# %%
results = diskwright.run_many(specs)
runs = diskwright.frame(results).select(
    pl.col("spec.device.hdd.queue.scheduler").alias("scheduler"),
    pl.col("spec.device.hdd.queue.depth").alias("depth"),
    "iops",
    pl.col("response_ms.mean").alias("mean_ms"),
    pl.col("response_ms.p99").alias("p99_ms"),
    "digest",
)
print(runs)

# %% [markdown]
# ## What each scheduler gains over serving in order, at the same depth

# %%
in_order = runs.filter(pl.col("scheduler") == "fcfs").select("depth", pl.col("iops").alias("in_order"))
gains = runs.join(in_order, on="depth").with_columns(gain=pl.col("iops") / pl.col("in_order"))
print(gains.pivot("depth", index="scheduler", values="gain"))

# %% [markdown]
# ## The picture: throughput grows with the queue, and so does the tail

# %%
figure, panels = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
for (scheduler,), group in runs.group_by("scheduler", maintain_order=True):
    panels[0].plot(group["depth"], group["iops"], "o-", label=scheduler)
    panels[1].plot(group["depth"], group["p99_ms"], "o-", label=scheduler)
labels = ("requests a second", "99th percentile of the response time, ms")
for panel, label in zip(panels, labels, strict=True):
    panel.set_xscale("log", base=2)
    panel.set_xticks(depths, [str(depth) for depth in depths])
    panel.set_xlabel("queue depth, requests")
    panel.set_ylabel(label)
    panel.set_ylim(bottom=0)
    panel.grid(alpha=0.3)
panels[0].legend(title="scheduler")
figure.savefig("reordering.png", dpi=120)

# %% [markdown]
# ## What native command queueing does
#
# In order of arrival the arm crosses a third of the cylinders for a request, and then waits half a
# revolution, both on average: the queue's depth changes nothing. A drive that holds several requests takes
# the one that its head reaches first, seek and rotation together (`satf`). The more it holds, the nearer
# that one is: with 32 the drive serves about twice as many. What is far from all others is passed by again
# and again, so the slowest requests become slower.
#
# `ncq` is `satf` with a timeout: a request that has waited for 300 ms goes first. That bounds the tail, and
# costs throughput as soon as many requests reach it, which they do when the queue is deep. Schedulers that
# look at the seek alone (`sstf`, `c-look`) gain less, since on a fast drive the rotation is the larger
# part.
