;; has its input written to a range that wraps
(module
  (import "extism:host/user" "weir_input_read" (func $weir_input_read (param i32 i32 i32) (result i32)))
  (import "extism:host/user" "weir_output_write" (func $weir_output_write (param i32 i32)))
  (memory (export "memory") 2)
  (data (i32.const 8) "{\22block\22:false}")
  (func (export "tool_call") (result i32)
    (drop (call $weir_input_read (i32.const -4) (i32.const 0) (i32.const 8)))
    (call $weir_output_write (i32.const 8) (i32.const 15))
    (i32.const 0)))
