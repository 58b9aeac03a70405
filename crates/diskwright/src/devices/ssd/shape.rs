//! How the flash of a drive is divided, as its picture shows it.

use crate::models::flash::geometry::Geometry;

/// The most rows of workers: neighbours share one where there are more.
const ROWS: u32 = 64;

/// How the flash is divided, as a picture shows it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub geometry: Geometry,
    /// Planes of what does one thing at a time.
    pub planes_of_worker: u32,
    /// A plane with fewer free blocks is cleaned.
    pub cleaned_below: u32,
    /// It has parity over its dies.
    pub has_parity: bool,
}

impl Shape {
    pub fn workers(&self) -> u32 {
        self.geometry.all_planes() / self.planes_of_worker
    }

    pub fn workers_of_channel(&self) -> u32 {
        self.geometry.planes_of_channel() / self.planes_of_worker
    }

    /// What does one thing at a time.
    pub fn worker(&self) -> &'static str {
        match self.planes_of_worker {
            planes if planes == self.geometry.planes => "die",
            1 => "plane",
            _ => "package",
        }
    }

    /// The channel of a worker, and its row.
    pub fn rows_of(&self, worker: u32) -> (usize, usize) {
        let channel = worker / self.workers_of_channel();
        (channel as usize, (worker / self.workers_of_row()) as usize)
    }

    /// Workers that share a row.
    pub fn workers_of_row(&self) -> u32 {
        self.workers().div_ceil(ROWS)
    }
}
