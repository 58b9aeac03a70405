//! Pages of a column, checked before they are decoded: the decoder trusts them in places where a damaged file would end it.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Once};

use parquet::basic::{Encoding, Type};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::serialized_reader::SerializedPageReader;

use crate::workload::input::RandomAccessFile;

/// The pages of a column chunk.
pub struct Pages {
    pages: SerializedPageReader<RandomAccessFile>,
    /// The fewest bytes that a value takes in a dictionary.
    width: usize,
    dictionary: bool,
}

impl Pages {
    /// Begins at the chunk's first page.
    pub fn new(
        source: &Arc<RandomAccessFile>,
        chunk: &ColumnChunkMetaData,
        rows: usize,
    ) -> Result<Pages> {
        let start = chunk
            .dictionary_page_offset()
            .unwrap_or(chunk.data_page_offset());
        if start < 0 || chunk.compressed_size() < 0 {
            return Err(damaged("a column of negative place or length"));
        }
        Ok(Pages {
            pages: SerializedPageReader::new(source.clone(), chunk, rows, None)?,
            width: match chunk.column_type() {
                Type::INT64 | Type::DOUBLE => 8,
                _ => 4,
            },
            dictionary: false,
        })
    }

    fn check(&mut self, page: &Page) -> Result<()> {
        match page {
            Page::DictionaryPage {
                buf, num_values, ..
            } => {
                let values = *num_values as usize;
                if self.dictionary || values.saturating_mul(self.width) > buf.len() {
                    return Err(damaged("a dictionary of more values than it has bytes"));
                }
                self.dictionary = true;
            }
            Page::DataPage { .. } => {}
            Page::DataPageV2 {
                buf,
                def_levels_byte_len,
                rep_levels_byte_len,
                ..
            } => {
                let levels = u64::from(*def_levels_byte_len) + u64::from(*rep_levels_byte_len);
                if levels > buf.len() as u64 {
                    return Err(damaged("levels that are longer than their page"));
                }
            }
        }
        let by_dictionary = matches!(
            page.encoding(),
            Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY
        );
        if page.is_data_page() && by_dictionary && !self.dictionary {
            return Err(damaged("a page without its dictionary"));
        }
        Ok(())
    }
}

impl Iterator for Pages {
    type Item = Result<Page>;
    fn next(&mut self) -> Option<Result<Page>> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        if let Some(page) = &page {
            self.check(page)?;
        }
        Ok(page)
    }
    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }
    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }
}

fn damaged(what: &str) -> ParquetError {
    ParquetError::General(what.to_owned())
}

thread_local! {
    /// Whether this thread is in the decoder, whose panics are told as errors and not printed as well.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}
static HOOK: Once = Once::new();

/// Runs a part of the decoder; where a damaged file makes it panic, that is an error like any other.
pub fn guarded<T>(decode: impl FnOnce() -> Result<T>) -> Result<T> {
    HOOK.call_once(|| {
        let others = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !GUARDED.get() {
                others(panic);
            }
        }));
    });
    let outer = GUARDED.replace(true);
    let decoded = catch_unwind(AssertUnwindSafe(decode));
    GUARDED.set(outer);
    decoded.unwrap_or_else(|panic| {
        let message = match panic.downcast::<String>() {
            Ok(text) => *text,
            Err(panic) => panic.downcast::<&str>().map_or_else(
                |_| "it makes no sense".to_owned(),
                |text| (*text).to_owned(),
            ),
        };
        Err(ParquetError::General(message))
    })
}
