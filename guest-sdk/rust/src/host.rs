//! The functions of the host (section 2 of the ABI). Natively they are those of `testing`.

/// What a capability is asked with: the request in, the response's length or a negative number out.
pub type Capability = fn(&[u8]) -> i32;

const FIRST_READ: usize = 16 << 10;

/// Reads all that a reader has into `buffer`, which grows and is not cleared; the number of bytes. A reader copies what fits from
/// an offset on and returns how much; into an empty buffer it copies nothing and returns the whole length. One call of the host is
/// enough where the buffer has room to spare.
pub fn read_all(buffer: &mut Vec<u8>, read: impl Fn(&mut [u8], usize) -> usize) -> usize {
    if buffer.is_empty() {
        buffer.resize(FIRST_READ, 0);
    }
    let n = read(buffer, 0);
    if n < buffer.len() {
        return n;
    }
    let total = read(&mut [], 0);
    if total <= n {
        return n;
    }
    buffer.resize(total + 1, 0);
    n + read(&mut buffer[n..], n)
}

#[cfg(target_arch = "wasm32")]
mod imports {
    #[link(wasm_import_module = "extism:host/user")]
    extern "C" {
        pub fn weir_input_read(ptr: *mut u8, offset: u32, len: u32) -> u32;
        pub fn weir_config_read(ptr: *mut u8, offset: u32, len: u32) -> u32;
        pub fn weir_response_read(ptr: *mut u8, offset: u32, len: u32) -> u32;
        pub fn weir_message_read(index: u32, ptr: *mut u8, offset: u32, len: u32) -> u32;
        pub fn weir_output_write(ptr: *const u8, len: u32);
        pub fn weir_error(ptr: *const u8, len: u32);
        pub fn weir_log(level: i32, ptr: *const u8, len: u32);
        pub fn weir_tool_update(ptr: *const u8, len: u32);
        pub fn weir_kv(ptr: *const u8, len: u32) -> i32;
        pub fn weir_http(ptr: *const u8, len: u32) -> i32;
        pub fn weir_file(ptr: *const u8, len: u32) -> i32;
        pub fn weir_ui(ptr: *const u8, len: u32) -> i32;
        pub fn weir_session(ptr: *const u8, len: u32) -> i32;
        pub fn weir_journal(ptr: *const u8, len: u32) -> i32;
    }
    // Of Extism's own functions only those for variables, which have no other door.
    #[link(wasm_import_module = "extism:host/env")]
    extern "C" {
        pub fn alloc(n: u64) -> u64;
        pub fn free(offset: u64);
        pub fn length(offset: u64) -> u64;
        pub fn store_u8(offset: u64, value: u32);
        pub fn load_u8(offset: u64) -> u32;
        pub fn var_get(key: u64) -> u64;
        pub fn var_set(key: u64, value: u64);
    }
}

/// Safety of all of these: the pointer and length are those of a slice, which the host only reads, or of one that is borrowed
/// mutably and into which it writes at most its length.
#[cfg(target_arch = "wasm32")]
mod calls {
    use super::imports::*;

    pub fn input_read(b: &mut [u8], offset: usize) -> usize {
        unsafe { weir_input_read(b.as_mut_ptr(), offset as u32, b.len() as u32) as usize }
    }
    pub fn config_read(b: &mut [u8], offset: usize) -> usize {
        unsafe { weir_config_read(b.as_mut_ptr(), offset as u32, b.len() as u32) as usize }
    }
    pub fn response_read(b: &mut [u8], offset: usize) -> usize {
        unsafe { weir_response_read(b.as_mut_ptr(), offset as u32, b.len() as u32) as usize }
    }
    pub fn message_read(index: usize, b: &mut [u8], offset: usize) -> usize {
        unsafe { weir_message_read(index as u32, b.as_mut_ptr(), offset as u32, b.len() as u32) as usize }
    }
    pub fn output(b: &[u8]) {
        unsafe { weir_output_write(b.as_ptr(), b.len() as u32) }
    }
    pub fn error(b: &[u8]) {
        unsafe { weir_error(b.as_ptr(), b.len() as u32) }
    }
    pub fn log(level: i32, b: &[u8]) {
        unsafe { weir_log(level, b.as_ptr(), b.len() as u32) }
    }
    pub fn tool_update(b: &[u8]) {
        unsafe { weir_tool_update(b.as_ptr(), b.len() as u32) }
    }
    pub fn kv(b: &[u8]) -> i32 {
        unsafe { weir_kv(b.as_ptr(), b.len() as u32) }
    }
    pub fn http(b: &[u8]) -> i32 {
        unsafe { weir_http(b.as_ptr(), b.len() as u32) }
    }
    pub fn file(b: &[u8]) -> i32 {
        unsafe { weir_file(b.as_ptr(), b.len() as u32) }
    }
    pub fn ui(b: &[u8]) -> i32 {
        unsafe { weir_ui(b.as_ptr(), b.len() as u32) }
    }
    pub fn session(b: &[u8]) -> i32 {
        unsafe { weir_session(b.as_ptr(), b.len() as u32) }
    }
    pub fn journal(b: &[u8]) -> i32 {
        unsafe { weir_journal(b.as_ptr(), b.len() as u32) }
    }

    /// Copies bytes into a block of the kernel, which `free` gives back.
    fn block(b: &[u8]) -> u64 {
        unsafe {
            let at = alloc(b.len() as u64);
            for (i, &c) in b.iter().enumerate() {
                store_u8(at + i as u64, u32::from(c));
            }
            at
        }
    }
    pub fn variable(key: &[u8]) -> Option<Vec<u8>> {
        unsafe {
            let name = block(key);
            let at = var_get(name);
            free(name);
            if at == 0 {
                return None;
            }
            let value = (0..length(at)).map(|i| load_u8(at + i) as u8).collect();
            free(at);
            Some(value)
        }
    }
    pub fn set_variable(key: &[u8], value: &[u8]) {
        unsafe {
            let (name, v) = (block(key), block(value));
            var_set(name, v);
            free(name);
            free(v);
        }
    }
}

#[cfg(target_arch = "wasm32")]
pub use calls::*;
#[cfg(not(target_arch = "wasm32"))]
pub use crate::testing::calls::*;
