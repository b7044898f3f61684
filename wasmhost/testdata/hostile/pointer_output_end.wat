;; gives an output that ends behind its memory
(module
  (import "extism:host/user" "weir_output_write" (func $weir_output_write (param i32 i32)))
  (memory (export "memory") 2)
  (func (export "tool_call") (result i32)
    (call $weir_output_write (i32.const 131064) (i32.const 16))
    (i32.const 0)))
