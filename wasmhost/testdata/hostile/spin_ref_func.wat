;; takes references of a function for ever
(module
  (memory (export "memory") 2)
  (elem declare func $nothing)
  (func $nothing)
  (func (export "tool_call") (result i32)
    (loop $l (drop (ref.func $nothing)) (br $l))
    (i32.const 0)))
