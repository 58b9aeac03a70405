//! Every choice of a policy is that of a plain, slow model, with pins and removals.

use std::cell::RefCell;
use std::rc::Rc;

use proptest::prelude::*;

use super::common::{Event, Watched, events, futures, policy};
use super::plain::{Belady, Clock, Lfu, Queue, Sieve};
use super::popularity::{Lirs, WTinyLfu};
use super::queues::{Arc, S3Fifo, Slru, TwoQ};

/// Whether a block may leave.
pub type Free<'a> = &'a dyn Fn(u64) -> bool;

/// A policy that goes by keys.
pub trait Model {
    fn hit(&mut self, key: u64);
    fn miss(&mut self, _key: u64) {}
    fn shed(&mut self, _free: Free<'_>) -> Option<u64> {
        None
    }
    fn evict(&mut self, free: Free<'_>) -> Option<u64>;
    fn insert(&mut self, key: u64);
    fn remove(&mut self, key: u64);
}

fn share(of: f64, capacity: u32) -> usize {
    (of * f64::from(capacity)) as usize
}

/// The models by the policies that they are of; `next` is the next access to the block being accessed.
pub fn models(capacity: u32, next: &Rc<RefCell<u64>>) -> Vec<(&'static str, Box<dyn Model>)> {
    let queue = |moves_at_hits, last_leaves| {
        let queue = Queue {
            moves_at_hits,
            last_leaves,
            ..Queue::default()
        };
        Box::new(queue) as Box<dyn Model>
    };
    let slru = |segments: usize, upper: usize, lowest: usize, fills_upwards| {
        let mut room = vec![upper; segments];
        room[0] = lowest;
        let segments = vec![Vec::new(); segments];
        Box::new(Slru {
            segments,
            room,
            fills_upwards,
            falls_out: false,
        })
    };
    let arc = Box::new(Arc {
        capacity: capacity as usize,
        target: 0,
        t: Default::default(),
        b: Default::default(),
        was_in: None,
    });
    let s3 = |is_libcachesim| {
        let small_room = share(0.1, capacity).max(1);
        Box::new(S3Fifo {
            small_room,
            main_room: capacity as usize - small_room,
            remembers: share(0.9, capacity),
            is_libcachesim,
            ..S3Fifo::default()
        })
    };
    let lirs = |high, ghosts| {
        Box::new(Lirs {
            room: capacity as usize - share(high, capacity).max(1),
            remembers: share(ghosts, capacity),
            ..Lirs::default()
        })
    };
    let tiny = |window, protected, sample: f64| {
        let window = share(window, capacity).max(1);
        let main = capacity - window as u32;
        let sample = (sample * f64::from(capacity)).round() as u64;
        Box::new(WTinyLfu::new(
            capacity,
            window,
            share(protected, main),
            sample,
        ))
    };
    let quarter = share(0.25, capacity);
    vec![
        ("'lru'", queue(true, false)),
        ("'fifo'", queue(false, false)),
        ("'lifo'", queue(false, true)),
        ("'clock'", Box::new(Clock::default())),
        ("'sieve'", Box::new(Sieve::default())),
        ("'lfu'", Box::new(Lfu::default())),
        ("'slru'", slru(2, share(0.8, capacity), usize::MAX, false)),
        (
            "{ slru = { segments = 4, protected = 0.75, variant = 'libcachesim' } }",
            slru(4, share(0.75, capacity) / 3, quarter, true),
        ),
        (
            "'2q'",
            Box::new(TwoQ {
                room: quarter,
                remembers: share(0.5, capacity),
                ..TwoQ::default()
            }),
        ),
        ("'arc'", arc),
        ("'s3-fifo'", s3(false)),
        ("{ s3-fifo = { variant = 'libcachesim' } }", s3(true)),
        ("'lirs'", lirs(0.01, 2.0)),
        ("{ lirs = { high = 0.3, ghosts = 0.5 } }", lirs(0.3, 0.5)),
        ("{ lirs = { ghosts = 0.0 } }", lirs(0.01, 0.0)),
        ("'w-tinylfu'", tiny(0.01, 0.8, 10.0)),
        (
            "{ w-tinylfu = { window = 0.3, protected = 0.5, sample = 2.0 } }",
            tiny(0.3, 0.5, 2.0),
        ),
        ("{ w-tinylfu = { sample = 0.0 } }", tiny(0.01, 0.8, 0.0)),
        (
            "'belady'",
            Box::new(Belady {
                next: Rc::clone(next),
                blocks: Vec::new(),
            }),
        ),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn policies_choose_what_plain_models_choose(events in events(30, 400), capacity in 1u32..24, with_pins: bool) {
        let next = Rc::new(RefCell::new(0));
        let futures = futures(&events);
        for (text, mut model) in models(capacity, &next) {
            let mut watched = Watched::new(policy(text, capacity), capacity);
            for (&event, access) in events.iter().zip(&futures) {
                if !with_pins && matches!(event, Event::Pin(_)) {
                    continue;
                }
                *next.borrow_mut() = access.next;
                let pinned = watched.pinned.clone();
                let free = |key: u64| !pinned.contains_key(&key);
                match event {
                    Event::Access(key) => {
                        let is_full = watched.blocks.len() == capacity as usize;
                        let is_hit = watched.blocks.contains_key(&key);
                        let left = if is_hit {
                            model.hit(key);
                            model.shed(&|other| other != key && free(other))
                        } else {
                            model.miss(key);
                            let left = if is_full { model.evict(&free) } else { None };
                            if !is_full || left.is_some() {
                                model.insert(key);
                            }
                            left
                        };
                        let outcome = watched.happen(event, access);
                        prop_assert_eq!(outcome, Some((is_hit, left)), "{}", text);
                    }
                    Event::Remove(key) => {
                        if watched.blocks.contains_key(&key) && free(key) {
                            model.remove(key);
                        }
                        watched.happen(event, access);
                    }
                    _ => {
                        watched.happen(event, access);
                    }
                }
            }
        }
    }
}
