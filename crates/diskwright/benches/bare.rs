//! The disk's arithmetic in a bare loop: layout, seek table, rotation and a queue, no metrics, no abstraction.

use diskwright::base::random::Stream;
use diskwright::base::units::Time;
use diskwright::models::geometry::mechanics::{HeadPosition, Mechanics, Target};
use diskwright::runs::simulation::hardware;

struct Waiting {
    target: Target,
    angle: u32,
    span: u32,
    per_track: u32,
}

struct Load {
    address: Stream,
    op: Stream,
    aligned: u64,
}

impl Load {
    fn next(&mut self, mechanics: &Mechanics) -> Waiting {
        let lbn = self.address.below(self.aligned) * 8;
        let write = self.op.unit() >= 0.67;
        let run = mechanics.layout.run(lbn, 8);
        Waiting {
            target: mechanics.target(run, write),
            angle: run.angle,
            span: run.span,
            per_track: run.sectors_per_track,
        }
    }
}

fn serve(mechanics: &Mechanics, arm: &mut HeadPosition, now: Time, waiting: &Waiting) -> Time {
    let motion = mechanics.motion_time(*arm, waiting.target.arm(), waiting.target.write);
    let phase = mechanics.spindle.phase(now + motion);
    let (_, whole) = mechanics
        .spindle
        .pass(phase, waiting.angle, waiting.span, waiting.per_track);
    *arm = waiting.target.arm();
    now + motion + whole
}

/// Runs the load and returns the end of the last request.
pub fn run(scheduler: &str, depth: u32, light: bool, requests: u64) -> Time {
    let hardware = hardware("cheetah-9lp").expect("a drive of the library");
    let mechanics = &hardware.mechanics;
    let mut load = Load {
        address: Stream::new(1, "bare.address"),
        op: Stream::new(1, "bare.op"),
        aligned: mechanics.layout.sectors() / 8,
    };
    let mut arm = HeadPosition::default();
    let mut now = Time::ZERO;
    if light {
        let mut gaps = Stream::new(1, "bare.gaps");
        let mut arrival = Time::ZERO;
        for _ in 0..requests {
            arrival += gaps.exponential(Time::from_ms(20));
            let waiting = load.next(mechanics);
            now = serve(mechanics, &mut arm, now.max(arrival), &waiting);
        }
        return now;
    }
    let mut queue: Vec<Waiting> = (0..depth).map(|_| load.next(mechanics)).collect();
    for number in 0..requests {
        let next = if scheduler == "fcfs" {
            (number % u64::from(depth)) as usize
        } else {
            let phase = mechanics.spindle.phase(now);
            let rank = |i: &usize| mechanics.positioning(arm, phase, &queue[*i].target);
            (0..queue.len())
                .min_by_key(rank)
                .expect("the queue is never empty")
        };
        now = serve(mechanics, &mut arm, now, &queue[next]);
        queue[next] = load.next(mechanics);
    }
    now
}
