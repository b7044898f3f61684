;; sets a variable of 8 MiB
(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "var_set" (func $var_set (param i64 i64)))
  (memory (export "memory") 2)
  (func (export "tool_call") (result i32)
    (call $var_set (call $alloc (i64.const 1)) (call $alloc (i64.const 8388608)))
    (i32.const 0)))
