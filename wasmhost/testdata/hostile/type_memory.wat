;; the hook is the memory
(module
  (memory (export "memory") 1)
  (export "tool_call" (memory 0)))
