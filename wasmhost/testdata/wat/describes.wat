;; Describes itself; without its capability, weir_kv answers a negative code, which stands in the answer.
(module
  (import "extism:host/user" "weir_output_write" (func $output (param i32 i32)))
  (import "extism:host/user" "weir_kv" (func $kv (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "{\"code\":0}")
  (func (export "weir_describe") (result i32)
    (i32.store8 (i32.const 8) (i32.sub (i32.const 48) (call $kv (i32.const 0) (i32.const 2))))
    (call $output (i32.const 0) (i32.const 10))
    (i32.const 0))
  (func (export "call") (result i32) (i32.const 0)))
