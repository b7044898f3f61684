;; makes variables for ever
(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "load_u64" (func $load_u64 (param i64) (result i64)))
  (import "extism:host/env" "store_u64" (func $store_u64 (param i64 i64)))
  (import "extism:host/env" "var_set" (func $var_set (param i64 i64)))
  (memory (export "memory") 2)
  (func (export "tool_call") (result i32)
    (local $k i64)
    (local.set $k (call $alloc (i64.const 8)))
    (loop $l
    (call $store_u64 (local.get $k) (i64.add (call $load_u64 (local.get $k)) (i64.const 1)))
    (call $var_set (local.get $k) (local.get $k))
    (br $l))
    (i32.const 0)))
