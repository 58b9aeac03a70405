//! Submission queues of NVM Express, and the arbitration by which a controller fetches commands from them.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::InputError;

/// The most submission queues.
pub const MOST_QUEUES: u32 = 1024;
/// The largest weight: an octet of the standard, which counts from 0.
const MOST_WEIGHT: u32 = 256;

/// Submission queues, and how a controller chooses among them. Source: NVM Express Base Specification 1.4, 4.13 (Command Arbitration).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueuesDescription {
    /// How many: requests of the load's stream n are in queue n modulo this.
    #[schemars(range(min = 1, max = MOST_QUEUES))]
    pub count: u32,
    /// How many requests of a queue the drive serves at a time, at most; all that it serves where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub depth: Option<u32>,
    /// How many requests are fetched from a queue before the next one has its turn.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub burst: u32,
    /// Queues have classes, which share by weights; without them all queues are equal: round robin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<WeightsDescription>,
    /// The class of each queue, from the first one on; with `weights` only. The others are of class medium.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<QueueClass>,
}

fn one() -> u32 {
    1
}

/// How many requests are fetched from the queues of a class before the next class has its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WeightsDescription {
    /// Of class high.
    #[schemars(range(min = 1, max = MOST_WEIGHT))]
    pub high: u32,
    /// Of class medium.
    #[schemars(range(min = 1, max = MOST_WEIGHT))]
    pub medium: u32,
    /// Of class low.
    #[schemars(range(min = 1, max = MOST_WEIGHT))]
    pub low: u32,
}

/// The class of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum QueueClass {
    /// Before all others.
    Urgent,
    /// The first of those that share by weights.
    High,
    /// The second.
    Medium,
    /// The third.
    Low,
}

impl QueuesDescription {
    /// The queues, empty.
    ///
    /// # Errors
    /// No queues or too many; a depth, burst or weight of 0 or a weight that is too large; classes without weights, or more than queues.
    pub fn build<T>(&self) -> Result<SubmissionQueues<T>, InputError> {
        if !(1..=MOST_QUEUES).contains(&self.count) {
            let error = InputError::new(format!("{} submission queues", self.count));
            return Err(error.help(format!("accepted: 1 to {MOST_QUEUES}")));
        }
        for (what, number) in [("depth", self.depth.unwrap_or(1)), ("burst", self.burst)] {
            if number == 0 {
                let error = InputError::new(format!("submission queues with {what} = 0"));
                return Err(error.help("accepted: 1 or more"));
            }
        }
        let weights = self.weights.map(|by| [by.high, by.medium, by.low]);
        for weight in weights.into_iter().flatten() {
            if !(1..=MOST_WEIGHT).contains(&weight) {
                let error = InputError::new(format!("a class of weight {weight}"));
                return Err(error.help(format!("accepted: 1 to {MOST_WEIGHT}")));
            }
        }
        if weights.is_none() && !self.classes.is_empty() {
            let error = InputError::new("classes of submission queues without weights");
            return Err(error.help("weights = { high = …, medium = …, low = … } beside them"));
        }
        if self.classes.len() > self.count as usize {
            let what = format!("{} classes of {} queues", self.classes.len(), self.count);
            return Err(InputError::new(what).help("accepted: at most one for each queue"));
        }
        let class_of = |queue: u32| match (weights, self.classes.get(queue as usize)) {
            (None, _) => QueueClass::Urgent,
            (Some(_), given) => given.copied().unwrap_or(QueueClass::Medium),
        };
        let mut rings: [Ring; 4] = Default::default();
        for queue in 0..self.count {
            rings[class_of(queue) as usize].queues.push(queue);
        }
        Ok(SubmissionQueues {
            queues: (0..self.count).map(|_| Queue::default()).collect(),
            rings,
            weights: weights.unwrap_or([1; 3]),
            burst: self.burst,
            depth: self.depth.unwrap_or(u32::MAX),
            class: Turn::default(),
            waiting: 0,
        })
    }
}

/// Whose turn it is, and how much has been fetched in it.
#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    at: usize,
    fetched: u32,
}

/// Queues that take turns.
#[derive(Clone, Debug, Default)]
struct Ring {
    queues: Vec<u32>,
    turn: Turn,
}

#[derive(Clone, Debug)]
struct Queue<T> {
    waiting: VecDeque<T>,
    /// Requests that are served.
    served: u32,
    /// Requests that were fetched since it was last counted anew.
    fetched: u64,
}

impl<T> Default for Queue<T> {
    fn default() -> Queue<T> {
        Queue {
            waiting: VecDeque::new(),
            served: 0,
            fetched: 0,
        }
    }
}

/// Submission queues with what waits in them.
#[derive(Clone, Debug)]
pub struct SubmissionQueues<T> {
    queues: Vec<Queue<T>>,
    /// Those of class urgent, which are all queues without weights, high, medium and low.
    rings: [Ring; 4],
    weights: [u32; 3],
    burst: u32,
    depth: u32,
    class: Turn,
    waiting: usize,
}

