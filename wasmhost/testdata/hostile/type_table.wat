;; the hook is a table
(module
  (memory (export "memory") 1)
  (table (export "tool_call") 1 funcref))
