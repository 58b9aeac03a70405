//! What every scheduler of the registry must do, and what each one promises of its own.

use diskwright::config::{Node, from_node};
use diskwright::error::Source;
use diskwright::geometry::describe::{HeadOrder, LayoutDescription, ZoneDescription};
use diskwright::geometry::layout::Layout;
use diskwright::geometry::mechanics::{Arm, Mechanics};
use diskwright::geometry::seek::{SeekCurve, SeekDescription};
use diskwright::geometry::spindle::Spindle;
use diskwright::queue::pool::Order;
use diskwright::queue::schedulers::DiskSpace;
use diskwright::queue::{Pending, Pool, Scheduler, SchedulerSpec, Slot, Space, View};
use diskwright::request::{Command, Op, RequestId};
use diskwright::units::quantities::Rotation;
use diskwright::units::{Lbn, Time};
use proptest::prelude::*;

fn scheduler(text: &str) -> Box<dyn Scheduler> {
    let node =
        Node::parse(&Source::new("test", format!("scheduler = {text}"))).expect("valid TOML");
    let spec: SchedulerSpec = from_node(node.get("scheduler").expect("the key above"))
        .expect("a scheduler of the registry");
    spec.build()
}

/// Three zones, four surfaces, and a seek curve with dips, as measured ones have.
fn mechanics(settle: i64) -> Mechanics {
    let zones = [(0, 39, 60), (40, 79, 50), (80, 119, 33)];
    let zones = zones.map(|(first, last, per_track)| {
        let mut zone = ZoneDescription::plain(first, last, per_track);
        (zone.track_skew, zone.cylinder_skew) = (5, 9);
        zone
    });
    let description = LayoutDescription {
        surfaces: 4,
        cylinders: 120,
        order: HeadOrder::Ascending,
        sectors: None,
        zones: zones.into(),
    };
    let seek =
        "[table]\npoints_ms = [[1, 1.0], [4, 1.9], [5, 1.2], [30, 4.0], [50, 3.1], [119, 7.5]]";
    let seek: SeekDescription = toml::from_str(seek).expect("a seek curve");
    Mechanics {
        layout: Layout::build(&description).expect("a layout"),
        seek: SeekCurve::build(&seek, 120).expect("a seek curve"),
        spindle: Spindle::new(Rotation::Rpm(7200)),
        head_switch: Time::from_us(900),
        write_settle_ns: settle,
    }
}

fn pending(
    m: &Mechanics,
    order: Order,
    number: u32,
    lbn: u64,
    write: bool,
    entered: Time,
) -> Pending {
    let op = if write { Op::Write } else { Op::Read };
    let command = Command {
        op,
        fua: false,
        lbn: Lbn(lbn),
        blocks: 1,
    };
    let target = m.target(m.layout.run(lbn, 1), write);
    let key = match order {
        Order::Arrival => 0,
        Order::Lbn => lbn,
        Order::Position => target.arm().cylinder.into(),
    };
    Pending {
        request: RequestId(number),
        command,
        entered,
        target: Some(target),
        key,
        ticket: 0,
    }
}

fn disk<'a>(m: &'a Mechanics, arm: Arm, last: u64, now: Time) -> Space<'a> {
    let phase = |overhead| m.spindle.phase(now + Time::from_us(overhead));
    Space::Disk(DiskSpace {
        mechanics: m,
        arm,
        last: Lbn(last),
        read_phase: phase(100),
        write_phase: phase(350),
    })
}

/// The shortest positioning time over all that wait; the oldest of equals.
fn brute_force(view: &View<'_>) -> Slot {
    let Space::Disk(disk) = &view.space else {
        panic!("a drive's queue")
    };
    let rank = |slot: &Slot| {
        let pending = view.pool.get(*slot);
        (
            disk.positioning(pending.target.as_ref().expect("a target")),
            pending.ticket,
        )
    };
    view.pool
        .by_arrival()
        .min_by_key(rank)
        .expect("something waits")
}

type Arrivals = Vec<(u64, bool)>;

