//! Bytes that a thread has allocated and not freed, now and at most.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

/// The system's allocator, which counts for each thread.
pub struct Counting;

fn count(bytes: isize) {
    // While a thread ends nothing is counted.
    let held = HELD.try_with(|held| {
        held.set(held.get() + bytes);
        held.get()
    });
    if let Ok(held) = held {
        _ = MOST.try_with(|most| most.set(most.get().max(held)));
    }
}

/// What this thread holds: what it has allocated, less what it has freed.
pub fn held() -> isize {
    HELD.with(Cell::get)
}

/// The most that this thread holds at any time while something is done, more than it holds before.
pub fn most_held_during<T>(what: impl FnOnce() -> T) -> (T, isize) {
    let before = held();
    MOST.with(|most| most.set(before));
    let made = what();
    (made, MOST.with(Cell::get) - before)
}

// SAFETY: every call is the system allocator's.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as isize - layout.size() as isize);
        unsafe { System.realloc(pointer, layout, size) }
    }
}
