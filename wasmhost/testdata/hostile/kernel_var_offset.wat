;; sets a variable to a value that is no block
(module
  (import "extism:host/user" "weir_output_write" (func $weir_output_write (param i32 i32)))
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "var_set" (func $var_set (param i64 i64)))
  (memory (export "memory") 2)
  (data (i32.const 8) "{\22block\22:false}")
  (func (export "tool_call") (result i32)
    (call $var_set (call $alloc (i64.const 1)) (i64.const 9))
    (call $weir_output_write (i32.const 8) (i32.const 15))
    (i32.const 0)))
