;; fills a table for ever
(module
  (memory (export "memory") 2)
  (table $t 100000 funcref)
  (func (export "tool_call") (result i32)
    (loop $l (table.fill $t (i32.const 0) (ref.null func) (i32.const 100000)) (br $l))
    (i32.const 0)))
