;; reads far outside the kernel's memory
(module
  (import "extism:host/user" "weir_output_write" (func $weir_output_write (param i32 i32)))
  (import "extism:host/env" "load_u64" (func $load_u64 (param i64) (result i64)))
  (memory (export "memory") 2)
  (data (i32.const 8) "{\22block\22:false}")
  (func (export "tool_call") (result i32)
    (drop (call $load_u64 (i64.const 0x10000000000)))
    (call $weir_output_write (i32.const 8) (i32.const 15))
    (i32.const 0)))
