;; gives an output of -1 bytes
(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (memory (export "memory") 2)
  (func (export "tool_call") (result i32)
    (call $output_set (call $alloc (i64.const 16)) (i64.const -1))
    (i32.const 0)))
