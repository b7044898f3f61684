;; imports a function that does not exist
(module
  (import "extism:host/env" "format_disk" (func))
  (func (export "tool_call") (result i32) (i32.const 0)))
