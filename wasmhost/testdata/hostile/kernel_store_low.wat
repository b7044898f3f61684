;; writes the kernel's bookkeeping
(module
  (import "extism:host/user" "weir_output_write" (func $weir_output_write (param i32 i32)))
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "store_u64" (func $store_u64 (param i64 i64)))
  (memory (export "memory") 2)
  (data (i32.const 8) "{\22block\22:false}")
  (func (export "tool_call") (result i32)
    (drop (call $alloc (i64.const 8)))
    (call $store_u64 (i64.const 4) (i64.const -1))
    (call $weir_output_write (i32.const 8) (i32.const 15))
    (i32.const 0)))
