;; asks for its settings for ever
(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "config_get" (func $config_get (param i64) (result i64)))
  (memory (export "memory") 2)
  (func (export "tool_call") (result i32)
    (local $k i64)
    (local.set $k (call $alloc (i64.const 11)))
    (loop $l (drop (call $config_get (local.get $k))) (br $l))
    (i32.const 0)))
