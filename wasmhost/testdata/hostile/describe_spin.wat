;; loops for ever in weir_describe
(module
  (memory (export "memory") 2)
  (func (export "weir_describe") (result i32)
    (loop $l (br $l))
    (i32.const 0))
  (func (export "tool_call") (result i32) (i32.const 0)))
