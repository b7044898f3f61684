;; takes more memory than it may have in weir_describe
(module
  (memory (export "memory") 2)
  (func (export "weir_describe") (result i32)
    (drop (memory.grow (i32.const 4000)))
    (i32.const 0))
  (func (export "tool_call") (result i32) (i32.const 0)))
