;; Every way to go on for ever.
(module
  (memory 64)
  (table 1000 funcref)
  (elem (i32.const 0) $indirect $tail_indirect)
  (type $void (func))
  (func (export "spin") (loop (br 0)))
  (func (export "branch_table") (loop (br_table 0 0 0 (i32.const 1))))
  (func (export "inner") (loop (loop (br 1))))
  ;; A call tree without loops: each level calls the next one four times.
  (func $t0) (func $t1 (call $t0) (call $t0) (call $t0) (call $t0)) (func $t2 (call $t1) (call $t1) (call $t1) (call $t1))
  (func $t3 (call $t2) (call $t2) (call $t2) (call $t2)) (func $t4 (call $t3) (call $t3) (call $t3) (call $t3))
  (func $t5 (call $t4) (call $t4) (call $t4) (call $t4)) (func $t6 (call $t5) (call $t5) (call $t5) (call $t5))
  (func $t7 (call $t6) (call $t6) (call $t6) (call $t6)) (func $t8 (call $t7) (call $t7) (call $t7) (call $t7))
  (func $t9 (call $t8) (call $t8) (call $t8) (call $t8)) (func $t10 (call $t9) (call $t9) (call $t9) (call $t9))
  (func (export "tree") (call $t10) (call $t10) (call $t10) (call $t10) (call $t10) (call $t10) (call $t10) (call $t10))
  (func $indirect (type $void))
  (func (export "indirect") (loop (call_indirect (type $void) (i32.const 0)) (br 0)))
  (func (export "fills") (loop (memory.fill (i32.const 0) (i32.const 1) (i32.const 0x400000)) (br 0)))
  (func (export "copies") (loop (memory.copy (i32.const 1) (i32.const 0) (i32.const 0x3fffff)) (br 0)))
  (func (export "tables") (loop (table.fill 0 (i32.const 0) (ref.null func) (i32.const 1000)) (br 0)))
  (func $tail (export "tail") (return_call $tail))
  (func $tail_indirect (export "tail_indirect") (return_call_indirect (type $void) (i32.const 1)))
  ;; The way back leads through an arm that is charged by itself.
  (func (export "arms") (local i32)
    (loop $l
      (if (i32.eqz (local.get 0))
        (then (local.set 0 (i32.const 1)) (br $l))
        (else (local.set 0 (i32.const 0)) (br $l))))))
