;; copies nothing, for ever
(module
  (memory (export "memory") 2)
  (func (export "tool_call") (result i32)
    (loop $l (memory.copy (i32.const 0) (i32.const 0) (i32.const 0)) (br $l))
    (i32.const 0)))
