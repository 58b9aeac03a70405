//! What is in front of a drive's queue: the host, a cache if there is one, and what they tell each other within an instant.

use std::collections::VecDeque;

use super::cached::Cache;
use super::specs::{Asked, Case};
use crate::support::twins::Host;

pub struct Front<'a> {
    pub disk: &'a Case,
    pub cache: Option<Cache<'a>>,
    /// The requests of the host, and behind them those of the cache.
    pub requests: Vec<Asked>,
    /// What happens in this instant still, in this order.
    pub messages: VecDeque<Message>,
    pub host: Host,
    pub completions: Vec<Option<u64>>,
}

/// What happens within an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// A request of the host comes to the drive.
    Arrives(usize),
    /// A request is complete: who made it hears of that.
    Ended(usize),
}

impl<'a> Front<'a> {
    pub fn new(disk: &'a Case) -> Front<'a> {
        Front {
            disk,
            cache: disk.cache.as_ref().map(Cache::new),
            requests: disk.requests.clone(),
            messages: VecDeque::new(),
            host: Host::new(disk.users),
            completions: vec![None; disk.requests.len()],
        }
    }

    /// The host issues what is due, or answers what it has heard.
    pub fn issue(&mut self, now: u64) {
        let issued = self.host.issues(&self.disk.requests, now);
        self.messages.extend(issued.map(Message::Arrives));
    }

    pub fn next_arrival(&self) -> Option<u64> {
        self.host.next_arrival(&self.disk.requests)
    }

    pub fn is_of_host(&self, request: usize) -> bool {
        request < self.disk.requests.len()
    }

    /// Requests that have ended in this instant, and of which those who made them have not heard yet.
    pub fn unheard(&self) -> impl Iterator<Item = usize> {
        self.messages.iter().filter_map(|message| match message {
            Message::Ended(request) => Some(*request),
            Message::Arrives(_) => None,
        })
    }

    pub fn dirty_blocks(&self) -> u64 {
        self.cache.as_ref().map_or(0, Cache::dirty_blocks)
    }
}
