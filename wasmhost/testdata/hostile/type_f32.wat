;; the hook has a float for a result
(module
  (memory (export "memory") 1)
  (func (export "tool_call") (result f32) (f32.const 0)))
