;; loads a vector across the end of memory
(module
  (memory (export "memory") 2)
  (func (export "tool_call") (result i32)
    (drop (v128.load (i32.const 131057)))
    (i32.const 0)))
