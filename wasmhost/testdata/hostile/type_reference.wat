;; the hook has a reference for a result
(module
  (memory (export "memory") 1)
  (func (export "tool_call") (result externref) (ref.null extern)))
