;; asks for memory beyond its own maximum for ever
(module
  (memory (export "memory") 2 3)
  (func (export "tool_call") (result i32)
    (loop $l (drop (memory.grow (i32.const 60000))) (br $l))
    (i32.const 0)))
