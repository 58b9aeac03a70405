"""Well-known products with shingled tracks, which diskwright does not model: a search for one says so.

Makers' lists of 2020 name lines and capacities; the model numbers of those are as remembered where no manual
or report that is named here has them.
"""

from typing import NamedTuple


class Shingled(NamedTuple):
    """Products of one line.

    models: their model numbers, without what follows them on labels.
    """

    maker: str
    line: str
    models: tuple[str, ...]
    source: str

    @property
    def name(self) -> str:
        return f"{self.maker} {self.line}"


_WD = "Western Digital's list of 22 April 2020"
_MANUAL = "Seagate, BarraCuda product manual 100805918; Tom's Hardware, 30 June 2023, on the 8 TB"
_TOSHIBA = "Toshiba's list of 28 April 2020"

SHINGLED = (
    Shingled("Western Digital", "WD Red, 2 to 6 TB", ("WD20EFAX", "WD30EFAX", "WD40EFAX", "WD60EFAX"), _WD),
    Shingled("Western Digital", "WD Blue, 3.5-inch, 2 and 6 TB", ("WD20EZAZ", "WD60EZAZ"), _WD),
    Shingled("Western Digital", "WD Blue, 2.5-inch, 1 and 2 TB", ("WD10SPZX", "WD20SPZX"), _WD),
    Shingled("Western Digital", "WD Black, 2.5-inch, 1 TB", ("WD10SPSX",), _WD),
    Shingled(
        "Western Digital",
        "Ultrastar DC HC620, once Ultrastar Hs14",
        ("HSH721414", "HSH721415"),
        "its specification 1.6; Architecting IT, 2018: host-managed",
    ),
    Shingled(
        "Western Digital",
        "Ultrastar DC HC650",
        ("WSH722020",),
        "its specification 1.3; Western Digital at Ignite, 2019",
    ),
    Shingled("Western Digital", "Ultrastar DC HC670", (), "Western Digital, May 2022: UltraSMR, 26 TB"),
    Shingled(
        "Seagate",
        "BarraCuda, 3.5-inch, 2 to 8 TB",
        ("ST8000DM004", "ST6000DM003", "ST4000DM004", "ST3000DM007", "ST2000DM005", "ST2000DM008"),
        _MANUAL,
    ),
    Shingled(
        "Seagate",
        "BarraCuda, 2.5-inch",
        ("ST5000LM000", "ST4000LM024", "ST3000LM024", "ST2000LM015", "ST1000LM048", "ST500LM030"),
        "AnandTech, October 2016",
    ),
    Shingled(
        "Seagate",
        "Archive HDD",
        ("ST8000AS0002", "ST6000AS0002", "ST5000AS0011"),
        "Seagate, Archive HDD data sheet, as quoted by The Tech Report, December 2014",
    ),
    Shingled("Toshiba", "P300, 4 and 6 TB", ("HDWD240", "HDWD260"), _TOSHIBA),
    Shingled("Toshiba", "DT02, 4 and 6 TB", ("DT02ABA400", "DT02ABA600"), _TOSHIBA),
    Shingled("Toshiba", "L200, 1 and 2 TB", ("HDWL110", "HDWL120"), _TOSHIBA),
    Shingled("Toshiba", "MQ04, 1 and 2 TB", ("MQ04ABF100", "MQ04ABD200"), _TOSHIBA),
)
