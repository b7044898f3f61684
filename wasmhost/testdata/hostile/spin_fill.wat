;; fills all its memory for ever
(module
  (memory (export "memory") 128)
  (func (export "tool_call") (result i32)
    (loop $l (memory.fill (i32.const 0) (i32.const 1) (i32.const 8388608)) (br $l))
    (i32.const 0)))
