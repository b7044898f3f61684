;; calls a capability for ever
(module
  (import "extism:host/user" "weir_kv" (func $weir_kv (param i32 i32) (result i32)))
  (memory (export "memory") 2)
  (func (export "tool_call") (result i32)
    (loop $l (drop (call $weir_kv (i32.const 0) (i32.const 2))) (br $l))
    (i32.const 0)))
