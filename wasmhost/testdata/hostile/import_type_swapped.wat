;; imports a function with its parameters swapped
(module
  (import "extism:host/env" "store_u8" (func (param i32 i64)))
  (func (export "tool_call") (result i32) (i32.const 0)))
