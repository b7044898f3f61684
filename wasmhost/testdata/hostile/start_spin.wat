;; loops for ever in start
(module
  (memory (export "memory") 2)
  (func $first (loop $l (br $l)))
  (start $first)
  (func (export "tool_call") (result i32)
    (i32.const 0)))
