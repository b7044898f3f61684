;; gives the beginning of a decision
(module
  (import "extism:host/user" "weir_output_write" (func $weir_output_write (param i32 i32)))
  (memory (export "memory") 2)
  (data (i32.const 64) "{\22block\22:tr")
  (func (export "tool_call") (result i32)
    (call $weir_output_write (i32.const 64) (i32.const 11))
    (i32.const 0)))
