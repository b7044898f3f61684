;; looks for blocks of others, and traps when it finds one
(module
  (import "extism:host/user" "weir_output_write" (func $weir_output_write (param i32 i32)))
  (import "extism:host/env" "length" (func $length (param i64) (result i64)))
  (memory (export "memory") 2)
  (data (i32.const 8) "{\22block\22:false}")
  (func (export "tool_call") (result i32)
    (local $o i64)
    (loop $l
    (if (i64.ne (call $length (local.get $o)) (i64.const 0)) (then (unreachable)))
    (br_if $l (i64.lt_u (local.tee $o (i64.add (local.get $o) (i64.const 1))) (i64.const 200000))))
    (call $weir_output_write (i32.const 8) (i32.const 15))
    (i32.const 0)))
