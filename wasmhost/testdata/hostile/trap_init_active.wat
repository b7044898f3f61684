;; copies from a data segment that was used up when memory was made
(module
  (memory (export "memory") 2)
  (data $d (i32.const 0) "abc")
  (func (export "tool_call") (result i32)
    (memory.init $d (i32.const 0) (i32.const 0) (i32.const 1))
    (i32.const 0)))
