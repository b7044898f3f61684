;; recurses for ever in weir_describe
(module
  (memory (export "memory") 2)
  (func $r (call $r) (call $r))
  (func (export "weir_describe") (result i32)
    (call $r)
    (i32.const 0))
  (func (export "tool_call") (result i32) (i32.const 0)))
