//go:build wasip1

// Command goguest is a Go guest for the meter's benchmarks: each export does n rounds and returns a checksum.
package main

import (
	"encoding/json"
	"regexp"
	"sort"
	"strings"
)

func main() {}

func text() string {
	return "[" + strings.Repeat(`{"name":"rm -rf /tmp/x","args":[1,22,333,-4.5e6,true,null],"deep":{"a":{"b":{"c":"value"}}}},`, 200) + "0]"
}

//go:wasmexport json
func decode(n uint32) uint32 {
	in := []byte(text())
	sum := 0
	for range n {
		var v []any
		if err := json.Unmarshal(in, &v); err != nil {
			panic(err)
		}
		sum += len(v)
	}
	return uint32(sum)
}

//go:wasmexport regex
func match(n uint32) uint32 {
	re := regexp.MustCompile(`rm\s+-[a-z]*r[a-z]*f?\s+/\w+`)
	in := text()
	sum := 0
	for range n {
		sum += len(re.FindAllStringIndex(in, -1))
	}
	return uint32(sum)
}

//go:wasmexport sort
func sorted(n uint32) uint32 {
	sum := 0
	for range n {
		words := strings.Split(text(), `"`)
		sort.Strings(words)
		sum += len(words[len(words)/2])
	}
	return uint32(sum)
}
