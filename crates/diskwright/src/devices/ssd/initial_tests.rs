//! A fill in order, made page by page, against the same units written one by one.

use super::cleaning::Cleaning;
use super::drive::ControllerDescription;
use super::initial::Pages;
use super::recovery::Recovery;
use super::spec::PreconditionSpec;
use super::steady::Steady;
use super::writes::Writes;
use super::{Ssd, SsdParts};
use crate::base::random::Stream;
use crate::base::units::percent::Percent;
use crate::base::units::{Size, Time};
use crate::models::flash::allocation::AllocationDescription;
use crate::models::flash::blocks::{BlockRules, Blocks};
use crate::models::flash::geometry::GeometryDescription;
use crate::models::flash::separation::SeparationSpec;
use crate::models::flash::timing::TimingDescription;
use crate::models::flash::victims::VictimSpec;

/// A drive of eight planes with pages of `of_page` units, whose data `fixed` levels spread by number.
fn drive(of_page: u64, fixed: u32) -> Ssd {
    let geometry = GeometryDescription {
        channels: 2,
        packages: 2,
        dies: 1,
        planes: 2,
        blocks: 12,
        pages: 5,
        page: Size::from_blocks(8 * of_page),
        unit: Some(Size::from_blocks(8)),
    };
    let geometry = geometry.build().expect("sound");
    let allocation = AllocationDescription {
        fixed,
        ..AllocationDescription::default()
    };
    let allocation = allocation.build(&geometry).expect("sound");
    let rules = BlockRules {
        levels_wear: true,
        streams: 1,
        is_separate: true,
        endurance: None,
        slc: None,
        reserve: 0,
    };
    let time = || vec![Time::from_us(50)];
    let units = geometry.slots() / 2;
    Ssd::new(SsdParts {
        slc: None,
        suspensions: None,
        mapping: None,
        log: None,
        stripes: None,
        map_units: 0,
        levelling: None,
        ageing: None,
        failing: None,
        // A bad block here and there.
        blocks: Blocks::new(geometry, rules, |block| block % 17 == 3),
        timing: TimingDescription {
            read: time(),
            read_part: None,
            program: time(),
            erase: Time::from_ms(1),
            read_command: Time::ZERO,
            program_command: Time::ZERO,
            erase_command: Time::ZERO,
            block: Time::from_us(1),
            summary: Time::ZERO,
        },
        link: None,
        queues: None,
        interface: ControllerDescription::default(),
        planes_of_worker: 2,
        copy_back: false,
        multi_plane: None,
        reads_allocate: false,
        reserved: 0,
        depth: 1,
        units,
        writes: Writes::new(None, SeparationSpec::default().build(), allocation.groups()),
        recovery: Recovery::new(units, None, geometry.all_planes()),
        cleaning: Cleaning {
            at_once: 1,
            begin: 2,
            stop: 0,
            is_throttled: false,
            write_delay: Time::ZERO,
            delay: Time::ZERO,
            is_in_foreground: false,
            idle: None,
        },
        victims: VictimSpec::default().build(),
        chance: Stream::new(1, "cleaning"),
        endurance: None,
        steady: Steady::new(1000),
        geometry,
        allocation,
        power: None,
    })
}

/// Where units are, and what blocks hold.
#[derive(Debug, PartialEq)]
struct State {
    slot_of_unit: Vec<Option<u32>>,
    unit_of_slot: Vec<Option<u32>>,
    valid_and_sealed: Vec<(u32, u64)>,
}

fn state(ssd: &Ssd) -> State {
    let units = 0..ssd.map.units();
    let slots = 0..ssd.geometry.slots();
    State {
        slot_of_unit: units.map(|unit| ssd.home_of(unit)).collect(),
        unit_of_slot: slots.map(|slot| ssd.map.unit(slot)).collect(),
        valid_and_sealed: (ssd.blocks.all().iter())
            .map(|block| (block.valid, block.sealed))
            .collect(),
    }
}

#[test]
fn a_fill_in_order_leaves_what_the_same_writes_leave() {
    for (of_page, fixed, share) in [(1, 4, 100.0), (1, 0, 73.0), (4, 2, 99.0), (4, 0, 37.0)] {
        let (mut filled, mut written) = (drive(of_page, fixed), drive(of_page, fixed));
        let fill = Percent::new(share).expect("a percentage");
        let initial = PreconditionSpec {
            fill,
            ..PreconditionSpec::default()
        };
        filled
            .fill(&initial, Percent::default(), &mut Stream::new(1, "initial"))
            .expect("room");
        let mut pages = Pages::new(written.allocation.groups());
        for unit in 0..fill.of(written.map.units().into()) as u32 {
            written.write_at_once(unit, &mut pages).expect("room");
        }
        written.write_rest(pages).expect("room");
        assert_eq!(state(&filled), state(&written), "{of_page} {fixed} {share}");
        let last = filled.home_of(fill.of(filled.map.units().into()) as u32 - 1);
        assert!(last.is_some());
    }
}
