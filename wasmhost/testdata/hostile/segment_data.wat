;; a data segment does not fit into its memory
(module
  (memory (export "memory") 2)
  (data (i32.const 131070) "abcd")
  (func (export "tool_call") (result i32)
    (i32.const 0)))