fn arrivals() -> impl Strategy<Value = Arrivals> {
    // Clustered addresses make ties and crowds.
    let lbn = prop_oneof![
        0u64..22_000,
        (0u64..20).prop_map(|i| i * 1000),
        Just(777u64)
    ];
    prop::collection::vec((lbn, any::<bool>()), 1..200)
}

proptest! {
    #[test]
    fn satf_picks_what_brute_force_picks(
        arrivals in arrivals(), settle in prop::sample::select(vec![-400_000i64, 0, 500_000]), start in 0u64..1 << 50,
    ) {
        let m = mechanics(settle);
        let mut satf = scheduler("\"satf\"");
        let mut pool = Pool::new(satf.order());
        let mut now = Time::from_ns(start);
        for (number, &(lbn, write)) in arrivals.iter().enumerate() {
            pool.push(pending(&m, pool.order(), number as u32, lbn, write, now));
        }
        let mut arm = Arm { cylinder: 60, head: 1 };
        while !pool.is_empty() {
            let view = View { now, pool: &pool, space: disk(&m, arm, 0, now) };
            let slot = satf.pick(&view);
            prop_assert_eq!(slot, brute_force(&view));
            let picked = pool.remove(slot);
            arm = picked.target.expect("a target").arm();
            now += Time::from_us(picked.command.lbn.0 % 7_000);
        }
    }

    #[test]
    fn no_scheduler_loses_or_invents_a_request(arrivals in arrivals(), is_host in any::<bool>()) {
        let m = mechanics(0);
        for name in SchedulerSpec::NAMES {
            let mut scheduler = scheduler(&format!("{name:?}"));
            if is_host && scheduler.needs_geometry() {
                continue;
            }
            let order = |scheduler: &mut Box<dyn Scheduler>| {
                let mut pool = Pool::new(scheduler.order());
                let mut left = arrivals.iter().enumerate();
                let (mut picked, mut now, mut last, mut arm) = (Vec::new(), Time::ZERO, 0, Arm::default());
                loop {
                    // Two arrive for each one served, while there are any.
                    for (number, &(lbn, write)) in left.by_ref().take(2) {
                        let mut entry = pending(&m, pool.order(), number as u32, lbn, write, now);
                        if is_host && pool.order() == Order::Position {
                            entry.key = lbn;
                        }
                        pool.push(entry);
                    }
                    if pool.is_empty() {
                        break;
                    }
                    let space = if is_host { Space::Blocks(Lbn(last)) } else { disk(&m, arm, last, now) };
                    let slot = scheduler.pick(&View { now, pool: &pool, space });
                    let entry = pool.remove(slot);
                    picked.push(entry.request.0);
                    (last, arm) = (entry.command.end().0, entry.target.expect("a target").arm());
                    now += Time::from_ms(9);
                }
                picked
            };
            let first = order(&mut scheduler);
            let mut sorted = first.clone();
            sorted.sort_unstable();
            prop_assert_eq!(sorted, (0..arrivals.len() as u32).collect::<Vec<_>>(), "{}", name);
            let again = order(&mut self::scheduler(&format!("{name:?}")));
            prop_assert_eq!(first, again, "{} is not deterministic", name);
        }
    }
}

/// The order in which a scheduler serves requests that all wait from the start, the disk standing still in between.
fn served(name: &str, lbns: &[u64], last: u64) -> Vec<u64> {
    let m = mechanics(0);
    let mut scheduler = scheduler(name);
    let mut pool = Pool::new(scheduler.order());
    for (number, &lbn) in lbns.iter().enumerate() {
        pool.push(pending(
            &m,
            pool.order(),
            number as u32,
            lbn,
            false,
            Time::ZERO,
        ));
    }
    let mut last = last;
    let mut order = Vec::new();
    while !pool.is_empty() {
        let arm = m.target(m.layout.run(last, 1), false).arm();
        let space = disk(&m, arm, last, Time::ZERO);
        let slot = scheduler.pick(&View {
            now: Time::ZERO,
            pool: &pool,
            space,
        });
        let command = pool.remove(slot).command;
        last = command.end().0;
        order.push(command.lbn.0);
    }
    order
}

