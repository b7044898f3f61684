;; copies from a data segment that it dropped
(module
  (memory (export "memory") 2)
  (data $d "abc")
  (func (export "tool_call") (result i32)
    (data.drop $d)
    (memory.init $d (i32.const 0) (i32.const 0) (i32.const 1))
    (i32.const 0)))
