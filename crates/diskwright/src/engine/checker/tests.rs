use super::*;
use crate::base::units::{Lbn, Time};

const DISK: DeviceId = DeviceId(0);

fn command(op: Op, lbn: u64, blocks: u32) -> Command {
    Command {
        op,
        fua: false,
        lbn: Lbn(lbn),
        blocks,
    }
}
fn done(command: Command) -> Request {
    let mut request = Request::new(command, Time::ZERO, None, DISK);
    request.outcome = Some(Outcome::Ok);
    request
}
fn end(checker: &mut Checker, id: u32, command: Command) {
    checker.completed(RequestId(id), &done(command));
}

#[test]
fn a_read_after_an_acknowledged_write_must_see_it() {
    let mut checker = Checker::default();
    let (write, read) = (command(Op::Write, 10, 2), command(Op::Read, 11, 2));
    checker.issued(RequestId(0), &write);
    checker.wrote(DISK, RequestId(0), 0, 10, 2);
    end(&mut checker, 0, write);
    checker.issued(RequestId(1), &read);
    checker.read(DISK, RequestId(1), 0, 11, 2);
    end(&mut checker, 1, read);
    assert_eq!(checker.faults(), &[] as &[String]);
    // A second read that is served nothing from the medium sees version 0 of block 11: stale.
    checker.issued(RequestId(2), &read);
    end(&mut checker, 2, read);
    assert_eq!(checker.fault_count(), 1);
    assert!(
        checker.faults()[0].contains("block 11"),
        "{:?}",
        checker.faults()
    );
}

#[test]
fn an_acknowledged_write_that_never_reached_the_medium_is_found() {
    let mut checker = Checker::default();
    let (write, read) = (command(Op::Write, 0, 1), command(Op::Read, 0, 1));
    checker.issued(RequestId(0), &write);
    end(&mut checker, 0, write);
    checker.issued(RequestId(1), &read);
    checker.read(DISK, RequestId(1), 0, 0, 1);
    end(&mut checker, 1, read);
    assert_eq!(checker.fault_count(), 1);
}

#[test]
fn writes_outstanding_together_may_take_effect_in_either_order() {
    for order in [[0, 1], [1, 0]] {
        let mut checker = Checker::default();
        let (write, read) = (command(Op::Write, 5, 1), command(Op::Read, 5, 1));
        checker.issued(RequestId(0), &write);
        checker.issued(RequestId(1), &write);
        for id in order {
            checker.wrote(DISK, RequestId(id), 0, 5, 1);
            end(&mut checker, id, write);
        }
        checker.issued(RequestId(2), &read);
        checker.read(DISK, RequestId(2), 0, 5, 1);
        end(&mut checker, 2, read);
        assert_eq!(checker.fault_count(), 0);
    }
}

#[test]
fn a_read_that_overlaps_a_write_may_see_the_old_version_but_a_later_one_may_not() {
    let mut checker = Checker::default();
    let (write, read) = (command(Op::Write, 5, 1), command(Op::Read, 5, 1));
    checker.issued(RequestId(0), &read);
    checker.issued(RequestId(1), &write);
    checker.wrote(DISK, RequestId(1), 0, 5, 1);
    end(&mut checker, 1, write);
    checker.open.get_mut(&RequestId(0)).unwrap().payload[0] = 0;
    end(&mut checker, 0, read);
    assert_eq!(checker.fault_count(), 0);
    checker.issued(RequestId(2), &read);
    checker.open.get_mut(&RequestId(2)).unwrap().payload[0] = 0;
    end(&mut checker, 2, read);
    assert_eq!(checker.fault_count(), 1);
}

/// Two writes of a block, the second of which never reaches the medium; then a power cut.
fn lost_write(promise: Promise, fua: bool, flush: bool) -> u64 {
    let mut checker = Checker::new(promise);
    let write = Command {
        fua,
        ..command(Op::Write, 7, 1)
    };
    checker.issued(RequestId(0), &write);
    checker.wrote(DISK, RequestId(0), 0, 7, 1);
    end(&mut checker, 0, write);
    checker.issued(RequestId(1), &write);
    end(&mut checker, 1, write);
    if flush {
        let flush = command(Op::Flush, 0, 0);
        checker.issued(RequestId(2), &flush);
        end(&mut checker, 2, flush);
    }
    checker.power_cut(|lbn, media| media.push(Some((DISK, lbn))));
    checker.fault_count()
}

