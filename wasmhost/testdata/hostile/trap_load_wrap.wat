;; loads from an address that wraps
(module
  (memory (export "memory") 2)
  (func (export "tool_call") (result i32)
    (drop (i32.load offset=0xffffffff (i32.const 8)))
    (i32.const 0)))
