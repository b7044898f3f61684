;; loops for ever in initialize
(module
  (memory (export "memory") 2)
  (func $first (loop $l (br $l)))
  (export "_initialize" (func $first))
  (func (export "tool_call") (result i32)
    (i32.const 0)))