#[test]
fn a_power_cut_may_lose_a_write_only_while_it_is_not_promised() {
    assert_eq!(lost_write(Promise::AfterFlush, false, false), 0);
    assert_eq!(lost_write(Promise::AfterFlush, false, true), 1);
    assert_eq!(lost_write(Promise::AfterFlush, true, false), 1);
    assert_eq!(lost_write(Promise::Durable, false, false), 1);
}

#[test]
fn a_flush_promises_what_was_acknowledged_before_it_was_issued_and_nothing_later() {
    let mut checker = Checker::new(Promise::AfterFlush);
    let (write, flush) = (command(Op::Write, 7, 1), command(Op::Flush, 0, 0));
    checker.issued(RequestId(0), &flush);
    checker.issued(RequestId(1), &write);
    end(&mut checker, 1, write);
    end(&mut checker, 0, flush);
    checker.power_cut(|lbn, media| media.push(Some((DISK, lbn))));
    assert_eq!(checker.fault_count(), 0);
}

#[test]
fn parts_that_do_not_add_up_and_second_completions_are_found() {
    let mut checker = Checker::default();
    let read = command(Op::Read, 0, 1);
    checker.issued(RequestId(0), &read);
    let mut request = done(read);
    request.completion = Time::from_ms(1);
    checker.completed(RequestId(0), &request);
    checker.completed(RequestId(0), &request);
    assert_eq!(checker.fault_count(), 2);
}

/// A write that a cache keeps, and that a child's request takes to the medium after a newer write came into the cache.
fn destaged(snapshot: bool) -> Checker {
    const FRAMES: u32 = 9;
    let mut checker = Checker::new(Promise::AfterFlush);
    let write = command(Op::Write, 10, 2);
    checker.issued(RequestId(0), &write);
    checker.buffered(DISK, FRAMES, RequestId(0), 10, 2);
    end(&mut checker, 0, write);
    if snapshot {
        checker.copied(DISK, FRAMES, 1, 10, 2);
    }
    checker.dropped(DISK, FRAMES, 11, 1);
    checker.submitted(RequestId(5), &write);
    let from = if snapshot { 1 } else { FRAMES };
    checker.read_buffered(DISK, from, RequestId(5), 10, 2);
    checker.wrote(DISK, RequestId(5), 0, 10, 2);
    checker.ended(RequestId(5), &done(write));
    checker
}

#[test]
fn a_destage_carries_what_its_segment_had_and_nothing_else() {
    let mut kept = destaged(true);
    let read = command(Op::Read, 11, 1);
    kept.issued(RequestId(1), &read);
    kept.submitted(RequestId(6), &read);
    kept.read(DISK, RequestId(6), 0, 11, 1);
    kept.carried(RequestId(6), RequestId(1), 11, 1);
    kept.ended(RequestId(6), &done(read));
    end(&mut kept, 1, read);
    assert_eq!(kept.faults(), &[] as &[String]);
    assert_eq!(
        kept.checked(),
        2,
        "requests between devices are not the host's"
    );
    let lost = destaged(false);
    assert!(lost.faults()[0].contains("block 11"), "{:?}", lost.faults());
}

#[test]
fn a_request_between_devices_must_add_up_and_be_under_way() {
    let mut checker = Checker::default();
    let read = command(Op::Read, 0, 1);
    checker.submitted(RequestId(0), &read);
    let mut request = done(read);
    request.completion = Time::from_ms(1);
    checker.ended(RequestId(0), &request);
    checker.ended(RequestId(0), &request);
    checker.carried(RequestId(0), RequestId(1), 0, 1);
    assert_eq!(checker.fault_count(), 3);
}

/// A read that is served this version of a block: is it found stale?
fn is_stale(checker: &mut Checker, lbn: u64, version: Version) -> bool {
    let (id, read) = (RequestId(99), command(Op::Read, lbn, 1));
    let before = checker.fault_count();
    checker.issued(id, &read);
    checker.set_content(id, lbn, version);
    end(checker, 99, read);
    checker.fault_count() > before
}
fn ends_badly(checker: &mut Checker, id: u32, command: Command) {
    let mut request = done(command);
    request.outcome = Some(Outcome::MediaError);
    checker.completed(RequestId(id), &request);
}
/// Writes a block and what the medium has of it.
fn written(checker: &mut Checker, lbn: u64) {
    let write = command(Op::Write, lbn, 1);
    checker.issued(RequestId(98), &write);
    checker.wrote(DISK, RequestId(98), 0, lbn, 1);
    end(checker, 98, write);
}

