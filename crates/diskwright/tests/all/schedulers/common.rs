//! Drives to schedule for, and a desk at which a scheduler is asked as drives and hosts ask it.

use diskwright::base::document::{Node, from_node};
use diskwright::base::error::{Error, Source};
use diskwright::base::units::quantities::Rotation;
use diskwright::base::units::{Lbn, Time};
use diskwright::engine::request::{Command, Op, RequestId};
use diskwright::models::geometry::describe::{HeadOrder, LayoutDescription, ZoneDescription};
use diskwright::models::geometry::layout::Layout;
use diskwright::models::geometry::mechanics::{HeadPosition, Mechanics};
use diskwright::models::geometry::seek::{SeekCurve, SeekDescription};
use diskwright::models::geometry::spindle::Spindle;
use diskwright::models::queue::pool::Order;
use diskwright::models::queue::schedulers::DiskSpace;
use diskwright::models::queue::{Pending, Pool, Scheduler, SchedulerSpec, Slot, Space, View};
use proptest::prelude::*;

/// Blocks of [`mechanics`]'s drive.
pub const BLOCKS: u64 = 4 * 40 * (60 + 50 + 33);

/// Reads a scheduler as a spec names it.
pub fn spec(text: &str) -> Result<SchedulerSpec, Error> {
    let node = Node::parse(&Source::new("test", format!("scheduler = {text}")))?;
    Ok(from_node(node.get("scheduler").expect("the key above"))?)
}

pub fn scheduler(text: &str) -> Box<dyn Scheduler> {
    spec(text).expect("a scheduler of the registry").build()
}

/// Every scheduler of the registry with its defaults, and parameters that change what is promised.
pub fn all() -> Vec<String> {
    let defaults = SchedulerSpec::NAMES.iter().map(|name| format!("{name:?}"));
    let others = [
        "{ sstf = { by = \"lbn\" } }",
        "{ look = { by = \"cylinder\" } }",
        "{ scan = { by = \"cylinder\" } }",
        "{ c-look = { by = \"cylinder\" } }",
        "{ c-scan = { by = \"cylinder\" } }",
        "{ v-scan = { r = 0.0 } }",
        "{ v-scan = { r = 1.0 } }",
        "{ v-scan = { r = 1.0, by = \"lbn\" } }",
        "{ aged-satf = { weight = 0.0 } }",
        "{ aged-satf = { weight = 0.5 } }",
        "{ weighted-satf = { window = \"0 ms\" } }",
        "{ weighted-satf = { window = \"100 ms\" } }",
        "{ ncq = { timeout = \"0 ms\" } }",
        "{ ncq = { timeout = \"100 ms\" } }",
        "{ deadline = { writes_starved = 0 } }",
        "{ deadline = { fifo_batch = 0, read_expire = \"50 ms\", write_expire = \"90 ms\" } }",
    ];
    defaults.chain(others.map(str::to_owned)).collect()
}

/// Three zones, four surfaces, and a seek curve with dips, as measured ones have.
pub fn mechanics(settle: i64) -> Mechanics {
    let zones = [(0, 39, 60), (40, 79, 50), (80, 119, 33)];
    let zones = zones.map(|(first, last, per_track)| {
        let mut zone = ZoneDescription::plain(first, last, per_track);
        (zone.track_skew, zone.cylinder_skew) = (5, 9);
        zone
    });
    let description = LayoutDescription {
        surfaces: 4,
        cylinders: 120,
        access_ranges: 1,
        order: HeadOrder::Ascending,
        sectors: None,
        zones: zones.into(),
    };
    let seek =
        "[table]\npoints_ms = [[1, 1.0], [4, 1.9], [5, 1.2], [30, 4.0], [50, 3.1], [119, 7.5]]";
    build(&description, seek, 7200, settle)
}

/// The textbooks' disk: 200 cylinders of one track of ten sectors, a millisecond a cylinder and a sector.
pub fn textbook() -> Mechanics {
    let description = LayoutDescription {
        surfaces: 1,
        cylinders: 200,
        access_ranges: 1,
        order: HeadOrder::Ascending,
        sectors: None,
        zones: vec![ZoneDescription::plain(0, 199, 10)],
    };
    build(
        &description,
        "[linear]\nsingle = \"1 ms\"\nfull = \"199 ms\"",
        6000,
        0,
    )
}

