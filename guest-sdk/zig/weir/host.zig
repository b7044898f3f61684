//! What the host offers (docs/abi.md, section 2). What a policy does not use is not imported.

/// Readers copy at most len bytes from offset on and return how many; len 0 returns the total length.
pub extern "extism:host/user" fn weir_input_read(ptr: [*]u8, offset: u32, len: u32) u32;
pub extern "extism:host/user" fn weir_config_read(ptr: [*]u8, offset: u32, len: u32) u32;
pub extern "extism:host/user" fn weir_response_read(ptr: [*]u8, offset: u32, len: u32) u32;
pub extern "extism:host/user" fn weir_message_read(index: u32, ptr: [*]u8, offset: u32, len: u32) u32;

pub extern "extism:host/user" fn weir_output_write(ptr: [*]const u8, len: u32) void;
pub extern "extism:host/user" fn weir_error(ptr: [*]const u8, len: u32) void;
pub extern "extism:host/user" fn weir_log(level: i32, ptr: [*]const u8, len: u32) void;
pub extern "extism:host/user" fn weir_tool_update(ptr: [*]const u8, len: u32) void;

/// Capabilities return the response's length, or a negative error code with a text as response.
pub extern "extism:host/user" fn weir_kv(ptr: [*]const u8, len: u32) i32;
pub extern "extism:host/user" fn weir_http(ptr: [*]const u8, len: u32) i32;
pub extern "extism:host/user" fn weir_file(ptr: [*]const u8, len: u32) i32;
pub extern "extism:host/user" fn weir_ui(ptr: [*]const u8, len: u32) i32;
pub extern "extism:host/user" fn weir_session(ptr: [*]const u8, len: u32) i32;
pub extern "extism:host/user" fn weir_journal(ptr: [*]const u8, len: u32) i32;

/// Extism's own memory, which its variables need.
pub const env = struct {
    pub extern "extism:host/env" fn alloc(len: u64) u64;
    pub extern "extism:host/env" fn free(at: u64) void;
    pub extern "extism:host/env" fn length(at: u64) u64;
    pub extern "extism:host/env" fn load_u8(at: u64) u32;
    pub extern "extism:host/env" fn store_u8(at: u64, value: u32) void;
    pub extern "extism:host/env" fn var_get(key: u64) u64;
    pub extern "extism:host/env" fn var_set(key: u64, value: u64) void;
};
