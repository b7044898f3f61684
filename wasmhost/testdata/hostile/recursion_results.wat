;; recurses with 50 results
(module
  (memory (export "memory") 2)
  (func $r (result i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 ) (call $r) (drop) (i64.const 1))
  (func (export "tool_call") (result i32)
    (call $r) (drop) (drop) (drop) (drop) (drop) (drop) (drop) (drop) (drop) (drop) (drop) (drop) (drop) (drop) (drop) (drop) (drop) (drop) (drop) (drop) (drop) (drop) (drop) (drop) (drop) (drop) (drop) (drop) (drop) (drop) (drop) (drop) (drop) (drop) (drop) (drop) (drop) (drop) (drop) (drop) (drop) (drop) (drop) (drop) (drop) (drop) (drop) (drop) (drop) (drop)
    (i32.const 0)))
