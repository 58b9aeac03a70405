//! One drive alone with one request at a time: what a measurement turns its hands to.

use std::ops::ControlFlow;

use crate::base::error::Error;
use crate::base::units::{Lbn, Time};
use crate::devices::hdd::drive::Drive;
use crate::devices::hdd::spec::buffer::BufferSpec;
use crate::engine::request::{Command, Op, Part, Parts, RequestId};
use crate::engine::{Engine, Initiator, Port, Token};
use crate::models::geometry::layout::Layout;
use crate::runs::alone::alone;

/// A drive on the engine, whose requests are all that happens to it.
///
/// Times come from the requests that the running drive completes; the layout only tells, as a drive does when it is asked
/// for the place of an address, which sectors to ask for.
pub struct Bench {
    engine: Engine,
    layout: Layout,
    blocks_per_sector: u32,
}

/// A request that was served.
#[derive(Clone, Copy, Debug)]
pub struct ProbedRequest {
    /// From issue to completion.
    pub response: Time,
    /// How that divides; the parts add up to it.
    pub parts: Parts,
}

impl ProbedRequest {
    /// Seek, head switch and settle: until the head is over the track and at rest.
    pub fn motion(&self) -> Time {
        self.parts.access() - self.parts.get(Part::Rotation)
    }
    /// From the first motion to the last sector's end: neither overheads nor interface.
    pub fn mechanical(&self) -> Time {
        self.parts.access() + self.parts.get(Part::Transfer)
    }
}

impl Bench {
    /// A drive at rest at time zero, without its buffer: every request is an access to the medium.
    ///
    /// # Errors
    /// A drive that needs more memory than there is.
    pub fn new(drive: Drive) -> Result<Bench, Error> {
        Ok(Bench {
            layout: drive.hardware.mechanics.layout.clone(),
            blocks_per_sector: drive.hardware.blocks_per_sector,
            engine: alone(drive, BufferSpec::Off)?,
        })
    }

    /// When the last request was complete.
    pub fn now(&self) -> Time {
        self.engine.now()
    }

    /// Where sectors are.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// 512-byte blocks in a sector.
    pub fn blocks_per_sector(&self) -> u32 {
        self.blocks_per_sector
    }

    /// Reads a sector as soon as the request before is complete.
    ///
    /// # Errors
    /// Those of [`Engine::run`].
    pub fn read(&mut self, sector: u64) -> Result<ProbedRequest, Error> {
        self.request(Time::ZERO, Op::Read, sector, 1)
    }

    /// Issues a request `pause` after the one before is complete, and waits for it.
    ///
    /// # Errors
    /// Those of [`Engine::run`].
    pub fn request(
        &mut self,
        pause: Time,
        op: Op,
        sector: u64,
        sectors: u32,
    ) -> Result<ProbedRequest, Error> {
        let command = Command {
            op,
            fua: false,
            lbn: Lbn(sector * u64::from(self.blocks_per_sector)),
            blocks: sectors * self.blocks_per_sector,
        };
        let mut exchange = Exchange {
            command,
            issue: self.now() + pause,
            served: None,
        };
        self.engine.run(&mut exchange)?;
        Ok(exchange
            .served
            .expect("the engine ends when every request is complete"))
    }
}

/// One request, from its issue to its completion.
struct Exchange {
    command: Command,
    issue: Time,
    served: Option<ProbedRequest>,
}

impl Initiator for Exchange {
    fn start(&mut self, port: &mut Port<'_>) -> Result<(), Error> {
        port.alarm(self.issue, Token::new(0, 0));
        Ok(())
    }

    fn alarm(&mut self, _token: Token, port: &mut Port<'_>) -> Result<(), Error> {
        port.submit(&self.command, port.now(), 0);
        Ok(())
    }

    fn completed(&mut self, request: RequestId, port: &mut Port<'_>) -> Result<(), Error> {
        let request = port.request(request);
        self.served = Some(ProbedRequest {
            response: request.response(),
            parts: request.parts,
        });
        Ok(())
    }

    fn power_lost(&mut self, _now: Time) {}

    fn tick(&mut self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::runs::simulation::drive;

    /// A drive of the library, ready to be measured.
    pub fn bench(name: &str) -> Bench {
        let drive = drive(name).expect("a drive of the library");
        Bench::new(drive).expect("a sound drive")
    }

    #[test]
    fn requests_follow_each_other_and_their_parts_add_up() {
        let mut bench = bench("ibm-18es");
        let first = bench.read(0).expect("served");
        let from = bench.now();
        assert_eq!(first.response, first.parts.total());
        let pause = Time::from_ms(100);
        let second = bench
            .request(pause, Op::Write, 1_000_000, 500)
            .expect("served");
        assert_eq!(bench.now(), from + pause + second.response);
        assert_eq!(second.response, second.parts.total());
        assert!(second.mechanical() > second.motion());
    }
}
