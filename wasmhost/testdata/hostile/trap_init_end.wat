;; copies past the end of a data segment
(module
  (memory (export "memory") 2)
  (data $d "abc")
  (func (export "tool_call") (result i32)
    (memory.init $d (i32.const 0) (i32.const 2) (i32.const 2))
    (i32.const 0)))
