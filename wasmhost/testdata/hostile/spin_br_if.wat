;; loops for ever by br_if
(module
  (memory (export "memory") 2)
  (func (export "tool_call") (result i32)
    (loop $l (br_if $l (i32.const 1)))
    (i32.const 0)))
