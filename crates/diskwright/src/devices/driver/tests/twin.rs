//! The same rules once more, with lists that are searched from end to end.

use proptest::prelude::*;

use super::*;

/// Requests that are one below.
#[derive(Clone, Debug)]
struct Group {
    numbers: Vec<usize>,
    op: Op,
    lbn: u64,
    blocks: u64,
}

/// A list of requests in the order of their arrival, with what its policy remembers.
#[derive(Default)]
struct List {
    groups: Vec<Group>,
    start: u64,
    end: u64,
    goes_down: bool,
}

impl List {
    fn add(&mut self, mut new: Group, most: u64) {
        let mut place = self.groups.len();
        loop {
            let joins = |other: &Group| {
                let touch =
                    other.lbn + other.blocks == new.lbn || new.lbn + new.blocks == other.lbn;
                touch && other.op == new.op && other.blocks + new.blocks <= most
            };
            let Some(found) = self.groups.iter().position(joins) else {
                break;
            };
            let other = self.groups.remove(found);
            place = place.min(found);
            new = Group {
                numbers: [other.numbers, new.numbers].concat(),
                op: new.op,
                lbn: other.lbn.min(new.lbn),
                blocks: other.blocks + new.blocks,
            };
        }
        self.groups.insert(place, new);
    }

    fn take(&mut self, policy: &str) -> Group {
        let lbn = |index: &usize| self.groups[*index].lbn;
        let all = 0..self.groups.len();
        let chosen = match policy {
            FCFS => 0,
            C_LOOK => {
                let ahead = all.clone().filter(|index| lbn(index) >= self.start);
                ahead
                    .min_by_key(lbn)
                    .or_else(|| all.min_by_key(lbn))
                    .expect("one")
            }
            _ => {
                let up = all
                    .clone()
                    .filter(|index| lbn(index) >= self.end)
                    .min_by_key(lbn);
                let below = all.filter(|index| lbn(index) < self.end);
                let highest = below.clone().map(|index| lbn(&index)).max();
                let down = below.clone().find(|index| Some(lbn(index)) == highest);
                match (up, down) {
                    (Some(up), Some(down)) => {
                        let (above, under) = (lbn(&up) - self.end, self.end - lbn(&down));
                        let is_tie = above == under;
                        let goes_up = above < under || (is_tie && !self.goes_down);
                        self.goes_down ^= is_tie;
                        if goes_up { up } else { down }
                    }
                    (up, down) => up.or(down).expect("one"),
                }
            }
        };
        let group = self.groups.remove(chosen);
        (self.start, self.end) = (group.lbn, group.lbn + group.blocks);
        group
    }
}

/// When each request ends, in ns.
fn naive(
    asked: &[Asked],
    delay: u64,
    most: usize,
    policy: &str,
    join: u64,
    urgent: bool,
) -> Vec<u64> {
    let mut lists = [List::default(), List::default()];
    let mut below: Vec<(u64, Group)> = Vec::new();
    let mut ends = vec![0; asked.len()];
    let mut next = 0;
    loop {
        let completes = below.iter().map(|(at, _)| *at).min();
        let arrives = asked.get(next).map(|one| one.at.ns());
        let now = match (completes, arrives) {
            (None, None) => return ends,
            (Some(at), None) | (None, Some(at)) => at,
            (Some(one), Some(other)) => one.min(other),
        };
        if Some(now) == arrives {
            let one = &asked[next];
            let list = usize::from(!(urgent && one.class.is_urgent()));
            let group = Group {
                numbers: vec![next],
                op: one.command.op,
                lbn: one.command.lbn.0,
                blocks: one.command.blocks.into(),
            };
            lists[list].add(group, join);
            next += 1;
        } else {
            let ended = below.iter().position(|(at, _)| *at == now).expect("one");
            let (_, group) = below.remove(ended);
            group.numbers.iter().for_each(|&number| ends[number] = now);
        }
        while below.len() < most
            && let Some(list) = lists.iter_mut().find(|list| !list.groups.is_empty())
        {
            let group = list.take(policy);
            below.push((now + delay, group));
        }
    }
}

proptest! {
    #[test]
    fn a_driver_does_what_its_twin_does(
        drawn in prop::collection::vec((0..20_u64, 0..60_u64, 1..9_u32, 0..4_u8), 1..60),
        most in 1..4_usize,
        policy in prop::sample::select(vec![FCFS, C_LOOK, SSTF]),
        join in prop::sample::select(vec![0_u64, 8, 20]),
        urgent in any::<bool>(),
    ) {
        let mut now = 0;
        // Reads alone may be joined past one another; no two instants are the same.
        let requests: Vec<Asked> = (1..).zip(&drawn).map(|(number, &(gap, lbn, blocks, class))| {
            now += gap;
            let mut asked = at(0, Read, lbn * 4, blocks);
            asked.at = Time::from_ns(now * 1_000_000 + number);
            asked.class = match class { 0 => Class::Critical, 1 => Class::Limited, _ => Class::Plain };
            asked
        }).collect();
        let rule = if join == 0 { None } else { joins(join, true, true) };
        let mut lanes = Lanes::new(scheduler(policy), rule);
        if urgent {
            lanes = lanes.with_urgent(scheduler(policy));
        }
        let (_, mut ended) = run(Fake::new(1_000, 7), Some(most as u32), lanes, &requests);
        ended.sort_by_key(|one| one.sequence);
        let found: Vec<u64> = ended.iter().map(|one| one.completion.ns()).collect();
        let expected = naive(&requests, 7_000_000, most, policy, join, urgent);
        prop_assert_eq!(found, expected);
    }
}
