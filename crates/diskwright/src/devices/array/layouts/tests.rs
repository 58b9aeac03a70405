//! All layouts by brute force, block by block.

use proptest::prelude::*;

use super::*;
use crate::base::units::Size;
use crate::engine::request::{DeviceId, Op};

fn layouts() -> impl Strategy<Value = (LayoutSpec, Vec<u64>)> {
    let members = prop::collection::vec(20u64..60, 1..5);
    let layout = prop_oneof![
        (1u64..=20).prop_map(|unit| LayoutSpec::Stripe(stripe::Stripe {
            unit: Size::from_blocks(unit)
        })),
        Just(LayoutSpec::Mirror(mirror::Mirror::default())),
        Just(LayoutSpec::Concat(concat::Concat {})),
    ];
    (layout, members)
}

fn built(spec: &LayoutSpec, members: &[u64]) -> Box<dyn Layout> {
    spec.build(members).expect("the unit fits").plain()
}

/// Idle members.
fn idle(count: usize) -> Vec<Member> {
    let member = |index| Member {
        device: DeviceId(index),
        outstanding: 0,
        head: Lbn(0),
        has_failed: false,
    };
    (0..count as u32).map(member).collect()
}

/// Where each block of a layout is, by its rule and nothing else: for every block its places in the order of its copies.
fn by_hand(spec: &LayoutSpec, members: &[u64]) -> Vec<Vec<(usize, u64)>> {
    let smallest = *members.iter().min().expect("a member");
    match spec {
        LayoutSpec::Stripe(stripe) => {
            let unit = stripe.unit.blocks();
            let mut next = vec![0; members.len()];
            let mut blocks = Vec::new();
            while next.iter().all(|at| at + unit <= smallest) {
                for (member, at) in next.iter_mut().enumerate() {
                    blocks.extend((0..unit).map(|block| vec![(member, *at + block)]));
                    *at += unit;
                }
            }
            blocks
        }
        LayoutSpec::Mirror(_) => {
            let copies = |lbn| (0..members.len()).map(|member| (member, lbn)).collect();
            (0..smallest).map(copies).collect()
        }
        LayoutSpec::Concat(_) => {
            let of_member =
                |(member, &blocks): (usize, &u64)| (0..blocks).map(move |at| vec![(member, at)]);
            members.iter().enumerate().flat_map(of_member).collect()
        }
        _ => unreachable!("layouts with redundancy that is kept have tests of their own"),
    }
}

proptest! {
    #[test]
    fn every_block_is_where_the_rule_puts_it((spec, members) in layouts()) {
        let layout = built(&spec, &members);
        let blocks = by_hand(&spec, &members);
        prop_assert_eq!(layout.blocks(), blocks.len() as u64);
        for (lbn, places) in (0..).zip(&blocks) {
            prop_assert_eq!(layout.copies() as usize, places.len());
            for (copy, &(member, at)) in (0..).zip(places) {
                prop_assert_eq!(layout.place(Lbn(lbn), copy), (member, Lbn(at)));
                let (origin, run) = layout.origin(member, Lbn(at));
                prop_assert_eq!(origin, Lbn(lbn));
                // The run is as long as the places follow each other, and as long as that is all there is.
                prop_assert!(run >= 1);
                for further in 0..run {
                    prop_assert_eq!(layout.place(Lbn(lbn + further), copy), (member, Lbn(at + further)));
                }
            }
        }
    }

    #[test]
    fn a_request_is_split_into_one_piece_for_each_member_that_has_some_of_it(
        (spec, members) in layouts(), first: prop::sample::Index, length: prop::sample::Index, write: bool,
    ) {
        let mut layout = built(&spec, &members);
        let blocks = by_hand(&spec, &members);
        let first = first.index(blocks.len());
        let length = 1 + length.index(blocks.len() - first);
        let command = Command {
            op: if write { Op::Write } else { Op::Read },
            fua: false,
            lbn: Lbn(first as u64),
            blocks: length as u32,
        };
        let mut pieces = Vec::new();
        layout.split(&command, &idle(members.len()), &mut pieces);
        let copies = |places: &Vec<(usize, u64)>| match write {
            true => places.clone(),
            false => places[..1].to_vec(),
        };
        let mut expected: Vec<_> = blocks[first..first + length].iter().flat_map(copies).collect();
        let mut found: Vec<_> = pieces
            .iter()
            .flat_map(|piece| (0..u64::from(piece.blocks)).map(|block| (piece.member, piece.lbn.0 + block)))
            .collect();
        // All idle with their heads at the start, a mirror's first member is as good as another.
        expected.sort_unstable();
        found.sort_unstable();
        prop_assert_eq!(found, expected);
        let mut on: Vec<_> = pieces.iter().map(|piece| piece.member).collect();
        on.dedup();
        prop_assert_eq!(on.len(), pieces.len());
        on.sort_unstable();
        on.dedup();
        prop_assert_eq!(on.len(), pieces.len(), "a member has one piece");
        let (member, at) = layout.place(command.lbn, 0);
        prop_assert_eq!((pieces[0].member, pieces[0].lbn), (member, at), "the first piece has the first block");
    }
}

#[test]
fn a_huge_request_over_single_blocks_is_split_at_once() {
    let stripe = stripe::Stripe {
        unit: Size::from_blocks(1),
    };
    let mut layout = built(&LayoutSpec::Stripe(stripe), &[u64::MAX / 4; 3]);
    let command = Command {
        op: Op::Trim,
        fua: false,
        lbn: Lbn(1),
        blocks: u32::MAX,
    };
    let mut pieces = Vec::new();
    layout.split(&command, &idle(3), &mut pieces);
    let third = u32::MAX / 3;
    let expected = [(1, 0), (2, 0), (0, 1)].map(|(member, lbn)| MemberPiece {
        member,
        lbn: Lbn(lbn),
        blocks: third,
    });
    assert_eq!(pieces, expected);
}

#[test]
fn units_without_sense_are_refused() {
    for (unit, fits) in [(0, false), (1, true), (100, true), (101, false)] {
        let stripe = stripe::Stripe {
            unit: Size::from_blocks(unit),
        };
        let layout = LayoutSpec::Stripe(stripe).build(&[300, 100]);
        assert_eq!(layout.is_ok(), fits, "{unit}");
        if let Err(error) = layout {
            let help = error.help.expect("what is accepted");
            assert!(help.contains("smallest member, 100"), "{help}");
        }
    }
}

#[test]
fn parity_takes_a_row_at_least_and_whole_units() {
    for (unit, parity, fits) in [
        (1, 1, true),
        (1, 0, false),
        (4, 8, true),
        (4, 6, false),
        (100, 100, true),
        (101, 101, false),
    ] {
        let layout = LayoutSpec::Raid5(raid5::Raid5 {
            unit: Size::from_blocks(unit),
            parity_unit: Some(Size::from_blocks(parity)),
            rotation: Default::default(),
            writes: Default::default(),
            waits: Default::default(),
        });
        let built = layout.kept_up(&[100; 4]);
        assert_eq!(
            built.is_ok(),
            fits,
            "{parity} blocks of parity, units of {unit}"
        );
    }
}
