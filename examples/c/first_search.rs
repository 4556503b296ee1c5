// The points of a 100 × 100 grid nearest to two places on it.
use std::ffi::{c_char, c_void, CStr};
use std::ptr::{null, null_mut};

#[repr(C)]
struct Matrix(*const f32, i64, i64, i64, i64, i32, i32); // data, rows, cols, two strides, dtype, memory
#[repr(C)]
struct Neighbors(*mut i64, *mut f32, i64, *mut u8, i64, i32, i32); // ids, distances, capacity, certified, …

#[link(name = "kith")]
extern "C" {
    fn kith_search(base: *const Matrix, queries: *const Matrix, k: i64, options: *const c_void, out: *const Neighbors,
                   stream: *mut c_void) -> i32;
    fn kith_last_error() -> *const c_char;
}

/// Ids and distances of the k nearest of each query; points have `cols` numbers each.
fn search(base: &[f32], queries: &[f32], cols: usize, k: usize) -> Result<(Vec<i64>, Vec<f32>), String> {
    let matrix = |points: &[f32]| Matrix(points.as_ptr(), (points.len() / cols) as i64, cols as i64, 0, 0, 1, 0);
    let count = queries.len() / cols * k;
    let (mut ids, mut distances) = (vec![0; count], vec![0.0; count]);
    let out = Neighbors(ids.as_mut_ptr(), distances.as_mut_ptr(), count as i64, null_mut(), 0, 1, 0);
    match unsafe { kith_search(&matrix(base), &matrix(queries), k as i64, null(), &out, null_mut()) } {
        0 => Ok((ids, distances)),
        _ => Err(unsafe { CStr::from_ptr(kith_last_error()) }.to_string_lossy().into_owned()),
    }
}

fn main() -> Result<(), String> {
    let grid: Vec<f32> = (0..10000).flat_map(|i| [(i % 100) as f32, (i / 100) as f32]).collect();
    let (ids, distances) = search(&grid, &[3.2, 7.9, 41.0, 58.6], 2, 3)?;
    for query in 0..2 {
        print!("query {query}:");
        for at in query * 3..query * 3 + 3 {
            print!("  {} at {:.3}", ids[at], distances[at]);
        }
        println!();
    }
    println!("{}", search(&grid, &[0.0, 0.0], 2, 10001).unwrap_err());
    Ok(())
}
