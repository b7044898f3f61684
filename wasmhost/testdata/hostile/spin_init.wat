;; copies a data segment for ever
(module
  (memory (export "memory") 2)
  (data $d "0123456789abcdef")
  (func (export "tool_call") (result i32)
    (loop $l (memory.init $d (i32.const 0) (i32.const 0) (i32.const 16)) (br $l))
    (i32.const 0)))
