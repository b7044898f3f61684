;; asks for settings by an offset that is a block when cut to 32 bits
(module
  (import "extism:host/user" "weir_output_write" (func $weir_output_write (param i32 i32)))
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "config_get" (func $config_get (param i64) (result i64)))
  (memory (export "memory") 2)
  (data (i32.const 8) "{\22block\22:false}")
  (func (export "tool_call") (result i32)
    (drop (call $config_get (i64.add (call $alloc (i64.const 8)) (i64.const 0x100000000))))
    (call $weir_output_write (i32.const 8) (i32.const 15))
    (i32.const 0)))
