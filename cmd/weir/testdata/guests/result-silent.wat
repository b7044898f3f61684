;; Hooks tool results and answers nothing.
(module
  (import "extism:host/user" "weir_output_write" (func $output (param i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 1024) "{\22abi\22:1,\22name\22:\22result-silent\22,\22version\22:\221.0.0\22,\22hooks\22:{\22tool_result\22:{}}}")
  (func (export "weir_describe") (result i32)
    (call $output (i32.const 1024) (i32.const 77)) (i32.const 0))
  (func (export "tool_result") (result i32) (i32.const 0))
)
