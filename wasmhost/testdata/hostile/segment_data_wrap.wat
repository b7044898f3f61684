;; a data segment stands at -1
(module
  (memory (export "memory") 2)
  (data (i32.const -1) "abcd")
  (func (export "tool_call") (result i32)
    (i32.const 0)))
