;; allocates -1 bytes in the kernel
(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (memory (export "memory") 2)
  (func (export "tool_call") (result i32)
    (drop (call $alloc (i64.const -1)))
    (i32.const 0)))
