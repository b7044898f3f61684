;; imports a function without a name
(module
  (import "extism:host/user" "" (func))
  (func (export "tool_call") (result i32) (i32.const 0)))
