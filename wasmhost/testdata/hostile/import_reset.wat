;; imports the kernel's reset
(module
  (import "extism:host/env" "weir_reset" (func))
  (func (export "tool_call") (result i32) (i32.const 0)))
