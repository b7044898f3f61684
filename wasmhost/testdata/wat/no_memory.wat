;; Has no memory, and gives pointers all the same.
(module
  (import "extism:host/user" "weir_output_write" (func $output (param i32 i32)))
  (func (export "call") (result i32) (call $output (i32.const 0) (i32.const 0)) (i32.const 0)))