fn build(description: &LayoutDescription, seek: &str, rpm: u32, settle: i64) -> Mechanics {
    let seek: SeekDescription = toml::from_str(seek).expect("a seek curve");
    Mechanics::new(
        Layout::build(description).expect("a layout"),
        SeekCurve::build(&seek, description.cylinders).expect("a seek curve"),
        Spindle::new(Rotation::Rpm(rpm)),
        Time::from_us(900),
        settle,
    )
}

/// How writes move in [`mechanics`].
#[derive(Clone, Copy, Debug)]
pub struct Writes {
    /// What they settle longer than reads, ns.
    pub settle: i64,
    /// Points of a seek curve of their own.
    pub curve: Option<&'static str>,
}

/// [`mechanics`] whose writes move in this way.
pub fn mechanics_of(writes: Writes) -> Mechanics {
    let m = mechanics(writes.settle);
    let Some(points) = writes.curve else {
        return m;
    };
    let curve: SeekDescription =
        toml::from_str(&format!("[table]\npoints_ms = {points}")).expect("a seek curve");
    let curve = SeekCurve::build(&curve, m.layout.cylinders()).expect("a seek curve");
    m.with_write_seek(&curve).expect("longer than the settling")
}

/// No positioning in [`mechanics`] takes longer: the slowest motion and a revolution.
pub fn slowest(m: &Mechanics) -> Time {
    let cylinders = 0..m.layout.cylinders();
    let seek = cylinders.map(|distance| m.seek().time(distance)).max();
    let motion = seek.expect("a cylinder").max(m.head_switch);
    motion.max(m.longest_write()) + m.spindle.period()
}

pub fn command(op: Op, lbn: u64) -> Command {
    Command {
        op,
        fua: false,
        lbn: Lbn(lbn),
        blocks: u32::from(op != Op::Flush),
    }
}

pub fn disk<'a>(m: &'a Mechanics, arm: HeadPosition, last: u64, now: Time) -> Space<'a> {
    let phase = |overhead| m.spindle.phase(now + Time::from_us(overhead));
    Space::Disk(DiskSpace {
        mechanics: m,
        arm,
        last: Lbn(last),
        blocks: m.layout.sectors(),
        read_phase: phase(100),
        write_phase: phase(350),
        arms: &[],
    })
}

/// A queue, a scheduler, and the arm that goes where it says; time passes as the drive needs it.
pub struct Desk<'a> {
    pub m: &'a Mechanics,
    pub is_host: bool,
    pub scheduler: Box<dyn Scheduler>,
    pub pool: Pool,
    pub now: Time,
    pub arm: HeadPosition,
    pub last: u64,
    /// Requests pushed so far: the number of the next.
    pub pushed: u32,
    /// Cylinders the arm has moved over, to and without requests.
    pub moved: u32,
    /// How often the direction in which places follow each other has changed, and that direction.
    pub turns: u64,
    upwards: bool,
    /// The scheduler is not told where the platters are.
    pub hides_phases: bool,
    /// The present place as a key; at an edge, all keys lie on one side of it.
    place: u64,
}

impl<'a> Desk<'a> {
    pub fn drive(m: &'a Mechanics, text: &str) -> Desk<'a> {
        Desk::new(m, text, false)
    }

    pub fn new(m: &'a Mechanics, text: &str, is_host: bool) -> Desk<'a> {
        let scheduler = scheduler(text);
        Desk {
            m,
            is_host,
            pool: Pool::new(scheduler.order()),
            scheduler,
            now: Time::ZERO,
            arm: HeadPosition::default(),
            last: 0,
            pushed: 0,
            moved: 0,
            turns: 0,
            upwards: true,
            hides_phases: false,
            place: 0,
        }
    }

    /// Whether keys are cylinders.
    fn by_cylinder(&self) -> bool {
        !self.is_host && self.pool.order() == Order::Position
    }

    pub fn push(&mut self, op: Op, lbn: u64) -> Slot {
        let command = command(op, lbn);
        let target = self.m.target(self.m.layout.run(lbn, 1), op == Op::Write);
        let key = match self.pool.order() {
            Order::Arrival => 0,
            _ if self.by_cylinder() => target.arm().cylinder.into(),
            _ => lbn,
        };
        self.pushed += 1;
        let request = RequestId(self.pushed - 1);
        let target = (!self.is_host && op != Op::Flush).then_some(target);
        self.pool
            .push(Pending::new(request, command, self.now, target, key))
    }

    pub fn space(&self) -> Space<'a> {
        if self.is_host {
            Space::Blocks(Lbn(self.last))
        } else {
            disk(self.m, self.arm, self.last, self.now)
        }
    }

    /// What the scheduler is shown.
    fn shown(&self) -> Space<'a> {
        let mut space = self.space();
        if let Space::Disk(disk) = &mut space
            && self.hides_phases
        {
            (disk.read_phase, disk.write_phase) = Default::default();
        }
        space
    }

