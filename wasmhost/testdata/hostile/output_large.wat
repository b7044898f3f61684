;; gives 9 MiB of output
(module
  (import "extism:host/user" "weir_output_write" (func $weir_output_write (param i32 i32)))
  (memory (export "memory") 160)
  (func (export "tool_call") (result i32)
    (call $weir_output_write (i32.const 0) (i32.const 9437184))
    (i32.const 0)))