impl<T> SubmissionQueues<T> {
    /// The queue of a stream.
    pub fn of_stream(&self, stream: u32) -> u32 {
        stream % self.queues.len() as u32
    }

    /// A request of a stream waits.
    pub fn push(&mut self, stream: u32, request: T) {
        let queue = self.of_stream(stream);
        self.queues[queue as usize].waiting.push_back(request);
        self.waiting += 1;
    }

    /// How many requests wait.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// How many of them could be fetched if the drive served any number.
    pub fn fetchable(&self) -> usize {
        let of_each = self.queues.iter().map(|queue| {
            let most = self.depth.saturating_sub(queue.served) as usize;
            queue.waiting.len().min(most)
        });
        of_each.sum()
    }

    /// The request that is fetched next, if one may be.
    pub fn fetch(&mut self) -> Option<T> {
        if self.waiting == 0 {
            return None;
        }
        let queue = self.next_of_ring(0).or_else(|| self.next_by_weight())?;
        let queue = &mut self.queues[queue as usize];
        queue.served += 1;
        queue.fetched += 1;
        self.waiting -= 1;
        queue.waiting.pop_front()
    }

    /// A request of a stream is not served any more.
    pub fn ended(&mut self, stream: u32) {
        let queue = self.of_stream(stream);
        self.queues[queue as usize].served -= 1;
    }

    fn may_give(&self, queue: u32) -> bool {
        let queue = &self.queues[queue as usize];
        !queue.waiting.is_empty() && queue.served < self.depth
    }

    /// The next queue of a class that has something: the one in turn while its burst lasts, else the next one behind it.
    fn next_of_ring(&mut self, ring: usize) -> Option<u32> {
        let Ring { queues, turn } = &self.rings[ring];
        let count = queues.len();
        let stays = count > 0 && turn.fetched < self.burst && self.may_give(queues[turn.at]);
        let at = match stays {
            true => turn.at,
            false => {
                let behind = (1..=count).map(|step| (turn.at + step) % count);
                { behind }.find(|&at| self.may_give(queues[at]))?
            }
        };
        let queue = queues[at];
        let turn = &mut self.rings[ring].turn;
        let fetched = if stays { turn.fetched + 1 } else { 1 };
        *turn = Turn { at, fetched };
        Some(queue)
    }

    /// The next queue of classes high, medium and low: of the one in turn while its weight lasts, else of the next one behind it.
    fn next_by_weight(&mut self) -> Option<u32> {
        let Turn { at, fetched } = self.class;
        if fetched < self.weights[at]
            && let Some(queue) = self.next_of_ring(1 + at)
        {
            self.class.fetched += 1;
            return Some(queue);
        }
        for step in 1..=3 {
            let at = (at + step) % 3;
            if let Some(queue) = self.next_of_ring(1 + at) {
                self.class = Turn { at, fetched: 1 };
                return Some(queue);
            }
        }
        None
    }

    /// How many requests were fetched from each queue since it was last counted anew.
    pub fn fetched(&self) -> impl Iterator<Item = u64> {
        self.queues.iter().map(|queue| queue.fetched)
    }

