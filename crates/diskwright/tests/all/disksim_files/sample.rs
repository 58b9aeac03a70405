//! A small set-up of four files, and ways to change it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use diskwright::base::error::Error;
use diskwright::disksim::{Import, Override, import_from};

const SETUP: &str = "\
disksim_global Global {
   Init Seed = 42,
   Stat definition file = statdefs
}
disksim_stats Stats {
   bus stats = disksim_bus_stats { Print bus idle stats = 1 }
}
disksim_iodriver DRIVER0 {
   type = 1,
   Constant access time = 0.0,
   Scheduler = disksim_ioqueue {
      Scheduling policy = 1,
      Cylinder mapping strategy = 1,
      Write initiation delay = 0.0,
      Read initiation delay = 0.0,
      Sequential stream scheme = 0,
      Maximum concat size = 128,
      Overlapping request scheme = 0,
      Sequential stream diff maximum = 0,
      Scheduling timeout scheme = 0,
      Timeout time/weight = 6,
      Timeout scheduling = 4,
      Scheduling priority scheme = 0,
      Priority scheduling = 4
   }, # end of Scheduler
   Use queueing in subsystem = 1
}
disksim_bus BUS0 {
   type = 1,
   Arbitration type = 1,
   Arbitration time = 0.0,
   [ Read block transfer time, Write block transfer time ] = 0.0,
   Print stats = 0
}
BUS0 BUS1 { Read block transfer time = 0.05 }
disksim_ctlr CTLR0 {
   type = 1,
   Scale for delays = 0.0,
   Bulk sector transfer time = 0.0,
   Maximum queue length = 0,
   Print stats = 1
}
source drive.diskspecs
instantiate [ statfoo ] as Stats
instantiate [ bus0 ] as BUS0
instantiate [ bus1 .. bus1 ] as BUS1
instantiate [ disk0 ] as SMALL
instantiate [ driver0 ] as DRIVER0
instantiate [ ctlr0 ] as CTLR0
disksim_iosim IS {
   I/O Trace Time Scale = 1.0,
   I/O Mappings = [
      disksim_iomap { tracedev = 0x0e, simdev = disk0, locScale = 512, sizeScale = 1, offset = 0 }
   ]
}
topology disksim_iodriver driver0 [
   disksim_bus bus0 [
      disksim_ctlr ctlr0 [
         disksim_bus bus1 [
            disksim_disk disk0 []
         ]
      ]
   ]
]
disksim_logorg org0 {
   Addressing mode = Parts,
   Distribution scheme = Asis,
   Redundancy scheme = Noredun,
   devices = [ disk0 ],
   Stripe unit = 64,
   Synch writes for safety = 0,
   Number of copies = 2,
   Copy choice on read = 6,
   RMW vs. reconstruct = 0.5,
   Parity stripe unit = 64,
   Parity rotation type = 1
}
";

/// Behind the others, where a load is asked for.
const LOAD: &str = "\
disksim_pf Proc { Number of processors = 5, Process-Flow Time Scale = 1.0 }
disksim_synthio Synthio {
   Number of I/O requests to generate = 100,
   Maximum time of trace generated = 1000.0,
   System call/return with each request = 0,
   Think time from call to request = 0.0,
   Think time from request to return = 0.0,
   Generators = [ disksim_synthgen {
      Storage capacity per device = 700,
      devices = [ org0 ],
      Blocking factor = 8,
      Probability of sequential access = 0.2,
      Probability of local access = 0.3,
      Probability of read access = 0.66,
      Probability of time-critical request = 0.25,
      Probability of time-limited request = 0.35,
      Time-limited think times = [ normal, 30.0, 100.0 ],
      General inter-arrival times = [ exponential, 0.0, 50.0 ],
      Sequential inter-arrival times = [ uniform, 0.0, 60.0 ],
      Local inter-arrival times = [ poisson, 1.0, 40 ],
      Local distances = [ normal, 0.0, 4000.0 ],
      Sizes = [ twovalue, 8, 16.0, 0.125 ]
   } ]
}
";