#[test]
fn a_failed_write_may_be_seen_until_a_later_one_replaces_it() {
    let mut checker = Checker::default();
    written(&mut checker, 5);
    let write = command(Op::Write, 5, 1);
    checker.issued(RequestId(0), &write);
    ends_badly(&mut checker, 0, write);
    assert!(!is_stale(&mut checker, 5, 1) && !is_stale(&mut checker, 5, 2));
    written(&mut checker, 5);
    assert!(is_stale(&mut checker, 5, 1) && is_stale(&mut checker, 5, 2));
    assert!(!is_stale(&mut checker, 5, 3));
}

#[test]
fn a_failure_or_a_trim_does_not_end_a_write_beside_it() {
    for op in [Op::Write, Op::Trim] {
        let mut checker = Checker::default();
        let (beside, write) = (command(op, 5, 1), command(Op::Write, 5, 1));
        checker.issued(RequestId(0), &beside);
        checker.issued(RequestId(1), &write);
        match op {
            Op::Trim => end(&mut checker, 0, beside),
            _ => ends_badly(&mut checker, 0, beside),
        }
        // This one overlaps with the write, which may come after it.
        written(&mut checker, 5);
        end(&mut checker, 1, write);
        assert!(!is_stale(&mut checker, 5, 2) && !is_stale(&mut checker, 5, 3));
    }
}

#[test]
fn what_a_trim_left_may_be_anything_older_until_a_later_write_replaces_it() {
    let mut checker = Checker::default();
    written(&mut checker, 5);
    let trim = command(Op::Trim, 5, 1);
    checker.issued(RequestId(0), &trim);
    end(&mut checker, 0, trim);
    assert!(!is_stale(&mut checker, 5, 0) && !is_stale(&mut checker, 5, 1));
    written(&mut checker, 5);
    assert!(is_stale(&mut checker, 5, 0) && is_stale(&mut checker, 5, 1));
    assert!(!is_stale(&mut checker, 5, 3));
}

#[test]
fn a_trim_that_is_complete_says_nothing_of_another_one() {
    for outcome in [Outcome::Ok, Outcome::MediaError] {
        let mut checker = Checker::default();
        let trim = command(Op::Trim, 5, 1);
        checker.issued(RequestId(10), &trim);
        checker.issued(RequestId(11), &trim);
        let mut ended = done(trim);
        ended.outcome = Some(outcome);
        checker.completed(RequestId(11), &ended);
        // The first one may take effect after the write.
        written(&mut checker, 5);
        assert!(!is_stale(&mut checker, 5, 0), "{outcome:?}");
        end(&mut checker, 10, trim);
        assert!(!is_stale(&mut checker, 5, 0), "{outcome:?}");
        written(&mut checker, 5);
        assert!(is_stale(&mut checker, 5, 0), "{outcome:?}");
    }
}

#[test]
fn a_block_that_was_never_written_is_empty() {
    let mut checker = Checker::default();
    assert!(!is_stale(&mut checker, 5, 0) && is_stale(&mut checker, 5, 1));
}

#[test]
fn a_power_cut_leaves_what_no_promised_write_has_replaced() {
    let mut checker = Checker::new(Promise::Durable);
    written(&mut checker, 5);
    assert_eq!(checker.last_change(), 1);
    assert!(checker.may_be_left(5, 1) && !checker.may_be_left(5, 0));
    assert!(checker.may_be_left(6, 0));
    let trim = command(Op::Trim, 5, 1);
    checker.issued(RequestId(0), &trim);
    assert!(checker.may_be_left(5, 0), "a trim may leave anything");
    assert_eq!((checker.held((DISK, 5)), checker.held((DISK, 6))), (1, 0));
}

/// Blocks 5 and 6: a write that was flushed, and one that was not; then the power fails, and returns.
fn settled(holders: impl Fn(u64, &mut Vec<Option<(DeviceId, u64)>>)) -> Checker {
    let mut checker = Checker::new(Promise::AfterFlush);
    written(&mut checker, 5);
    let (flush, write) = (command(Op::Flush, 0, 0), command(Op::Write, 5, 2));
    checker.issued(RequestId(0), &flush);
    end(&mut checker, 0, flush);
    checker.issued(RequestId(1), &write);
    end(&mut checker, 1, write);
    checker.power_cut(&holders);
    assert_eq!(checker.faults(), &[] as &[String]);
    checker.settle(holders);
    checker
}

