//! Waits for sockets and for instants.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};

/// The name of the timer among what the poller looks at.
const TIMER: u64 = u64::MAX;
const NONE: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 0,
};

/// A look at everything at once. Its timer is exact: waits with a limit of time are rounded up by the system, by 50 µs and more.
pub struct Poller {
    epoll: OwnedFd,
    timer: OwnedFd,
    is_armed: bool,
    events: Vec<Event>,
}

/// What is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    /// Its name.
    pub name: u64,
    /// Something can be read, or it is over.
    pub readable: bool,
    /// Something can be written.
    pub writable: bool,
}

fn flags((reads, writes): (bool, bool)) -> EventFlags {
    let mut flags = EventFlags::empty();
    flags.set(EventFlags::IN | EventFlags::RDHUP, reads);
    flags.set(EventFlags::OUT, writes);
    flags
}

impl Poller {
    /// A poller that looks at nothing yet.
    pub fn new() -> io::Result<Poller> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let timer_flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let timer = timerfd_create(TimerfdClockId::Monotonic, timer_flags)?;
        epoll::add(
            &epoll,
            &timer,
            EventData::new_u64(TIMER),
            EventFlags::IN | EventFlags::ET,
        )?;
        Ok(Poller {
            epoll,
            timer,
            is_armed: false,
            events: Vec::with_capacity(256),
        })
    }

    /// Looks at something from now on, by a name, for reading and for writing.
    pub fn add(&self, fd: BorrowedFd<'_>, name: u64, interest: (bool, bool)) -> io::Result<()> {
        Ok(epoll::add(
            &self.epoll,
            fd,
            EventData::new_u64(name),
            flags(interest),
        )?)
    }

    /// Looks for something else of it.
    pub fn change(&self, fd: BorrowedFd<'_>, name: u64, interest: (bool, bool)) -> io::Result<()> {
        Ok(epoll::modify(
            &self.epoll,
            fd,
            EventData::new_u64(name),
            flags(interest),
        )?)
    }

    /// Looks at it no more.
    pub fn remove(&self, fd: BorrowedFd<'_>) {
        // It goes with the last of its descriptors anyway.
        let _ = epoll::delete(&self.epoll, fd);
    }

    fn arm(&mut self, ns: u64) -> io::Result<()> {
        let value = Itimerspec {
            it_interval: NONE,
            it_value: Timespec {
                tv_sec: (ns / 1_000_000_000) as i64,
                tv_nsec: (ns % 1_000_000_000) as i64,
            },
        };
        timerfd_settime(self.timer.as_fd(), TimerfdTimerFlags::empty(), &value)?;
        self.is_armed = ns > 0;
        Ok(())
    }

    /// What is ready, after a wait of at most `ns`.
    pub fn wait(&mut self, ns: u64) -> io::Result<Vec<Ready>> {
        if ns > 0 || self.is_armed {
            self.arm(ns)?;
        }
        let limit = (ns == 0).then_some(&NONE);
        self.events.clear();
        let buffer = rustix::buffer::spare_capacity(&mut self.events);
        match epoll::wait(&self.epoll, buffer, limit) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let mut ready = Vec::with_capacity(self.events.len());
        for event in &self.events {
            let (name, found) = (event.data.u64(), event.flags);
            if name == TIMER {
                continue;
            }
            let over = EventFlags::HUP | EventFlags::ERR | EventFlags::RDHUP;
            ready.push(Ready {
                name,
                readable: found.intersects(EventFlags::IN | over),
                writable: found.intersects(EventFlags::OUT),
            });
        }
        Ok(ready)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixStream;
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn waits_for_time_and_for_sockets() {
        let mut poller = Poller::new().expect("a poller");
        let (here, mut there) = UnixStream::pair().expect("a pair");
        poller.add(here.as_fd(), 7, (true, false)).expect("added");
        let started = Instant::now();
        assert_eq!(poller.wait(3_000_000).expect("a wait"), []);
        assert!(started.elapsed() >= Duration::from_millis(3));
        assert_eq!(poller.wait(0).expect("a look"), []);
        there.write_all(b"x").expect("written");
        let ready = poller.wait(10_000_000_000).expect("a wait");
        let expected = Ready {
            name: 7,
            readable: true,
            writable: false,
        };
        assert_eq!(ready, [expected]);
        poller
            .change(here.as_fd(), 7, (false, true))
            .expect("changed");
        let ready = poller.wait(0).expect("a look");
        assert!(ready[0].writable);
        poller.remove(here.as_fd());
        assert_eq!(poller.wait(0).expect("a look"), []);
    }
}
