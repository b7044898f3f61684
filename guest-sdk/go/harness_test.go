package weir_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// modules are the guests of this folder that were built, and compiled what wazero
// made of them: each once for all tests.
var (
	modules  sync.Map
	compiled = wazero.NewCompilationCache()
)

// build compiles a guest as the README says.
func build(t testing.TB, pkg string) []byte {
	t.Helper()
	if binary, ok := modules.Load(pkg); ok {
		return binary.([]byte)
	}
	binary := buildIn(t, ".", pkg)
	modules.Store(pkg, binary)
	return binary
}

// buildIn runs the go command in dir.
func buildIn(t testing.TB, dir, pkg string) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "guest.wasm")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-buildmode=c-shared", "-o", out, pkg)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=", "GOWORK=off")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, text)
	}
	binary, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

// guest is a module on plain wazero: no meter, no deadline, the pointer
// functions of ABI section 2.
type guest struct {
	t        testing.TB
	mod      api.Module
	memory   api.Memory
	fns      map[string]api.Function
	stack    [1]uint64
	input    []byte
	output   []byte
	fault    string
	config   string
	logs     []string
	updates  []string
	messages [][]byte
	response []byte
	kv       func(request string) (string, int32)
}

func load(t testing.TB, binary []byte) *guest {
	t.Helper()
	ctx := t.Context()
	r := wazero.NewRuntimeWithConfig(ctx, runtimeConfig().WithCompilationCache(compiled))
	t.Cleanup(func() {
		if err := r.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	g := &guest{t: t, config: "{}", fns: map[string]api.Function{}}
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, r); err != nil {
		t.Fatal(err)
	}
	if _, err := g.host(r).Instantiate(ctx); err != nil {
		t.Fatal(err)
	}
	var err error
	g.mod, err = r.InstantiateWithConfig(ctx, binary,
		wazero.NewModuleConfig().WithStartFunctions("_initialize").WithStderr(t.Output()))
	if err != nil {
		t.Fatal(err)
	}
	g.memory = g.mod.Memory()
	return g
}

func (g *guest) host(r wazero.Runtime) wazero.HostModuleBuilder {
	read := func(from func() []byte) func(stack []uint64) {
		return func(stack []uint64) {
			all, n := from(), uint32(stack[2])
			if n == 0 {
				stack[0] = uint64(len(all))
				return
			}
			all = all[min(int(uint32(stack[1])), len(all)):]
			all = all[:min(int(n), len(all))]
			if !g.memory.Write(uint32(stack[0]), all) {
				panic("a pointer outside the memory")
			}
			stack[0] = uint64(len(all))
		}
	}
	view := func(ptr, n uint64) []byte {
		b, ok := g.memory.Read(uint32(ptr), uint32(n))
		if !ok {
			panic("a pointer outside the memory")
		}
		return b
	}
	i32 := func(n int) []api.ValueType {
		types := make([]api.ValueType, n)
		for i := range types {
			types[i] = api.ValueTypeI32
		}
		return types
	}
	b := r.NewHostModuleBuilder("extism:host/user")
	add := func(name string, params, results int, f func(stack []uint64)) {
		b.NewFunctionBuilder().WithGoFunction(api.GoFunc(func(_ context.Context, stack []uint64) { f(stack) }), i32(params), i32(results)).Export(name)
	}
	add("weir_input_read", 3, 1, read(func() []byte { return g.input }))
	add("weir_config_read", 3, 1, read(func() []byte { return []byte(g.config) }))
	add("weir_response_read", 3, 1, read(func() []byte { return g.response }))
	add("weir_message_read", 4, 1, func(stack []uint64) {
		index := int(uint32(stack[0]))
		stack[0], stack[1], stack[2] = stack[1], stack[2], stack[3]
		read(func() []byte { return g.messages[index] })(stack)
	})
	add("weir_output_write", 2, 0, func(stack []uint64) { g.output = append(g.output[:0], view(stack[0], stack[1])...) })
	add("weir_error", 2, 0, func(stack []uint64) { g.fault = string(view(stack[0], stack[1])) })
	add("weir_log", 3, 0, func(stack []uint64) {
		g.logs = append(g.logs, fmt.Sprint(uint32(stack[0]), " ", string(view(stack[1], stack[2]))))
	})
	add("weir_tool_update", 2, 0, func(stack []uint64) { g.updates = append(g.updates, string(view(stack[0], stack[1]))) })
	add("weir_kv", 2, 1, func(stack []uint64) {
		text, code := g.kv(string(view(stack[0], stack[1])))
		g.response = []byte(text)
		if code == 0 {
			code = int32(len(text))
		}
		stack[0] = uint64(uint32(code))
	})
	return b
}

// call runs an export. rc is its result; err is a trap or an exit.
func (g *guest) call(export string, input []byte) (rc int32, err error) {
	f := g.fns[export]
	if f == nil {
		if f = g.mod.ExportedFunction(export); f == nil {
			g.t.Fatalf("no export %s", export)
		}
		g.fns[export] = f
	}
	g.input, g.output, g.fault = input, g.output[:0], ""
	if err := f.CallWithStack(g.t.Context(), g.stack[:]); err != nil {
		return 0, err
	}
	return int32(uint32(g.stack[0])), nil
}

// ok runs an export that must succeed and returns its output.
func (g *guest) ok(export, input string) string {
	g.t.Helper()
	rc, err := g.call(export, []byte(input))
	if rc != 0 || err != nil {
		g.t.Fatalf("%s: rc %d, %v: %s", export, rc, err, g.fault)
	}
	return string(g.output)
}

const where = `"context":{"sessionId":"s","extension":"guard","cwd":"/home/dev/project","mode":"text","hasUI":true,"model":{"provider":"p","id":"m"},"thinkingLevel":"off","turnIndex":3,"callIndex":0}`

func toolCall(tool, args string) string {
	return `{"type":"tool_call","toolName":"` + tool + `","toolCallId":"call_1","input":` + args + `,` + where + `}`
}

func command(text string) string { return toolCall("bash", `{"command":"`+text+`"}`) }
