"""What is said of a device that is served live."""

from dataclasses import dataclass
from os import PathLike


@dataclass(frozen=True, slots=True)
class Served:
    """How a device is served; `diskwright serve --help` says what each option does.

    socket, listen: where clients connect, one of the two: a path, or an address with a port.
    remote: the address may be one that other machines reach.
    control: the path where faults are asked for.
    speed: simulated seconds in a second; of no effect with `depth`.
    depth: time moves on as fast as possible when this many requests are in flight.
    image, discard: where the contents are: in a file, or nowhere, else in memory.
    block: what offsets and lengths are multiples of, bytes.
    busy: never sleep while a client is there.
    power_cuts: a power cut takes what the device would lose.
    syncs: a flush waits until an image is on the disk of this machine.
    new_drive: the device begins as the spec describes it, whatever the state beside its image.
    """

    socket: str | PathLike[str] | None = None
    listen: str | None = None
    remote: bool = False
    control: str | PathLike[str] | None = None
    speed: float = 1.0
    depth: int | None = None
    image: str | PathLike[str] | None = None
    discard: bool = False
    read_only: bool = False
    block: int = 512
    busy: bool = False
    power_cuts: bool = False
    syncs: bool = False
    new_drive: bool = False