    /// Moves the arm as the scheduler wants before it picks.
    fn travel(&mut self) {
        for _leg in 0..3 {
            let view = View {
                now: self.now,
                pool: &self.pool,
                space: self.shown(),
            };
            let Some(cylinder) = self.scheduler.travel(&view) else {
                return;
            };
            assert_ne!(cylinder, self.arm.cylinder, "the arm is there already");
            let to = HeadPosition {
                cylinder,
                head: self.arm.head,
            };
            let upwards = cylinder > self.arm.cylinder;
            self.now += self.m.motion_time(self.arm, to, false);
            self.moved += self.arm.cylinder.abs_diff(cylinder);
            self.arm = to;
            self.turn(upwards);
            self.place = match (self.by_cylinder(), upwards) {
                (true, _) => cylinder.into(),
                (false, true) => u64::MAX,
                (false, false) => 0,
            };
        }
        panic!("the arm travels for ever");
    }

    fn turn(&mut self, upwards: bool) {
        self.turns += u64::from(self.upwards != upwards);
        self.upwards = upwards;
    }

    /// What the scheduler would pick now.
    pub fn pick(&mut self) -> Slot {
        let view = View {
            now: self.now,
            pool: &self.pool,
            space: self.shown(),
        };
        self.scheduler.pick(&view)
    }

    /// Picks a request, and serves it.
    pub fn serve(&mut self) -> Pending {
        if !self.is_host {
            self.travel();
        }
        let slot = self.pick();
        self.remove(slot)
    }

    /// The numbers of requests in the order of service, while `at_a_time` of them come before each pick.
    pub fn order_of(&mut self, arrivals: &[(Op, u64)], at_a_time: usize) -> Vec<u32> {
        let (mut left, mut picked) = (arrivals.iter(), Vec::new());
        loop {
            for &(op, lbn) in left.by_ref().take(at_a_time) {
                self.push(op, lbn);
            }
            if self.pool.is_empty() {
                return picked;
            }
            picked.push(self.serve().request.0);
        }
    }

    /// Serves a request.
    pub fn remove(&mut self, slot: Slot) -> Pending {
        let space = self.space();
        let pending = *self.pool.remove(slot);
        if pending.key != self.place || !self.by_cylinder() {
            self.turn(pending.key >= self.place);
        }
        let time = match (&space, &pending.target) {
            (Space::Disk(disk), Some(target)) => disk.positioning(target),
            _ => Time::ZERO,
        };
        self.now += time + Time::from_us(500);
        if let Some(target) = pending.target {
            self.moved += self.arm.cylinder.abs_diff(target.arm().cylinder);
            self.arm = target.arm();
        }
        self.last = pending.command.end().0;
        self.place = if self.by_cylinder() {
            self.arm.cylinder.into()
        } else {
            self.last
        };
        pending
    }

    /// The LBNs of all that wait, as they are served with nothing coming in between.
    pub fn drain(&mut self) -> Vec<u64> {
        let mut order = Vec::new();
        while !self.pool.is_empty() {
            order.push(self.serve().command.lbn.0);
        }
        order
    }
}

/// Addresses with ties and crowds.
pub fn lbns() -> impl Strategy<Value = u64> {
    prop_oneof![
        0u64..BLOCKS,
        (0u64..20).prop_map(|i| i * 1000),
        Just(777u64)
    ]
}

pub fn reads_and_writes() -> impl Strategy<Value = Vec<(Op, u64)>> {
    let op = prop::sample::select(vec![Op::Read, Op::Write]);
    prop::collection::vec((op, lbns()), 1..150)
}
