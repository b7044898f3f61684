;; imports a function with another type
(module
  (import "extism:host/env" "config_get" (func (param i64)))
  (func (export "tool_call") (result i32) (i32.const 0)))
