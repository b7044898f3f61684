;; imports the function that writes into the kernel
(module
  (import "weir:env" "staged_copy" (func (param i32)))
  (func (export "tool_call") (result i32) (i32.const 0)))