#[test]
fn when_the_power_returns_blocks_are_what_the_media_have() {
    let mut checker = settled(|lbn, media| media.push(Some((DISK, lbn))));
    assert!(!is_stale(&mut checker, 5, 1) && is_stale(&mut checker, 5, 2));
    assert!(!is_stale(&mut checker, 6, 0) && is_stale(&mut checker, 6, 2));
}

#[test]
fn when_the_power_returns_blocks_without_a_medium_are_what_may_be_left() {
    let mut checker = settled(|_, _| {});
    assert!(!is_stale(&mut checker, 5, 1) && !is_stale(&mut checker, 5, 2));
    assert!(is_stale(&mut checker, 5, 0));
    assert!(!is_stale(&mut checker, 6, 0) && !is_stale(&mut checker, 6, 2));
}

#[test]
fn what_a_power_cut_lost_is_told_once() {
    let mut checker = Checker::new(Promise::Durable);
    written(&mut checker, 5);
    let write = command(Op::Write, 5, 1);
    checker.issued(RequestId(0), &write);
    end(&mut checker, 0, write);
    let holders = |lbn, media: &mut Vec<_>| media.push(Some((DISK, lbn)));
    checker.power_cut(holders);
    assert_eq!(checker.fault_count(), 1);
    checker.settle(holders);
    assert!(!is_stale(&mut checker, 5, 1) && is_stale(&mut checker, 5, 2));
}

#[test]
fn a_promised_write_that_is_nowhere_after_a_power_cut_is_found() {
    for place in [None, Some((DISK, 5))] {
        let mut checker = Checker::new(Promise::Durable);
        let write = command(Op::Write, 5, 1);
        checker.issued(RequestId(0), &write);
        end(&mut checker, 0, write);
        checker.power_cut(|_, media| media.push(place));
        assert_eq!(checker.fault_count(), 1, "{place:?}");
        assert!(checker.faults()[0].contains("holds version 0"));
    }
}

#[test]
fn each_block_is_what_its_own_media_have_when_the_power_returns() {
    let mut checker = Checker::new(Promise::AfterFlush);
    // Of two writes of two blocks each has reached the medium with one.
    let write = command(Op::Write, 5, 2);
    for (id, lbn) in [(0, 5), (1, 6)] {
        checker.issued(RequestId(id), &write);
        checker.wrote(DISK, RequestId(id), lbn as u32 - 5, lbn, 1);
        end(&mut checker, id, write);
    }
    let holders = |lbn, media: &mut Vec<_>| media.push(Some((DISK, lbn)));
    checker.power_cut(holders);
    assert_eq!(checker.faults(), &[] as &[String]);
    checker.settle(holders);
    assert!(!is_stale(&mut checker, 5, 1) && is_stale(&mut checker, 5, 2));
    assert!(is_stale(&mut checker, 6, 1) && !is_stale(&mut checker, 6, 2));
}

#[test]
fn segments_are_empty_when_the_power_returns() {
    let mut checker = Checker::new(Promise::AfterFlush);
    let write = command(Op::Write, 5, 1);
    checker.issued(RequestId(0), &write);
    checker.buffered(DISK, 0, RequestId(0), 5, 1);
    end(&mut checker, 0, write);
    checker.settle(|lbn, media| media.push(Some((DISK, lbn))));
    let read = command(Op::Read, 5, 1);
    checker.issued(RequestId(1), &read);
    checker.read_buffered(DISK, 0, RequestId(1), 5, 1);
    assert_eq!(checker.fault_count(), 1);
    assert!(checker.faults()[0].contains("never held it"));
}

#[test]
fn versions_that_can_never_be_seen_again_are_forgotten() {
    let mut checker = Checker::new(Promise::Durable);
    for _ in 0..5 {
        written(&mut checker, 5);
        assert_eq!(checker.blocks[&5].len(), 1);
    }
}

