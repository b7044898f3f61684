;; grows its memory by nothing, for ever
(module
  (memory (export "memory") 2)
  (func (export "tool_call") (result i32)
    (loop $l (drop (memory.grow (i32.const 0))) (br $l))
    (i32.const 0)))
