;; the hook has no result
(module
  (memory (export "memory") 1)
  (func (export "tool_call")))
