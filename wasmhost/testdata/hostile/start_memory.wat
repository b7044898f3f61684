;; takes more memory than it may have in start
(module
  (memory (export "memory") 2)
  (func $first (drop (memory.grow (i32.const 4000))))
  (start $first)
  (func (export "tool_call") (result i32)
    (i32.const 0)))
