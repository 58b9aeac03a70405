//! Blocks and maps of small drives.

use super::allocation::{AllocationDescription, Level};
use super::blocks::{BlockRules, BlockState, Blocks, Writer};
use super::geometry::{Geometry, GeometryDescription};
use super::map::{PageMap, Whereabouts};
use crate::base::units::Size;

fn described() -> GeometryDescription {
    GeometryDescription {
        channels: 2,
        packages: 3,
        dies: 2,
        planes: 2,
        blocks: 4,
        pages: 3,
        page: Size::from_blocks(8),
        unit: Some(Size::from_blocks(4)),
    }
}

fn geometry() -> Geometry {
    described().build().expect("sound")
}

#[test]
fn slots_are_numbered_by_plane_block_page_and_unit() {
    let geometry = geometry();
    assert_eq!(geometry.all_planes(), 24);
    assert_eq!(geometry.slots(), 24 * 4 * 3 * 2);
    let slot = ((5 * 4 + 3) * 3 + 1) * 2 + 1;
    assert_eq!(geometry.plane_of(slot), 5);
    assert_eq!(geometry.block_of(slot), 5 * 4 + 3);
    assert_eq!(geometry.page_of(slot), (5 * 4 + 3) * 3 + 1);
    assert_eq!((geometry.channel_of(11), geometry.channel_of(12)), (0, 1));
}

#[test]
fn impossible_geometries_are_refused() {
    let refused = |change: fn(&mut GeometryDescription), words: &str| {
        let mut described = described();
        change(&mut described);
        let error = described.build().expect_err(words).to_string();
        assert!(error.contains(words), "{error}");
    };
    refused(|d| d.blocks = 1, "blocks = 1");
    refused(|d| d.channels = 0, "channels = 0");
    refused(|d| d.unit = Some(Size::from_blocks(3)), "a unit of");
    refused(|d| d.page = Size::from_blocks(0), "a page of");
    refused(|d| d.packages = 40, "planes on one channel");
    refused(|d| d.blocks = u32::MAX, "can be numbered");
}

#[test]
fn pages_go_round_the_levels_in_their_order() {
    let geometry = geometry();
    let order = vec![Level::Package, Level::Channel, Level::Die, Level::Plane];
    let description = AllocationDescription {
        order,
        fixed: 2,
        ..AllocationDescription::default()
    };
    let allocation = description.build(&geometry).expect("sound");
    assert_eq!((allocation.groups(), allocation.members()), (6, 4));
    // Two units a page; the package changes first, then the channel.
    let first = |unit| allocation.plane(allocation.group_of(unit), 0);
    let planes: Vec<u32> = (0..14).step_by(2).map(first).collect();
    assert_eq!(planes, [0, 4, 8, 12, 16, 20, 0]);
    assert_eq!(first(1), first(0));
    // Within a group the die, then the plane.
    let members: Vec<u32> = (0..4).map(|member| allocation.plane(1, member)).collect();
    assert_eq!(members, [4, 6, 5, 7]);
    for order in [vec![], vec![Level::Die; 4]] {
        let description = AllocationDescription {
            order,
            fixed: 0,
            ..AllocationDescription::default()
        };
        assert!(description.build(&geometry).is_err());
    }
}

#[test]
fn a_unit_is_nowhere_in_a_slot_or_held() {
    let mut map = PageMap::new(3, 10);
    assert_eq!(map.whereabouts(1), Whereabouts::Nowhere);
    map.point(1, Some(4));
    map.mark(4, Some(1));
    assert_eq!(map.whereabouts(1), Whereabouts::Slot(4));
    assert_eq!((map.unit(4), map.unit(5)), (Some(1), None));
    map.hold(1, 0);
    assert_eq!(map.whereabouts(1), Whereabouts::Held(0));
    map.point(1, None);
    map.mark(4, None);
    assert_eq!(
        (map.whereabouts(1), map.unit(4)),
        (Whereabouts::Nowhere, None)
    );
}

const RULES: BlockRules = BlockRules {
    levels_wear: true,
    streams: 1,
    is_separate: true,
    endurance: Some(2),
    slc: None,
    reserve: 0,
};

#[test]
fn a_block_is_opened_sealed_erased_and_worn_out() {
    let mut blocks = Blocks::new(geometry(), RULES, |number| number == 0);
    assert_eq!((blocks.free_of(0), blocks.usable_of(0)), (3, 3));
    let fill = |blocks: &mut Blocks, writer| {
        let slots: Vec<u32> = (0..3)
            .map(|_| blocks.next_page(0, writer).expect("a page"))
            .collect();
        slots.iter().for_each(|&slot| blocks.written(slot));
        slots
    };
    // Block 0 is bad.
    assert_eq!(fill(&mut blocks, Writer::Host(0)), [6, 8, 10]);
    assert_eq!(blocks.block(1).state, BlockState::Sealed);
    assert_eq!(fill(&mut blocks, Writer::Cleaning), [12, 14, 16]);
    blocks.choose(1);
    assert!(blocks.erase(1), "once");
    // The one erased least is next, though its number is higher.
    assert_eq!(fill(&mut blocks, Writer::Host(0))[0], 18);
    assert_eq!(fill(&mut blocks, Writer::Host(0))[0], 6);
    assert_eq!(blocks.next_page(0, Writer::Host(0)), None);
    assert!(!blocks.erase(1), "worn out");
    assert_eq!(
        (blocks.free_of(0), blocks.usable_of(0), blocks.erases()),
        (0, 2, 2)
    );
}