const DISK: &str = "\
disksim_disk SMALL {
   Model = source drive.model,
   Per-request overhead time = 0.000000,
   Time scale for overheads = 1.000000,
   Bulk sector transfer time = 0.000000,
   [ Hold bus entire read xfer, Hold bus entire write xfer ] = 0,
   Allow almost read hits = 0,
   Allow sneaky full read hits = 0,
   Allow sneaky partial read hits = 0,
   Allow sneaky intermediate read hits = 0,
   Allow read hits on write data = 1,
   Allow write prebuffering = 0,
   Preseeking level = 0,
   Never disconnect = 0,
   Print stats = 1,
   Avg sectors per cylinder = 100,
   Max queue length = 4,
   Scheduler = disksim_ioqueue {
      Scheduling policy = 1,
      Cylinder mapping strategy = 4,
      [ Write initiation delay, Read initiation delay ] = 0.0,
      [ Sequential stream scheme, Maximum concat size, Overlapping request scheme ] = 0,
      [ Sequential stream diff maximum, Scheduling timeout scheme, Timeout time/weight ] = 0,
      [ Timeout scheduling, Scheduling priority scheme, Priority scheduling ] = 0
   },
   Number of buffer segments = 2,
   Maximum number of write segments = 1,
   Segment size (in blks) = 64,
   Use separate write segment = 0,
   Low (write) water mark = 0.5,
   High (read) water mark = 0.5,
   Set watermark by reqsize = 1,
   Calc sector by sector = 1,
   Enable caching in buffer = 1,
   Buffer continuous read = 3,
   Minimum read-ahead (blks) = 0,
   Maximum read-ahead (blks) = 32,
   Read-ahead over requested = 0,
   Read-ahead on idle hit = 0,
   Read any free blocks = 0,
   Fast write level = 0,
   Immediate buffer read = 0,
   Immediate buffer write = 0,
   Combine seq writes = 1,
   Stop prefetch in sector = 1,
   Disconnect write if seek = 0,
   Write hit stop prefetch = 1,
   Read directly to buffer = 1,
   Immed transfer partial hit = 1,
   Read hit over. after read = 0.1,
   Read hit over. after write = 0.2,
   Read miss over. after read = 0.3,
   Read miss over. after write = 0.4,
   Write hit over. after read = 0.5,
   Write hit over. after write = 0.6,
   Write miss over. after read = 0.7,
   Write miss over. after write = 0.8,
   Read completion overhead = 0.01,
   Write completion overhead = 0.02,
   [ Data preparation overhead, First reselect overhead, Other reselect overhead ] = 0.0,
   [ Read disconnect afterread, Read disconnect afterwrite, Write disconnect overhead ] = 0.0,
   Extra write disconnect = 0,
   [ Extradisc command overhead, Extradisc disconnect overhead ] = 0.0,
   [ Extradisc inter-disconnect delay, Extradisc 2nd disconnect overhead ] = 0.0,
   [ Extradisc seek delta, Minimum seek delay ] = 0.0
}
";

const MODEL: &str = "\
dm_disk SMALL_model {
   Number of data surfaces = 2,
   Number of cylinders = 40,
   Block count = 780,
   Layout Model = dm_layout_g1 {
      LBN-to-PBN mapping scheme = 0,
      Sparing scheme used = 9,
      Rangesize for sparing = 1,
      Zones = [
         dm_layout_g1_zone {
            First cylinder number = 0,
            Last cylinder number = 9,
            Blocks per track = 20,
            Offset of first block = 3.000000,
            Empty space at zone front = 10,
            Skew for track switch = 2,
            Skew for cylinder switch = 5,
            Number of spares = 10,
            slips = [ 30, 25 ],
            defects = [ 40, 395 ]
         },
         dm_layout_g1_zone {
            First cylinder number = 20,
            Last cylinder number = 39,
            Blocks per track = 10,
            Offset of first block = 0,
            Empty space at zone front = 0,
            Number of spares = 0,
            slips = [],
            defects = []
         }
      ]
   },
   Mechanical Model = dm_mech_g1 {
      Access time type = trackSwitchPlusRotation,
      Seek type = extracted,
      Single cylinder seek time = 0.5,
      Average seek time = 1.5,
      Full strobe seek time = 2.5,
      Constant seek time = 1.25,
      Full seek curve = small.seek,
      HPL seek equation values = [ 20, 1.0, 0.1, 1.2, 0.01, -1.0 ],
      First ten seek times = [ 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0 ],
      Add. write settling delay = -0.05,
      Head switch time = 0.25,
      Rotation speed (in rpms) = 6000,
      Percent error in rpms = 0.0
   }
}
";

