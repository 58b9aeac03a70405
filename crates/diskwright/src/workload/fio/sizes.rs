//! How large a job's requests are.

use crate::base::error::InputError;
use crate::base::units::{BLOCK_BYTES, Size};
use crate::workload::synthetic::{SizeByOperation, SizeShare, SizeSpec};

use super::ini::Setting;
use super::job::{READ, TRIM, WRITE};
use super::reading::Reading;
use super::values::{number, per_direction, percent, weighted};

/// Sizes of one direction and their shares.
pub type Table = Vec<(u64, f64)>;

impl Reading<'_> {
    /// The sizes of each direction, in blocks.
    pub fn sizes(&self) -> Result<[Table; 3], InputError> {
        let mut tables: [Table; 3] = std::array::from_fn(|_| vec![(4096 / BLOCK_BYTES, 1.0)]);
        if let Some(setting) = self.last(&["bs", "blocksize"]) {
            let text = setting.value.as_deref().unwrap_or("");
            for (table, size) in tables.iter_mut().zip(per_direction(text)) {
                if let Some(size) = size {
                    *table = vec![(self.size(setting, size)?, 1.0)];
                }
            }
            if text.is_empty() {
                return Err(self.file.wrong_value(setting, "a size such as 4k"));
            }
        }
        if let Some(setting) = self.last(&["bssplit"]) {
            let split = per_direction(setting.value.as_deref().unwrap_or(""));
            for (table, split) in tables.iter_mut().zip(split) {
                if let Some(split) = split {
                    *table = self.split(setting, split)?;
                }
            }
        }
        Ok(tables)
    }

    fn size(&self, setting: &Setting, text: &str) -> Result<u64, InputError> {
        let expected = || {
            self.file.wrong_value(
                setting,
                "sizes above 0, such as 4k, or 4k,64k for reads and writes",
            )
        };
        let bytes = number(text, self.base)
            .filter(|bytes| *bytes > 0)
            .ok_or_else(expected)?;
        self.blocks(setting, bytes)
    }

    /// `4k/10:64k/50:32k/`: what is left of 100 goes to those that say nothing, in equal parts.
    fn split(&self, setting: &Setting, text: &str) -> Result<Table, InputError> {
        let expected = || {
            let what = "sizes and percentages that make 100, such as 4k/60:64k/40";
            self.file.wrong_value(setting, what)
        };
        let mut table = Vec::new();
        let (mut given, mut open) = (0.0, 0usize);
        for (size, share) in weighted(text) {
            let share = share
                .map(|share| percent(share).ok_or_else(expected))
                .transpose()?;
            given += share.unwrap_or(0.0);
            open += usize::from(share.is_none());
            table.push((self.size(setting, size)?, share));
        }
        let left = 100.0 - given;
        if left < -1e-9 || (open == 0 && left > 1e-9) {
            return Err(expected());
        }
        let each = left.max(0.0) / open.max(1) as f64;
        Ok(table
            .into_iter()
            .map(|(size, share)| (size, share.unwrap_or(each) / 100.0))
            .collect())
    }

    /// Where requests may begin, if the job says.
    pub fn alignment(&self) -> Result<Option<Size>, InputError> {
        let Some(setting) = self.last(&["ba", "blockalign"]) else {
            return Ok(None);
        };
        let text = setting.value.as_deref().unwrap_or("");
        let [Some(first), second, third] = per_direction(text) else {
            return Err(self.file.wrong_value(setting, "a size such as 4k"));
        };
        if second.is_some_and(|s| s != first) || third.is_some_and(|t| t != first) {
            return Err(self
                .file
                .wrong_value(setting, "one size for reads, writes and trims"));
        }
        self.size(setting, first)
            .map(|blocks| Some(Size::from_blocks(blocks)))
    }
}

/// The sizes of the directions that there are.
pub fn sizes_of(tables: &[Table; 3], shares: &[f64; 3]) -> SizeSpec {
    let of = |direction: usize| match tables[direction].as_slice() {
        [(blocks, _)] => SizeSpec::One(Size::from_blocks(*blocks)),
        table => SizeSpec::Several(
            table
                .iter()
                .map(|(blocks, share)| SizeShare {
                    size: Size::from_blocks(*blocks),
                    share: *share,
                })
                .collect(),
        ),
    };
    let there: Vec<usize> = (READ..=TRIM).filter(|d| shares[*d] > 0.0).collect();
    let first = there.first().copied().unwrap_or(READ);
    if there
        .iter()
        .all(|direction| tables[*direction] == tables[first])
    {
        return of(first);
    }
    // Only reads and writes are ever mixed.
    SizeSpec::ByOperation(Box::new(SizeByOperation {
        reads: of(READ),
        writes: of(WRITE),
        trims: None,
    }))
}
