;; loads across the end of memory
(module
  (memory (export "memory") 2)
  (func (export "tool_call") (result i32)
    (drop (i64.load (i32.const 131065)))
    (i32.const 0)))
