;; gives a range of two blocks as output
(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (memory (export "memory") 2)
  (func (export "tool_call") (result i32)
    (local $o i64)
    (local.set $o (call $alloc (i64.const 16)))
    (drop (call $alloc (i64.const 16)))
    (call $output_set (local.get $o) (i64.const 32))
    (i32.const 0)))