#[test]
fn a_block_of_a_request_carries_what_it_was_given() {
    let mut checker = Checker::default();
    let write = command(Op::Write, 10, 2);
    checker.issued(RequestId(0), &write);
    checker.set_content(RequestId(0), 11, 7);
    let content = [10, 11].map(|lbn| checker.content(RequestId(0), lbn));
    assert_eq!(content, [Some(1), Some(7)]);
    assert_eq!(checker.content(RequestId(1), 10), None);
    checker.submitted(RequestId(2), &write);
    let of_child = checker.content(RequestId(2), 10);
    assert_eq!(
        of_child,
        Some(0),
        "a request to a child carries nothing yet"
    );
    assert_eq!(checker.fault_count(), 0);
    checker.set_content(RequestId(1), 10, 7);
    assert_eq!(checker.fault_count(), 1);
}

#[test]
fn what_a_device_reports_as_wrong_is_not_stale() {
    let mut checker = Checker::default();
    let read = command(Op::Read, 5, 2);
    checker.issued(RequestId(0), &read);
    for lbn in [5, 6] {
        checker.set_content(RequestId(0), lbn, 9);
    }
    checker.excuse(RequestId(0), 6);
    end(&mut checker, 0, read);
    assert_eq!(checker.fault_count(), 1);
    assert!(checker.faults()[0].contains("block 5"));
}

#[test]
fn blocks_move_on_a_medium_and_go() {
    let mut checker = Checker::default();
    // Versions 1 to 3 in blocks 10 to 12.
    (10..13).for_each(|lbn| written(&mut checker, lbn));
    let held = |checker: &Checker, lbns: [u64; 4]| lbns.map(|lbn| checker.held((DISK, lbn)));
    checker.moved_on_medium(DISK, 11, 21, 3);
    assert_eq!(held(&checker, [20, 21, 22, 23]), [0, 2, 3, 0]);
    checker.cleared(DISK, 10, 2);
    assert_eq!(held(&checker, [10, 11, 12, 13]), [0, 0, 3, 0]);
}

#[test]
fn a_segment_gives_and_takes_what_it_has() {
    const SEGMENT: u32 = 3;
    let mut checker = Checker::default();
    let write = command(Op::Write, 10, 2);
    checker.issued(RequestId(0), &write);
    checker.buffered(DISK, SEGMENT, RequestId(0), 10, 2);
    checker.drained(DISK, SEGMENT, 10, 2);
    assert_eq!(
        [9, 10, 11, 12].map(|lbn| checker.held((DISK, lbn))),
        [0, 1, 1, 0]
    );
    end(&mut checker, 0, write);
    checker.filled(DISK, SEGMENT, 11, 2);
    let read = command(Op::Read, 11, 2);
    checker.issued(RequestId(1), &read);
    checker.read_buffered(DISK, SEGMENT, RequestId(1), 11, 2);
    let content = [11, 12].map(|lbn| checker.content(RequestId(1), lbn));
    assert_eq!(content, [Some(1), Some(0)]);
    end(&mut checker, 1, read);
    assert_eq!(checker.fault_count(), 0);
    checker.drained(DISK, SEGMENT, 13, 1);
    assert_eq!(checker.fault_count(), 1, "it never held the block");
}

#[test]
fn a_request_that_ended_with_the_power_may_be_issued_again() {
    let mut checker = Checker::default();
    let read = command(Op::Read, 0, 1);
    checker.submitted(RequestId(0), &read);
    checker.forget(RequestId(0));
    checker.submitted(RequestId(0), &read);
    assert_eq!(checker.fault_count(), 0);
    checker.submitted(RequestId(0), &read);
    assert_eq!(checker.fault_count(), 1);
}

#[test]
fn instants_out_of_order_are_found() {
    let mut checker = Checker::default();
    let read = command(Op::Read, 0, 1);
    checker.issued(RequestId(0), &read);
    let mut request = done(read);
    request.acceptance = Time::from_ms(1);
    checker.completed(RequestId(0), &request);
    assert_eq!(checker.fault_count(), 1);
    assert!(checker.faults()[0].contains("out of order"));
}

#[test]
fn the_first_faults_are_described_and_all_are_counted() {
    let mut checker = Checker::default();
    for number in 0..DESCRIBED + 5 {
        checker.found(format!("fault {number}"));
    }
    assert_eq!(checker.fault_count(), DESCRIBED as u64 + 5);
    assert_eq!(checker.faults().len(), DESCRIBED);
    assert_eq!(checker.faults()[0], "fault 0");
}
