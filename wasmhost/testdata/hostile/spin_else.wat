;; loops for ever in the else arm of an if with a result
(module
  (memory (export "memory") 2)
  (func (export "tool_call") (result i32)
    (drop (if (result i32) (i32.const 0) (then (i32.const 1)) (else (loop $l (result i32) (br $l)))))
    (i32.const 0)))
