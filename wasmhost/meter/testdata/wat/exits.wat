;; Every way to leave a function that counts depth.
(module
  (func $call)
  (func $deep (call $call))
  (func (export "fall") (param i32) (result i32) (call $deep) (i32.const 7))
  (func (export "return") (param i32) (result i32) (call $deep) (return (i32.const 8)))
  (func (export "branch") (param i32) (result i32) (call $deep) (i32.const 9) (br 0))
  (func (export "branch_if") (param i32) (result i32)
    (call $deep) (drop (br_if 0 (i32.const 10) (local.get 0))) (i32.const 0))
  (func (export "table") (param i32) (result i32)
    (call $deep)
    (drop (block $a (result i32) (br_table $a 1 (i32.const 11) (i32.const 1))))
    (unreachable))
  (func (export "two") (param i32) (result i32 i64)
    (call $deep)
    (block (block (br_if 0 (i32.eqz (local.get 0))) (return (i32.const 1) (i64.const 2))))
    (unreachable))
  (func (export "nested") (param i32) (result i32)
    (call $deep)
    (loop (if (local.get 0) (then (return (i32.const 12)))) (br 0))
    (unreachable))
  ;; A loop without calls, which the meter doubles, left by return, by branches and by a table.
  (func (export "loop_return") (param i32) (result i32)
    (call $deep)
    (block $out
      (loop $l
        (block $in (br_table $in $l $out (i32.add (local.get 0) (i32.const 1))))
        (return (i32.const 0))))
    (block $out
      (loop $l
        (br_if $out (local.get 0))
        (br $l)))
    (loop $l (if (local.get 0) (then (return (i32.const 13)))) (br $l))
    (unreachable)))
