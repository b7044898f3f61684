;; gives 9 MiB of output through the kernel
(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (memory (export "memory") 2)
  (func (export "tool_call") (result i32)
    (call $output_set (call $alloc (i64.const 9437184)) (i64.const 9437184))
    (i32.const 0)))
