//! What a block cache holds, finds and lets go.

use super::*;
use crate::base::random::Stream;
use crate::models::cache::replacement::{ReplacementSpec, Setting};
use proptest::prelude::*;

fn cache(frames: u32, blocks: u32) -> BlockCache {
    let setting = Setting {
        capacity: frames,
        chance: Stream::new(0, "test"),
    };
    BlockCache::new(frames, blocks, ReplacementSpec::default().build(&setting))
}

fn piece(key: u64, first: u32, end: u32, lbn: u64) -> LinePiece {
    LinePiece {
        key,
        first,
        end,
        lbn,
    }
}

/// Accesses a line: its place, and the keys of the evicted lines.
fn access(cache: &mut BlockCache, key: u64) -> (Place, Vec<u64>) {
    let mut victims = Vec::new();
    let place = cache.access(key, false, &mut victims);
    let keys = victims.iter().map(|victim| victim.key).collect();
    victims.into_iter().for_each(|victim| cache.release(victim));
    (place, keys)
}

fn frame(place: Place) -> Frame {
    match place {
        Place::Held(frame) | Place::New(frame) => frame,
        Place::None => panic!("no frame could be freed"),
    }
}

#[test]
fn a_run_is_divided_where_lines_meet() {
    let pieces: Vec<LinePiece> = cache(1, 8).pieces(6, 12).collect();
    let expected = [piece(0, 6, 8, 6), piece(1, 0, 8, 8), piece(2, 0, 2, 16)];
    assert_eq!(pieces, expected);
    let whole: Vec<LinePiece> = cache(1, 2048).pieces(2048, 2048).collect();
    assert_eq!(whole, [piece(1, 0, 2048, 2048)]);
}

#[test]
fn a_pinned_frame_stays_and_without_another_there_is_no_place() {
    let mut cache = cache(2, 8);
    let one = frame(access(&mut cache, 1).0);
    cache.pin(one);
    assert!(matches!(access(&mut cache, 2), (Place::New(_), left) if left.is_empty()));
    // 1 is the least recently used, but pinned.
    assert!(matches!(access(&mut cache, 3), (Place::New(_), left) if left == [2]));
    let three = cache.find(3).expect("it is there");
    cache.pin(three);
    assert_eq!(access(&mut cache, 4), (Place::None, Vec::new()));
    assert!(cache.has_pinned(31, 1) && cache.has_pinned(0, 9) && !cache.has_pinned(0, 8));
    cache.unpin_all(&[Some(one), None]);
    assert!(matches!(access(&mut cache, 4), (Place::New(_), left) if left == [1]));
}

#[test]
fn what_leaves_has_what_it_had_and_can_come_back() {
    let mut cache = cache(1, 8);
    let five = frame(access(&mut cache, 5).0);
    cache.put(five, &piece(5, 1, 3, 41), true);
    cache.put(five, &piece(5, 3, 4, 43), false);
    cache.put(five, &piece(5, 1, 2, 41), false);
    assert_eq!((cache.dirty_lines(), cache.dirty_blocks()), (1, 1));
    assert_eq!(cache.next_dirty(0, 9), Some((42, 1)));
    let mut victims = Vec::new();
    let Place::New(six) = cache.access(6, false, &mut victims) else {
        panic!("6 is new")
    };
    assert_eq!(cache.line(six), Line::EMPTY);
    assert_eq!((cache.dirty_lines(), cache.dirty_blocks()), (0, 0));
    let [five] = &victims[..] else {
        panic!("5 had to leave")
    };
    let runs = |which| cache.runs(five.line, which, cache.whole(5));
    assert_eq!(runs(BlockState::Valid).collect::<Vec<_>>(), [(41, 3)]);
    assert_eq!(runs(BlockState::Dirty).collect::<Vec<_>>(), [(42, 1)]);
    let five = victims.pop().expect("5");
    let Place::New(frame) = cache.access(5, false, &mut victims) else {
        panic!("5 is new again")
    };
    cache.put_back(frame, five);
    assert_eq!(cache.next_dirty(0, 9), Some((42, 1)));
    assert_eq!(cache.missing(&cache.whole(5), Some(frame)), Some((40, 8)));
    assert_eq!(cache.oldest_dirty().collect::<Vec<_>>(), [5]);
    victims.into_iter().for_each(|victim| cache.release(victim));
}

#[test]
fn a_trim_of_more_lines_than_are_held_takes_no_longer() {
    let mut cache = cache(4, 2048);
    for key in [1, 700_000, 3] {
        let frame = frame(access(&mut cache, key).0);
        cache.put(frame, &cache.whole(key), key == 3);
    }
    let mut gone = Vec::new();
    let trimmed = cache.trim(2049, u32::MAX, |lbn, blocks| gone.push((lbn, blocks)));
    assert_eq!(
        gone,
        [(2049, 2047), (3 * 2048, 2048), (700_000 * 2048, 2048)]
    );
    assert_eq!(
        trimmed,
        Trimmed {
            blocks: 6143,
            dirty: 2048
        }
    );
    assert_eq!((cache.held(), cache.dirty_lines()), (1, 0));
}

