;; calls the host through a table with a range that wraps
(module
  (import "extism:host/user" "weir_output_write" (func $weir_output_write (param i32 i32)))
  (memory (export "memory") 2)
  (type $t (func (param i32 i32)))
  (table 1 funcref)
  (elem (i32.const 0) $weir_output_write )
  (func (export "tool_call") (result i32)
    (call_indirect (type $t) (i32.const -8) (i32.const 16) (i32.const 0))
    (i32.const 0)))
