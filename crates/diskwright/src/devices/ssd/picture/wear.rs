//! How often the blocks of a drive have been erased, by their places.

use serde_json::{Value, json};

use crate::devices::ssd::shape::Shape;
use crate::models::flash::blocks::{BlockState, Blocks};

/// The most rows, each of neighbouring planes, and the most columns, each of neighbouring blocks of them.
const ROWS: u32 = 128;
const COLUMNS: u32 = 128;

/// `wear`: the `mean` and the `most` erases of the blocks in each cell, a list for each row; a row is `planes_of_row` planes, a column
/// `blocks_of_column` blocks of each. Blocks that never could hold data do not count; a cell without any other has null.
pub(super) fn wear(shape: &Shape, blocks: &Blocks) -> Value {
    let geometry = &shape.geometry;
    let planes_of_row = geometry.all_planes().div_ceil(ROWS);
    let blocks_of_column = geometry.blocks.div_ceil(COLUMNS);
    let columns = geometry.blocks.div_ceil(blocks_of_column) as usize;
    let rows = geometry.all_planes().div_ceil(planes_of_row) as usize;
    let mut cells = vec![vec![Cell::default(); columns]; rows];
    for plane in 0..geometry.all_planes() {
        let (_, of_plane) = blocks.of_plane(plane);
        for (place, block) in (0..).zip(of_plane) {
            if block.state != BlockState::Bad || block.erases > 0 {
                let row = &mut cells[(plane / planes_of_row) as usize];
                row[(place / blocks_of_column) as usize].add(block.erases);
            }
        }
    }
    let of = |value: &dyn Fn(&Cell) -> Value| -> Value {
        let rows = cells.iter();
        rows.map(|row| row.iter().map(value).collect::<Value>())
            .collect()
    };
    json!({
        "planes_of_row": planes_of_row,
        "blocks_of_column": blocks_of_column,
        "mean": of(&|cell| json!((cell.blocks > 0).then(|| cell.erases as f64 / cell.blocks as f64))),
        "most": of(&|cell| json!((cell.blocks > 0).then_some(cell.most))),
    })
}

/// Blocks that are shown together.
#[derive(Clone, Copy, Default)]
struct Cell {
    blocks: u64,
    erases: u64,
    most: u32,
}

impl Cell {
    fn add(&mut self, erases: u32) {
        self.blocks += 1;
        self.erases += u64::from(erases);
        self.most = self.most.max(erases);
    }
}
