;; the first of two data segments fits, the second does not
(module
  (memory (export "memory") 2)
  (data (i32.const 0) "abcd")
  (data (i32.const 131071) "abcd")
  (func (export "tool_call") (result i32)
    (i32.const 0)))
