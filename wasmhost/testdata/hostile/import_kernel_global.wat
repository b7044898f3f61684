;; imports the kernel's output length
(module
  (import "extism:host/env" "weir_output_len" (global (mut i32)))
  (func (export "tool_call") (result i32) (i32.const 0)))
