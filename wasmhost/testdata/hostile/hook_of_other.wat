;; its hook is another of its hooks
(module
  (import "extism:host/user" "weir_output_write" (func $output (param i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 8) "{\22block\22:false}")
  (func (export "tool_result") (export "tool_call") (result i32) (call $output (i32.const 8) (i32.const 15)) (i32.const 0)))
