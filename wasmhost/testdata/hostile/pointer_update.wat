;; gives a partial result outside a tool
(module
  (import "extism:host/user" "weir_output_write" (func $weir_output_write (param i32 i32)))
  (import "extism:host/user" "weir_tool_update" (func $weir_tool_update (param i32 i32)))
  (memory (export "memory") 2)
  (data (i32.const 8) "{\22block\22:false}")
  (func (export "tool_call") (result i32)
    (call $weir_tool_update (i32.const 0) (i32.const 1))
    (call $weir_output_write (i32.const 8) (i32.const 15))
    (i32.const 0)))
