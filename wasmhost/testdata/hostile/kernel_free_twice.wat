;; frees a block twice, and traps when two blocks are then the same
(module
  (import "extism:host/user" "weir_output_write" (func $weir_output_write (param i32 i32)))
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "free" (func $free (param i64)))
  (memory (export "memory") 2)
  (data (i32.const 8) "{\22block\22:false}")
  (func (export "tool_call") (result i32)
    (local $o i64)
    (local.set $o (call $alloc (i64.const 16)))
    (call $free (local.get $o)) (call $free (local.get $o))
    (if (i64.eq (call $alloc (i64.const 16)) (call $alloc (i64.const 16))) (then (unreachable)))
    (call $weir_output_write (i32.const 8) (i32.const 15))
    (i32.const 0)))
