;; A gate that asks.
(module
  (import "extism:host/user" "weir_output_write" (func $output (param i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 1024) "{\22abi\22:1,\22name\22:\22asks\22,\22version\22:\221.0.0\22,\22hooks\22:{\22tool_call\22:{}}}")
  (func (export "weir_describe") (result i32)
    (call $output (i32.const 1024) (i32.const 66)) (i32.const 0))
  (data (i32.const 2048) "{\22ask\22:{\22title\22:\22really?\22}}")
  (func (export "tool_call") (result i32)
    (call $output (i32.const 2048) (i32.const 27)) (i32.const 0))
)
