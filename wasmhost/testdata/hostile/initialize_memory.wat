;; takes more memory than it may have in initialize
(module
  (memory (export "memory") 2)
  (func $first (drop (memory.grow (i32.const 4000))))
  (export "_initialize" (func $first))
  (func (export "tool_call") (result i32)
    (i32.const 0)))
