;; takes half of its memory itself and half in the kernel, and some more
(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (memory (export "memory") 2)
  (func (export "tool_call") (result i32)
    (drop (call $alloc (i64.const 8388608)))
    (drop (memory.grow (i32.const 128)))
    (i32.const 0)))
