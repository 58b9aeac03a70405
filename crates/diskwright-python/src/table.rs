//! The requests of a run as columns that every Arrow library reads without copying.

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator};
use diskwright::metrics;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// A row for every request of a run, in Arrow's columns.
///
/// Speaks Arrow's PyCapsule protocol: <https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>.
#[pyclass(frozen, module = "diskwright._engine")]
pub struct RequestTable {
    /// At least one.
    batches: Vec<RecordBatch>,
}

impl From<&metrics::RequestTable> for RequestTable {
    fn from(table: &metrics::RequestTable) -> RequestTable {
        RequestTable {
            batches: table.batches(),
        }
    }
}

impl From<RecordBatch> for RequestTable {
    fn from(batch: RecordBatch) -> RequestTable {
        RequestTable {
            batches: vec![batch],
        }
    }
}

#[pymethods]
impl RequestTable {
    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// The names of the columns.
    fn columns(&self) -> Vec<String> {
        let schema = self.batches[0].schema();
        let fields = schema.fields().iter();
        fields.map(|field| field.name().clone()).collect()
    }

    /// The response times of the `measured` last requests to arrive that ended well, ms, sorted.
    fn responses_ms(&self, measured: u64) -> Vec<f64> {
        let times = metrics::table::responses(&self.batches, measured);
        times.into_iter().map(|ns| ns as f64 / 1e6).collect()
    }

    /// The columns as a stream of batches. A wish for another schema need not be granted, and is not.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let schema = self.batches[0].schema();
        // A batch is a handle on its columns: nothing is copied.
        let batches = self.batches.clone().into_iter().map(Ok);
        let reader = RecordBatchIterator::new(batches, schema);
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}
