;; copies from an element segment that it dropped
(module
  (memory (export "memory") 2)
  (table $t 2 funcref)
  (elem $e func $f)
  (func $f)
  (func (export "tool_call") (result i32)
    (elem.drop $e)
    (table.init $t $e (i32.const 0) (i32.const 0) (i32.const 1))
    (i32.const 0)))
