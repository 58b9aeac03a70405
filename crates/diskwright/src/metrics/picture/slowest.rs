//! The slowest requests of a run, with the instants of their lives and what their times divide into.

use serde_json::{Map, Value, json};

use crate::engine::request::{Part, Request};

/// How many are kept.
pub const MOST: usize = 20;

/// The requests with the longest response times, the slowest first; of equal ones, those that were complete first.
#[derive(Clone, Debug, Default)]
pub struct Slowest(Vec<Request>);

impl Slowest {
    /// Takes in a request that is complete.
    pub fn add(&mut self, request: &Request) {
        let response = request.response();
        if self.0.len() == MOST {
            if self.0[MOST - 1].response() >= response {
                return;
            }
            self.0.pop();
        }
        let place = self.0.partition_point(|one| one.response() >= response);
        self.0.insert(place, request.clone());
    }

    /// The slowest.
    pub fn first(&self) -> Option<&Request> {
        self.0.first()
    }

    /// A list of requests, each with its instants in ns of simulated time, and the parts of its time from `start_ns` to `completion_ns`
    /// that are not zero.
    pub fn json(&self) -> Value {
        self.0.iter().map(of_request).collect()
    }
}

fn of_request(request: &Request) -> Value {
    let parts = Part::ALL.iter().zip(request.parts.all());
    let parts: Map<String, Value> = parts
        .filter(|(_, time)| time.ns() > 0)
        .map(|(part, time)| (part.name().to_owned(), json!(time.ns())))
        .collect();
    json!({
        "sequence": request.sequence,
        "op": request.command.op.name(),
        "lbn": request.command.lbn.0,
        "blocks": request.command.blocks,
        "arrival_ns": request.arrival.ns(),
        "issue_ns": request.issue.ns(),
        "acceptance_ns": request.acceptance.ns(),
        "start_ns": request.start.ns(),
        "completion_ns": request.completion.ns(),
        "parts_ns": parts,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::Stream;
    use crate::base::units::Time;
    use crate::engine::request::{Command, DeviceId};

    fn request(sequence: u64, response: u64) -> Request {
        let mut request = Request::new(Command::default(), Time::from_ns(7), None, DeviceId(0));
        request.sequence = sequence;
        request.completion = Time::from_ns(7 + response);
        request.parts.add(Part::Transfer, Time::from_ns(response));
        request
    }

    fn kept(slowest: &Slowest) -> Vec<(u64, u64)> {
        let kept = slowest.0.iter();
        kept.map(|request| (request.response().ns(), request.sequence))
            .collect()
    }

    #[test]
    fn they_are_those_of_a_sorted_list() {
        let mut stream = Stream::new(4, "slowest");
        for requests in [0, 1, 19, 20, 21, 3_000] {
            // Of few different times many are equal.
            let all: Vec<(u64, u64)> = (0..requests)
                .map(|sequence| (stream.below(200), sequence))
                .collect();
            let mut slowest = Slowest::default();
            for &(response, sequence) in &all {
                slowest.add(&request(sequence, response));
            }
            let mut sorted = all;
            sorted.sort_by_key(|&(response, sequence)| (std::cmp::Reverse(response), sequence));
            sorted.truncate(MOST);
            assert_eq!(kept(&slowest), sorted);
        }
    }

    #[test]
    fn parts_that_take_no_time_are_left_out() {
        let mut slowest = Slowest::default();
        slowest.add(&request(3, 12));
        let json = slowest.json();
        assert_eq!(json[0]["parts_ns"], json!({ "transfer": 12 }));
        assert_eq!(
            (&json[0]["arrival_ns"], &json[0]["completion_ns"]),
            (&json!(7), &json!(19))
        );
        assert_eq!(json[0]["sequence"], 3);
    }
}
