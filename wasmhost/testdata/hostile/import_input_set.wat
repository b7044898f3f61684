;; imports a function that would set its own input
(module
  (import "extism:host/env" "input_set" (func (param i64 i64)))
  (func (export "tool_call") (result i32) (i32.const 0)))
