;; turns in five nested loops
(module
  (memory (export "memory") 2)
  (func (export "tool_call") (result i32)
    (loop $l0 (loop $l1 (loop $l2 (loop $l3 (loop $l4 (br $l4) )))))
    (i32.const 0)))
