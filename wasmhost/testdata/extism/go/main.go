// A plain Extism module on the real development kit. Its exports are those of the other languages beside it.
package main

import (
	"errors"
	"fmt"
	"strings"

	pdk "github.com/extism/go-pdk"
)

// echo gives the input back, by way of two blocks and of a JSON value.
//
//go:wasmexport echo
func echo() int32 {
	in := pdk.Input()
	m := pdk.AllocateBytes(in)
	if again := pdk.FindMemory(m.Offset()); string(again.ReadBytes()) != string(in) {
		pdk.SetErrorString("the block does not hold what was put in")
		return 1
	}
	m.Free()
	pdk.OutputMemory(pdk.AllocateString(pdk.InputString()))
	return 0
}

// settings says what the input names, line by line.
//
//go:wasmexport settings
func settings() int32 {
	var out []string
	for key := range strings.SplitSeq(pdk.InputString(), "\n") {
		value, ok := pdk.GetConfig(key)
		out = append(out, fmt.Sprintf("%s=%q %v", key, value, ok))
	}
	pdk.OutputString(strings.Join(out, "\n"))
	return 0
}

// counter counts in a variable, and keeps the input in another.
//
//go:wasmexport counter
func counter() int32 {
	n := pdk.GetVarInt("n") + 1
	pdk.SetVarInt("n", n)
	before := pdk.GetVar("last")
	pdk.SetVar("last", pdk.Input())
	pdk.Output(fmt.Appendf(nil, "%d %q", n, before))
	return 0
}

//go:wasmexport forget
func forget() int32 {
	pdk.RemoveVar("n")
	pdk.RemoveVar("never set")
	pdk.OutputString(fmt.Sprint(pdk.GetVar("n") == nil))
	return 0
}

//go:wasmexport logs
func logs() int32 {
	pdk.Log(pdk.LogDebug, "debug "+pdk.InputString())
	pdk.Log(pdk.LogInfo, "info")
	pdk.Log(pdk.LogWarn, "warn é😀")
	pdk.Log(pdk.LogError, "error")
	pdk.OutputString("logged")
	return 0
}

// fails sets the input as its error and returns 0 or, for an empty one, only a number.
//
//go:wasmexport fails
func fails() int32 {
	if in := pdk.InputString(); in != "" {
		pdk.OutputString("an output that must not count")
		pdk.SetError(errors.New(in))
		return 0
	}
	return 3
}

// bytes turns the input round, and shows that all of the language's library is there.
//
//go:wasmexport bytes
func bytes() int32 {
	in := pdk.Input()
	m := pdk.Allocate(len(in) + 1)
	turned := make([]byte, 0, len(in)+1)
	for i := len(in) - 1; i >= 0; i-- {
		turned = append(turned, in[i])
	}
	turned = append(turned, '!')
	m.Store(turned)
	back := make([]byte, m.Length())
	m.Load(back)
	pdk.Output(back)
	return 0
}

func main() {}
