package set_test

import (
	"fmt"

	"weir/engine/set"
)

func ExampleParse() {
	_, err := set.Parse("weir.toml", []byte(`version = 1

[[extension]]
name = "guard-rm"
module = "guard-rm.wasm"
timeuot = "200ms"
memory = "unlimited"
`))
	fmt.Println(err)
	// Output:
	// weir.toml:6:1: unknown key "timeuot" in [[extension]] (did you mean "timeout"?)
	// weir.toml:7:1: memory is the string "unlimited", but every limit is positive: there is no unlimited (write memory = "64MiB")
}
