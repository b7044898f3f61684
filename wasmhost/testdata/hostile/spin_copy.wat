;; moves overlapping memory for ever
(module
  (memory (export "memory") 128)
  (func (export "tool_call") (result i32)
    (loop $l (memory.copy (i32.const 1) (i32.const 0) (i32.const 8388607)) (br $l))
    (i32.const 0)))