const SEEK: &str = "Seek distances measured: 2\n1, 0.5\n39, 2.4\n";

/// The files of a set-up; the first is `a/small.parv`.
#[derive(Clone)]
pub struct Sample(BTreeMap<PathBuf, Vec<u8>>);

pub const FIRST: &str = "a/small.parv";

impl Sample {
    /// The sound set-up.
    pub fn new() -> Sample {
        Sample(BTreeMap::new())
            .with(FIRST, SETUP)
            .with("a/drive.diskspecs", DISK)
            .with("a/drive.model", MODEL)
            .with("a/small.seek", SEEK)
    }

    /// With another file, in place of one of its path.
    pub fn with(mut self, path: &str, text: &str) -> Sample {
        self.0.insert(path.into(), text.into());
        self
    }

    /// With a generator of load.
    pub fn with_load(self) -> Sample {
        const LAST: &str = "   Parity rotation type = 1\n}\n";
        self.replace(LAST, &format!("{LAST}{LOAD}"))
    }

    /// With a text replaced in whatever file holds it, which must be one, where it stands first.
    pub fn replace(mut self, from: &str, to: &str) -> Sample {
        let text = |bytes: &Vec<u8>| String::from_utf8(bytes.clone()).expect("a text");
        let mut holders = self
            .0
            .values_mut()
            .filter(|bytes| text(bytes).contains(from));
        let (Some(holder), None) = (holders.next(), holders.next()) else {
            panic!("{from:?} is not in one file");
        };
        *holder = text(holder).replacen(from, to, 1).into();
        self
    }

    /// Without a file.
    pub fn without(mut self, path: &str) -> Sample {
        self.0
            .remove(Path::new(path))
            .expect("a file of the sample");
        self
    }

    /// The text of a file.
    pub fn text(&self, path: &str) -> String {
        String::from_utf8(self.0[Path::new(path)].clone()).expect("a text")
    }

    /// Its files.
    pub fn files(&self) -> &BTreeMap<PathBuf, Vec<u8>> {
        &self.0
    }

    /// Writes its files below a folder; the path of the first.
    pub fn write(&self, folder: &Path) -> PathBuf {
        for (name, bytes) in &self.0 {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder is made");
            std::fs::write(path, bytes).expect("a file is written");
        }
        folder.join(FIRST)
    }

    /// Reads it, with component, parameter and value of overrides.
    pub fn import(&self, overrides: &[(&str, &str, &str)]) -> Result<Import, Error> {
        let overrides = self::overrides(overrides);
        import_from(&self.0, Path::new(FIRST), &[], &overrides)
    }

    /// Reads it; it must be sound.
    pub fn sound(&self, overrides: &[(&str, &str, &str)]) -> Import {
        self.import(overrides)
            .unwrap_or_else(|error| panic!("{error}"))
    }

    /// The error of reading it.
    pub fn error(&self, overrides: &[(&str, &str, &str)]) -> String {
        match self.import(overrides) {
            Ok(_) => panic!("expected an error"),
            Err(error) => error.to_string(),
        }
    }
}

/// Overrides of components, parameters and values.
pub fn overrides(overrides: &[(&str, &str, &str)]) -> Vec<Override> {
    let overrides = overrides.iter();
    overrides
        .map(|&(component, parameter, value)| Override {
            component: component.into(),
            parameter: parameter.into(),
            value: value.into(),
        })
        .collect()
}
