;; copies a table for ever
(module
  (memory (export "memory") 2)
  (table $t 100000 funcref)
  (func (export "tool_call") (result i32)
    (loop $l (table.copy $t $t (i32.const 0) (i32.const 1) (i32.const 99999)) (br $l))
    (i32.const 0)))
