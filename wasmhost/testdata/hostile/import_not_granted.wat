;; imports a capability that is not granted
(module
  (import "extism:host/user" "weir_session" (func (param i32 i32) (result i32)))
  (func (export "tool_call") (result i32) (i32.const 0)))
