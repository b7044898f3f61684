;; loops for ever
(module
  (memory (export "memory") 2)
  (func (export "tool_call") (result i32)
    (loop $l (br $l))
    (i32.const 0)))