#[test]
fn fcfs_keeps_the_order_of_arrival() {
    assert_eq!(served("\"fcfs\"", &[500, 3, 9000, 4], 0), [500, 3, 9000, 4]);
}

#[test]
fn c_look_goes_up_from_the_end_of_the_last_request_and_wraps() {
    // 100 is where the last one ended and is taken; 99 lies behind.
    assert_eq!(
        served("\"c-look\"", &[99, 5000, 100, 7, 300], 100),
        [100, 300, 5000, 7, 99]
    );
}

#[test]
fn sstf_takes_the_nearest_cylinder_and_the_older_of_two_as_near() {
    // 240 sectors a cylinder in zone 0: from cylinder 10, cylinders 9 and 11 are equally near.
    let cylinder = |c: u64| c * 240;
    let from = cylinder(10);
    let order = served("\"sstf\"", &[cylinder(30), cylinder(11), cylinder(9)], from);
    assert_eq!(order, [cylinder(11), cylinder(9), cylinder(30)]);
    let order = served("\"sstf\"", &[cylinder(30), cylinder(9), cylinder(11)], from);
    assert_eq!(order, [cylinder(9), cylinder(11), cylinder(30)]);
}

#[test]
fn satf_prefers_a_short_rotation_to_a_short_seek() {
    let m = mechanics(0);
    let arm = Arm {
        cylinder: 10,
        head: 0,
    };
    let now = Time::ZERO;
    let space = disk(&m, arm, 0, now);
    let Space::Disk(view) = &space else {
        unreachable!()
    };
    let wait = |lbn: u64| view.positioning(&m.target(m.layout.run(lbn, 1), false));
    // On the arm's own track, the sector that has just passed; on the next cylinder, the one that comes soonest.
    let near = (2400..2460).max_by_key(|&lbn| wait(lbn)).expect("a track");
    let far = (2640..2700).min_by_key(|&lbn| wait(lbn)).expect("a track");
    assert!(wait(far) < wait(near));
    let pick = |name: &str| {
        let mut scheduler = scheduler(name);
        let mut pool = Pool::new(scheduler.order());
        for (number, lbn) in [near, far].into_iter().enumerate() {
            pool.push(pending(&m, pool.order(), number as u32, lbn, false, now));
        }
        let slot = scheduler.pick(&View {
            now,
            pool: &pool,
            space: disk(&m, arm, 0, now),
        });
        pool.get(slot).command.lbn.0
    };
    assert_eq!((pick("\"satf\""), pick("\"sstf\"")), (far, near));
}

#[test]
fn ncq_promotes_at_its_timeout_and_not_a_nanosecond_before() {
    let m = mechanics(0);
    let waited = |timeout: &str, waited: Time| {
        let mut ncq = scheduler(timeout);
        let mut pool = Pool::new(ncq.order());
        let arm = Arm {
            cylinder: 0,
            head: 0,
        };
        let far = m.layout.sectors() - 1;
        pool.push(pending(&m, pool.order(), 0, far, false, Time::ZERO));
        pool.push(pending(&m, pool.order(), 1, 0, false, waited));
        let slot = ncq.pick(&View {
            now: waited,
            pool: &pool,
            space: disk(&m, arm, 0, waited),
        });
        (pool.get(slot).request.0, ncq.promotions())
    };
    let two = Time::from_s(2);
    assert_eq!(waited("\"ncq\"", two), (0, 1));
    assert_eq!(waited("\"ncq\"", two - Time::from_ns(1)), (1, 0));
    assert_eq!(
        waited("{ ncq = { timeout = \"0 ms\" } }", Time::from_s(1_000)),
        (1, 0)
    );
    assert_eq!(
        waited("{ ncq = { timeout = \"50 ms\" } }", Time::from_ms(50)),
        (0, 1)
    );
}