#[test]
fn a_cache_that_spares_dirty_lines_frees_them_last() {
    let mut cache = cache(3, 8).sparing_dirty();
    for key in 1..=3 {
        let frame = frame(access(&mut cache, key).0);
        cache.put(frame, &cache.whole(key), key < 3);
    }
    // 1 and 2 are dirty and were used less recently than 3.
    assert_eq!(access(&mut cache, 4).1, [3]);
    let four = cache.find(4).expect("it is there");
    cache.pin(four);
    assert_eq!(access(&mut cache, 5).1, [1], "no clean one is free");
    cache.clean(16, 8);
    assert_eq!(access(&mut cache, 6).1, [2], "it is clean by now");
    cache.unpin(four);
    assert_eq!(access(&mut cache, 7).1, [4], "it is pinned no longer");
    assert_eq!((cache.dirty_lines(), cache.dirty_blocks()), (0, 0));
    let before = cache.counts().accesses;
    cache.pass(9, true);
    assert_eq!((cache.counts().accesses, cache.find(9)), (before + 1, None));
    let seven = cache.find(7).expect("it is there");
    cache.pin(seven);
    cache.remove_if_empty(seven);
    assert_eq!(cache.find(7), Some(seven), "it is pinned");
    cache.unpin(seven);
    cache.remove_if_empty(seven);
    assert_eq!(cache.find(7), None);
}

/// What happens to a cache: an access, blocks put, cleaned or trimmed, by a first block and how many.
type Happening = (u8, u64, u32);

proptest! {
    #[test]
    fn pieces_cover_a_run_once(lbn in 0u64..10_000, blocks in 1u32..5_000, per_line in 1u32..=2048) {
        let mut next = lbn;
        for piece in cache(1, per_line).pieces(lbn, blocks) {
            prop_assert_eq!(piece.lbn, next);
            prop_assert!(piece.first < piece.end && piece.end <= per_line);
            prop_assert_eq!(piece.key * u64::from(per_line) + u64::from(piece.first), piece.lbn);
            next += u64::from(piece.blocks());
        }
        prop_assert_eq!(next, lbn + u64::from(blocks));
    }

    /// The orders of dirty lines, their runs and trims, against a scan of all blocks.
    #[test]
    fn dirty_blocks_are_found_as_by_a_scan(
        happenings in prop::collection::vec((0u8..10, 0u64..400, 1u32..90), 1..150),
        per_line in prop::sample::select(vec![1u32, 3, 8, 64, 70]),
        most in 1u32..100,
    ) {
        let mut cache = cache(12, per_line);
        let line = u64::from(per_line);
        // By block: none, clean or dirty; by age the lines that are dirty.
        let mut model: Vec<Option<bool>> = vec![None; 1_000];
        let mut ages: Vec<u64> = Vec::new();
        for (what, lbn, blocks) in happenings as Vec<Happening> {
            let range = lbn as usize..lbn as usize + blocks as usize;
            match what {
                0..=5 => {
                    let piece = cache.pieces(lbn, blocks).next().expect("a block at least");
                    let (place, left) = access(&mut cache, piece.key);
                    for key in left {
                        model[(key * line) as usize..][..per_line as usize].fill(None);
                    }
                    let frame = frame(place);
                    if what == 5 {
                        cache.forget(frame, &piece);
                        model[piece.lbn as usize..][..piece.blocks() as usize].fill(None);
                    } else {
                        cache.put(frame, &piece, what < 3);
                        model[piece.lbn as usize..][..piece.blocks() as usize].fill(Some(what < 3));
                    }
                }
                6 | 7 => {
                    cache.clean(lbn, blocks);
                    model[range].iter_mut().flatten().for_each(|dirty| *dirty = false);
                }
                _ => {
                    let mut gone = vec![false; 1_000];
                    let trimmed = cache.trim(lbn, blocks, |lbn, blocks| gone[lbn as usize..][..blocks as usize].fill(true));
                    let was = &model[range.clone()];
                    prop_assert_eq!(trimmed.blocks, was.iter().flatten().count() as u64);
                    prop_assert_eq!(trimmed.dirty, was.iter().flatten().filter(|dirty| **dirty).count() as u64);
                    for (at, gone) in gone.into_iter().enumerate() {
                        prop_assert_eq!(gone, range.contains(&at) && model[at].is_some());
                    }
                    for piece in cache.pieces(lbn, blocks) {
                        let has_blocks = cache.find(piece.key).is_none_or(|frame| cache.line(frame) != Line::EMPTY);
                        prop_assert!(has_blocks, "line {} is empty", piece.key);
                    }
                    model[range].fill(None);
                }
            }
            let is_dirty = |key: u64| {
                let blocks = model.iter().skip((key * line) as usize).take(per_line as usize);
                blocks.flatten().any(|dirty| *dirty)
            };
            ages.retain(|&key| is_dirty(key));
            let new: Vec<u64> = (0..1_000 / line).filter(|&key| is_dirty(key) && !ages.contains(&key)).collect();
            prop_assert!(new.len() <= 1);
            ages.extend(new);
            prop_assert_eq!(cache.oldest_dirty().collect::<Vec<_>>(), ages.clone());
            prop_assert_eq!(cache.dirty_lines(), ages.len());
            let dirty = |at: usize| model.get(at).is_some_and(|block| *block == Some(true));
            prop_assert_eq!(cache.dirty_blocks(), (0..1_000).filter(|&at| dirty(at)).count() as u64);
            for from in [0, lbn, lbn + u64::from(blocks), 999] {
                let first = (from as usize..1_000).find(|&at| dirty(at));
                let run = first.map(|first| {
                    let blocks = (first..).take_while(|&at| dirty(at)).take(most as usize).count();
                    (first as u64, blocks as u32)
                });
                prop_assert_eq!(cache.next_dirty(from, most), run);
            }
        }
    }
}

#[test]
fn what_was_counted_before_does_not_count() {
    let mut cache = cache(2, 1);
    for key in [1, 2, 3, 3] {
        access(&mut cache, key);
    }
    let before = *cache.counts();
    for key in [3, 1, 4] {
        access(&mut cache, key);
    }
    let since = cache.counts().since(&before);
    let counted = (
        since.accesses,
        since.hits,
        since.insertions,
        since.evictions,
    );
    assert_eq!((before.evictions, before.hits), (1, 1));
    assert_eq!(counted, (3, 1, 2, 2));
}
