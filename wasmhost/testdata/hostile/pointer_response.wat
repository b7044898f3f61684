;; has a response written outside its memory
(module
  (import "extism:host/user" "weir_output_write" (func $weir_output_write (param i32 i32)))
  (import "extism:host/user" "weir_response_read" (func $weir_response_read (param i32 i32 i32) (result i32)))
  (memory (export "memory") 2)
  (data (i32.const 8) "{\22block\22:false}")
  (func (export "tool_call") (result i32)
    (drop (call $weir_response_read (i32.const 131072) (i32.const 0) (i32.const 1)))
    (call $weir_output_write (i32.const 8) (i32.const 15))
    (i32.const 0)))
