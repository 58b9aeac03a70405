//! Where on the device and when: requests and their response times by LBN and time.

use serde_json::{Value, json};

use super::bins::{Bins, Join, enough_for};
use crate::base::units::Time;
use crate::engine::request::{Op, Request};

/// The most bins of LBNs.
const ROWS: u64 = 160;
/// The most bins of the run's time.
const COLUMNS: usize = 200;

#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    count: u64,
    response_sum: u128,
}

/// The cells of one bin of time, the lowest LBNs first; none where nothing happened.
#[derive(Clone, Debug, Default)]
struct Column(Vec<Cell>);

impl Column {
    /// Joins neighbouring bins of LBNs.
    fn halve(&mut self) {
        for row in 0..self.0.len() {
            let cell = std::mem::take(&mut self.0[row]);
            let joined = &mut self.0[row / 2];
            joined.count += cell.count;
            joined.response_sum += cell.response_sum;
        }
    }

    fn cell(&mut self, row: usize) -> &mut Cell {
        if self.0.is_empty() {
            self.0.resize(ROWS as usize, Cell::default());
        }
        &mut self.0[row]
    }
}

impl Join for Column {
    fn join(&mut self, next: Column) {
        if self.0.is_empty() {
            *self = next;
            return;
        }
        for (cell, more) in self.0.iter_mut().zip(next.0) {
            cell.count += more.count;
            cell.response_sum += more.response_sum;
        }
    }
}

/// Reads and writes that ended well, by the LBN at which they begin and the time of their completion. Bins of LBNs
/// begin at 0 and are as wide as the highest LBN in use needs: they double as those of time do.
#[derive(Clone, Debug)]
pub struct Map {
    columns: Bins<Column>,
    blocks: u64,
    blocks_per_row: u64,
    count: u64,
}

impl Map {
    /// An empty map of a device of `blocks` blocks.
    pub fn new(blocks: u64) -> Map {
        Map {
            columns: Bins::new(COLUMNS),
            blocks,
            blocks_per_row: 1,
            count: 0,
        }
    }

    /// The start of the run, where the map begins.
    pub fn begin(&mut self, now: Time) {
        self.columns.at(now);
    }

    /// Adds a request that ended well.
    pub fn add(&mut self, request: &Request) {
        if !matches!(request.command.op, Op::Read | Op::Write) {
            return;
        }
        while request.command.lbn.0 / self.blocks_per_row >= ROWS {
            self.columns.each(Column::halve);
            self.blocks_per_row *= 2;
        }
        let row = request.command.lbn.0 / self.blocks_per_row;
        let cell = self.columns.at(request.completion).cell(row as usize);
        cell.count += 1;
        cell.response_sum += u128::from(request.response().ns());
        self.count += 1;
    }

    /// Where the cells lie, and a list for each property of those that hold a request: the bin of `time`, the bin of
    /// `lbn`, the `count` of requests and their mean response time.
    pub fn json(&self) -> Value {
        let columns = self.columns.clone().coarsened(enough_for(self.count));
        let cells = || {
            columns.iter().enumerate().flat_map(|(time, column)| {
                let cells = column.0.iter().enumerate();
                let filled = cells.filter(|(_, cell)| cell.count > 0);
                filled.map(move |(lbn, cell)| (time, lbn, cell))
            })
        };
        let mean = |cell: &Cell| cell.response_sum as f64 / cell.count as f64 / 1e6;
        json!({
            "start_s": columns.start().s(),
            "bin_s": columns.width().s(),
            "bins": columns.len(),
            "capacity_blocks": self.blocks,
            "bin_blocks": self.blocks_per_row,
            "time": cells().map(|(time, ..)| time).collect::<Vec<_>>(),
            "lbn": cells().map(|(_, lbn, _)| lbn).collect::<Vec<_>>(),
            "count": cells().map(|(.., cell)| cell.count).collect::<Vec<_>>(),
            "response_mean_ms": cells().map(|(.., cell)| mean(cell)).collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    use crate::base::random::Stream;
    use crate::base::units::Lbn;
    use crate::engine::request::{Command, DeviceId};

    fn request(op: Op, lbn: u64, arrival: Time, completion: Time) -> Request {
        let command = Command {
            op,
            fua: false,
            lbn: Lbn(lbn),
            blocks: 8,
        };
        let mut request = Request::new(command, arrival, None, DeviceId(0));
        request.completion = completion;
        request
    }

    #[test]
    fn a_request_is_where_it_belongs() {
        let mut map = Map::new(1_200);
        map.begin(Time::ZERO);
        map.add(&request(Op::Read, 0, Time::ZERO, Time::from_us(5)));
        map.add(&request(Op::Write, 1_199, Time::ZERO, Time::from_us(3)));
        map.add(&request(Op::Flush, 500, Time::ZERO, Time::from_us(3)));
        let json = map.json();
        assert_eq!((&json["bin_blocks"], &json["bins"]), (&json!(8), &json!(6)));
        assert_eq!(
            (&json["time"], &json["lbn"]),
            (&json!([3, 5]), &json!([149, 0]))
        );
        assert_eq!(json["response_mean_ms"], json!([0.003, 0.005]));
    }

    #[test]
    fn the_cells_add_up_to_the_run() {
        let blocks = 1_000_003;
        let mut stream = Stream::new(2, "map");
        let mut map = Map::new(blocks);
        let (mut now, mut responses) = (Time::ZERO, 0u128);
        for _ in 0..30_000 {
            now += Time::from_ns(stream.below(20_000_000));
            let response = Time::from_ns(stream.below(50_000_000).min(now.ns()));
            responses += u128::from(response.ns());
            map.add(&request(
                Op::Read,
                stream.below(blocks),
                now - response,
                now,
            ));
        }
        let cells = || map.columns.iter().flat_map(|column| &column.0);
        assert_eq!(cells().map(|cell| cell.count).sum::<u64>(), 30_000);
        assert_eq!(
            cells().map(|cell| cell.response_sum).sum::<u128>(),
            responses
        );
        assert!(map.columns.len() <= COLUMNS);
        let json = map.json();
        let count: u64 = json["count"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(Value::as_u64)
            .sum();
        assert_eq!(count, 30_000);
    }

    proptest! {
        #[test]
        fn widened_rows_are_as_if_wide_from_the_start(
            lbns in prop::collection::vec(prop_oneof![0u64..500, 0u64..1 << 40], 1..80),
        ) {
            let mut map = Map::new(1 << 40);
            for &lbn in &lbns {
                map.add(&request(Op::Read, lbn, Time::ZERO, Time::from_us(1)));
            }
            let highest = *lbns.iter().max().expect("at least one");
            let width = map.blocks_per_row;
            prop_assert!(highest / width < ROWS && (width == 1 || highest / (width / 2) >= ROWS));
            let cells = map.columns.iter().flat_map(|column| column.0.iter().enumerate());
            for (row, cell) in cells {
                let here = lbns.iter().filter(|&&lbn| lbn / width == row as u64).count();
                prop_assert_eq!(cell.count, here as u64);
                prop_assert_eq!(cell.response_sum, 1_000 * here as u128);
            }
        }
    }

    #[test]
    fn a_tiny_device_and_an_empty_run() {
        let mut map = Map::new(3);
        assert_eq!(map.json()["bins"], 0);
        map.add(&request(Op::Read, 2, Time::ZERO, Time::from_us(1)));
        assert_eq!(
            (&map.json()["bin_blocks"], &map.json()["lbn"]),
            (&json!(1), &json!([2]))
        );
    }
}
