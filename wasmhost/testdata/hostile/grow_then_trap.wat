;; traps because it is refused memory
(module
  (import "extism:host/user" "weir_output_write" (func $weir_output_write (param i32 i32)))
  (memory (export "memory") 2)
  (data (i32.const 8) "{\22block\22:false}")
  (func (export "tool_call") (result i32)
    (if (i32.eq (memory.grow (i32.const 4000)) (i32.const -1)) (then (unreachable)))
    (call $weir_output_write (i32.const 8) (i32.const 15))
    (i32.const 0)))
