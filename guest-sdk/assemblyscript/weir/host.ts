// What the host offers (docs/abi.md, section 2). What a policy does not use is not imported.

/** Readers copy at most `size` bytes from `offset` on and return how many; size 0 returns the total length. */
@external("extism:host/user", "weir_input_read")
export declare function inputRead(to: usize, offset: u32, size: u32): u32;
@external("extism:host/user", "weir_config_read")
export declare function configRead(to: usize, offset: u32, size: u32): u32;
@external("extism:host/user", "weir_response_read")
export declare function responseRead(to: usize, offset: u32, size: u32): u32;
@external("extism:host/user", "weir_message_read")
export declare function messageRead(index: u32, to: usize, offset: u32, size: u32): u32;

@external("extism:host/user", "weir_output_write")
export declare function outputWrite(from: usize, size: u32): void;
@external("extism:host/user", "weir_error")
export declare function errorWrite(from: usize, size: u32): void;
@external("extism:host/user", "weir_log")
export declare function logWrite(level: i32, from: usize, size: u32): void;
@external("extism:host/user", "weir_tool_update")
export declare function toolUpdate(from: usize, size: u32): void;

/** Capabilities return the response's length, or a negative error code with a text as response. */
@external("extism:host/user", "weir_kv")
export declare function kvCall(from: usize, size: u32): i32;
@external("extism:host/user", "weir_http")
export declare function httpCall(from: usize, size: u32): i32;
@external("extism:host/user", "weir_file")
export declare function fileCall(from: usize, size: u32): i32;
@external("extism:host/user", "weir_ui")
export declare function uiCall(from: usize, size: u32): i32;
@external("extism:host/user", "weir_session")
export declare function sessionCall(from: usize, size: u32): i32;
@external("extism:host/user", "weir_journal")
export declare function journalCall(from: usize, size: u32): i32;

/** Extism's own memory, which its variables need. */
@external("extism:host/env", "alloc")
export declare function envAlloc(size: u64): u64;
@external("extism:host/env", "free")
export declare function envFree(at: u64): void;
@external("extism:host/env", "length")
export declare function envLength(at: u64): u64;
@external("extism:host/env", "load_u8")
export declare function envLoad8(at: u64): u32;
@external("extism:host/env", "load_u64")
export declare function envLoad64(at: u64): u64;
@external("extism:host/env", "store_u8")
export declare function envStore8(at: u64, value: u32): void;
@external("extism:host/env", "store_u64")
export declare function envStore64(at: u64, value: u64): void;
@external("extism:host/env", "var_get")
export declare function varGet(key: u64): u64;
@external("extism:host/env", "var_set")
export declare function varSet(key: u64, value: u64): void;
