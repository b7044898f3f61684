;; gives a pointer outside its memory in initialize
(module
  (import "extism:host/user" "weir_log" (func $weir_log (param i32 i32 i32)))
  (memory (export "memory") 2)
  (func $first (call $weir_log (i32.const 1) (i32.const -8) (i32.const 16)))
  (export "_initialize" (func $first))
  (func (export "tool_call") (result i32)
    (i32.const 0)))
