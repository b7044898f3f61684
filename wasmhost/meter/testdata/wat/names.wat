(module
  (func $other)
  (func $culprit (param $x i32) (unreachable))
  (func (export "f") (call $other) (call $culprit (i32.const 1))))
