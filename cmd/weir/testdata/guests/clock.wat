;; Puts another text before the messages in each model call.
(module
  (import "extism:host/user" "weir_output_write" (func $output (param i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 1024) "{\22abi\22:1,\22name\22:\22clock\22,\22version\22:\221.0.0\22,\22hooks\22:{\22context\22:{\22view\22:\22table\22}}}")
  (func (export "weir_describe") (result i32)
    (call $output (i32.const 1024) (i32.const 79)) (i32.const 0))
  (data (i32.const 2048) "{\22insert\22:[{\22at\22:0,\22message\22:{\22role\22:\22user\22,\22content\22:\220 o'clock\22,\22timestamp\22:1}}]}")
  (func (export "context") (result i32)
    (i32.store8 (i32.const 2103) (i32.add (i32.load8_u (i32.const 2103)) (i32.const 1)))
    (call $output (i32.const 2048) (i32.const 83)) (i32.const 0))
)
