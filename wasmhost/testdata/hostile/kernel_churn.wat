;; allocates two blocks and frees the older, for ever
(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "free" (func $free (param i64)))
  (memory (export "memory") 2)
  (func (export "tool_call") (result i32)
    (local $o i64) (local $p i64)
    (local.set $o (call $alloc (i64.const 8)))
    (loop $l
    (local.set $p (call $alloc (i64.const 8)))
    (call $free (local.get $o))
    (local.set $o (local.get $p))
    (br $l))
    (i32.const 0)))
