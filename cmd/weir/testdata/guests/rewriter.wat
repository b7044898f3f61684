;; A gate that replaces every command.
(module
  (import "extism:host/user" "weir_output_write" (func $output (param i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 1024) "{\22abi\22:1,\22name\22:\22rewriter\22,\22version\22:\221.0.0\22,\22hooks\22:{\22tool_call\22:{}}}")
  (func (export "weir_describe") (result i32)
    (call $output (i32.const 1024) (i32.const 70)) (i32.const 0))
  (data (i32.const 2048) "{\22input\22:{\22command\22:\22echo rewritten\22}}")
  (func (export "tool_call") (result i32)
    (call $output (i32.const 2048) (i32.const 38)) (i32.const 0))
)
