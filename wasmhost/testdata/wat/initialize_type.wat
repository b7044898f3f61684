;; _initialize has the wrong type.
(module
  (func (export "_initialize") (result i32) (i32.const 0))
  (func (export "call") (result i32) (i32.const 0)))