    /// Counts anew.
    pub fn count_anew(&mut self) {
        for queue in &mut self.queues {
            queue.fetched = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::Stream;

    fn described(count: u32, burst: u32) -> QueuesDescription {
        QueuesDescription {
            count,
            depth: None,
            burst,
            weights: None,
            classes: Vec::new(),
        }
    }

    fn weighted(burst: u32, weights: [u32; 3], classes: &[QueueClass]) -> QueuesDescription {
        let [high, medium, low] = weights;
        QueuesDescription {
            weights: Some(WeightsDescription { high, medium, low }),
            classes: classes.to_vec(),
            ..described(classes.len() as u32, burst)
        }
    }

    /// The order in which queues with `waiting` requests are served, for at most `most` requests.
    fn order(description: &QueuesDescription, waiting: &[usize], most: usize) -> Vec<u32> {
        let mut queues = description.build().expect("sound");
        for (queue, &count) in (0..).zip(waiting) {
            (0..count).for_each(|_| queues.push(queue, queue));
        }
        std::iter::from_fn(|| queues.fetch()).take(most).collect()
    }

    #[test]
    fn queues_take_turns_of_a_burst() {
        assert_eq!(order(&described(3, 1), &[2, 1, 3], 9), [0, 1, 2, 0, 2, 2]);
        assert_eq!(
            order(&described(2, 3), &[5, 4], 9),
            [0, 0, 0, 1, 1, 1, 0, 0, 1]
        );
    }

    #[test]
    fn urgent_goes_first_and_the_others_share_by_weights() {
        use QueueClass::{High, Low, Medium, Urgent};
        let by = weighted(1, [3, 2, 1], &[Low, Medium, High, Urgent]);
        let order = order(&by, &[40, 40, 40, 2], 14);
        assert_eq!(order, [3, 3, 2, 2, 2, 1, 1, 0, 2, 2, 2, 1, 1, 0]);
        // Two queues of a class take turns with their bursts within its weight.
        let by = weighted(2, [4, 1, 1], &[High, High, Low]);
        assert_eq!(
            self::order(&by, &[9, 9, 9], 10),
            [0, 0, 1, 1, 2, 0, 0, 1, 1, 2]
        );
    }

    #[test]
    fn a_queue_is_passed_over_while_as_many_are_served_as_it_is_deep() {
        let description = QueuesDescription {
            depth: Some(2),
            ..described(2, 9)
        };
        let mut queues = description.build().expect("sound");
        for request in 0..3 {
            queues.push(0, request);
        }
        assert_eq!((queues.waiting(), queues.fetchable()), (3, 2));
        assert_eq!(
            [queues.fetch(), queues.fetch(), queues.fetch()],
            [Some(0), Some(1), None]
        );
        queues.push(5, 9);
        assert_eq!((queues.waiting(), queues.fetchable()), (2, 1));
        assert_eq!([queues.fetch(), queues.fetch()], [Some(9), None]);
        queues.ended(0);
        assert_eq!([queues.fetch(), queues.fetch()], [Some(2), None]);
        assert_eq!(queues.fetched().collect::<Vec<_>>(), [3, 1]);
    }

    /// Rounds as the standard tells of them, each class and each queue with its credits, in loops over all.
    fn naive(description: &QueuesDescription, given: &[usize]) -> Vec<u32> {
        let class = |queue: usize| {
            let given = description.classes.get(queue).copied();
            given.unwrap_or(QueueClass::Medium)
        };
        let mut left = given.to_vec();
        let of = |wanted: QueueClass| -> Vec<usize> {
            (0..given.len())
                .filter(|&queue| class(queue) == wanted)
                .collect()
        };
        let mut order = Vec::new();
        // Of each class, the queue in turn and how much is left of its burst.
        let mut turns = [(0, description.burst); 4];
        let mut take = |wanted: QueueClass, left: &mut Vec<usize>| -> bool {
            let queues = of(wanted);
            if queues.iter().all(|&queue| left[queue] == 0) {
                return false;
            }
            let (at, burst) = &mut turns[wanted as usize];
            while *burst == 0 || left[queues[*at]] == 0 {
                (*at, *burst) = ((*at + 1) % queues.len(), description.burst);
            }
            *burst -= 1;
            left[queues[*at]] -= 1;
            order.push(queues[*at] as u32);
            true
        };
        let weights = description.weights.expect("weighted");
        while left.iter().any(|&left| left > 0) {
            while take(QueueClass::Urgent, &mut left) {}
            for (wanted, weight) in [
                (QueueClass::High, weights.high),
                (QueueClass::Medium, weights.medium),
                (QueueClass::Low, weights.low),
            ] {
                for _ in 0..weight {
                    if !take(wanted, &mut left) {
                        break;
                    }
                }
            }
        }
        order
    }

    #[test]
    fn random_queues_are_fetched_from_as_in_rounds() {
        use QueueClass::{High, Low, Medium, Urgent};
        for number in 0..2000 {
            let mut draw = Stream::new(number, "arbitration");
            let count = 1 + draw.below(6);
            let classes: Vec<QueueClass> = (0..count)
                .map(|_| [Urgent, High, Medium, Low][draw.below(4) as usize])
                .collect();
            let weights = [(); 3].map(|()| 1 + draw.below(5) as u32);
            let by = weighted(1 + draw.below(4) as u32, weights, &classes);
            let given: Vec<usize> = (0..count).map(|_| draw.below(30) as usize).collect();
            assert_eq!(
                order(&by, &given, usize::MAX),
                naive(&by, &given),
                "{by:?} {given:?}"
            );
        }
    }

    #[test]
    fn queues_without_sense_are_refused() {
        let sound = || weighted(1, [1, 1, 1], &[QueueClass::Low]);
        let refused = |change: fn(&mut QueuesDescription)| {
            let mut description = sound();
            change(&mut description);
            description.build::<u32>().expect_err("refused").to_string()
        };
        assert!(sound().build::<u32>().is_ok());
        assert!(refused(|by| by.count = 0).contains("0 submission queues"));
        assert!(refused(|by| by.count = MOST_QUEUES + 1).contains("1025 submission queues"));
        assert!(refused(|by| by.burst = 0).contains("burst = 0"));
        assert!(refused(|by| by.depth = Some(0)).contains("depth = 0"));
        assert!(refused(|by| by.weights = None).contains("without weights"));
        assert!(refused(|by| by.classes.push(QueueClass::High)).contains("2 classes of 1 queues"));
        assert!(refused(|by| by.weights.as_mut().expect("some").low = 257).contains("weight 257"));
    }
}
