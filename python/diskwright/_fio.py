"""The runs of a comparison in the form of fio's JSON output: one report, in which each run is a job."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from diskwright import _compared

if TYPE_CHECKING:
    from diskwright._record import Comparison


def together(found: "Comparison", reports: Sequence[Sequence[dict[str, Any]]]) -> dict[str, Any]:
    """The report of a comparison, from those of its runs, for each variant one for each seed.

    A job is called as its variant, with the seed where there are several, and with the name of the load's job
    where a run has several. Runs are groups. The values of the varied keys are among the options of a job.
    """
    data = found.to_dict()
    jobs, disks = [], []
    group = 0
    for name, variant, of_variant in zip(_compared.names(found), data["variants"], reports, strict=True):
        varied = {key: _compared.value(item) for key, item in variant["values"].items()}
        for seed, report in zip(data["seeds"], of_variant, strict=True):
            called = f"{name}, seed {seed}" if len(data["seeds"]) > 1 else name
            own = report["jobs"]
            for job in own:
                job["jobname"] = f"{called}: {job['jobname']}" if len(own) > 1 else called
                job["groupid"] += group
                # What a report of one run has for all of its jobs is here that of each.
                job["job options"] = {**report["global options"], **job["job options"], **varied}
            jobs += own
            disks += report["disk_util"]
            group = 1 + max((job["groupid"] for job in own), default=group)
    return {**reports[0][0], "global options": {}, "jobs": jobs, "disk_util": disks}
