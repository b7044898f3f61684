;; grows by 4 MiB a call
(module
  (import "extism:host/user" "weir_output_write" (func $weir_output_write (param i32 i32)))
  (memory (export "memory") 2)
  (data (i32.const 8) "{\22block\22:false}")
  (func (export "tool_call") (result i32)
    (drop (memory.grow (i32.const 64)))
    (call $weir_output_write (i32.const 8) (i32.const 15))
    (i32.const 0)))
