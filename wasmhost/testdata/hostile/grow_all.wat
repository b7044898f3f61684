;; asks for all the memory there is
(module
  (memory (export "memory") 2)
  (func (export "tool_call") (result i32)
    (drop (memory.grow (i32.const 65534)))
    (i32.const 0)))
