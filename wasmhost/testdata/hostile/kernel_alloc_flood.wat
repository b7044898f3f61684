;; allocates 64 KiB in the kernel for ever
(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (memory (export "memory") 2)
  (func (export "tool_call") (result i32)
    (loop $l (drop (call $alloc (i64.const 65536))) (br $l))
    (i32.const 0)))
