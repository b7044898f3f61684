// Package guesttest runs a weir extension on plain wazero, with the pointer functions of the ABI as stubs, so that the policy
// of an extension can be tested without the real host. It enforces nothing: no fuel, no deadline, no strict reader.
//
// A Guest is for one goroutine.
package guesttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// hostModule is where the weir functions live.
const hostModule = "extism:host/user"

// ErrNoOutput is returned by Call when the guest answered nothing, which the real host treats as a fault.
var ErrNoOutput = errors.New("the guest answered nothing")

// Guest is a loaded extension.
type Guest struct {
	// Messages are what weir_message_read hands out: the encoded messages of a context event.
	Messages [][]byte
	// Journal are the requests of weir_journal. Each is answered as if it had been written.
	Journal []string
	// Session are the requests of weir_session. Each is answered with SessionAnswer, or refused with it if SessionRefuses is set.
	Session        []string
	SessionAnswer  string
	SessionRefuses bool

	runtime  wazero.Runtime
	module   api.Module
	config   []byte
	input    []byte
	output   []byte
	response []byte
	message  string
}

// Load instantiates wasm with the given settings (JSON, or nil for none). Close releases it.
func Load(ctx context.Context, wasm, config []byte) (*Guest, error) {
	g := &Guest{config: config, runtime: wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithMemoryLimitPages(1024))}
	host := g.runtime.NewHostModuleBuilder(hostModule)
	reader := func(of func() []byte) func(context.Context, api.Module, uint32, uint32, uint32) uint32 {
		return func(_ context.Context, m api.Module, ptr, offset, length uint32) uint32 {
			return read(m, of(), ptr, offset, length)
		}
	}
	writer := func(to func([]byte)) func(context.Context, api.Module, uint32, uint32) {
		return func(_ context.Context, m api.Module, ptr, length uint32) {
			b, ok := m.Memory().Read(ptr, length)
			if !ok {
				panic("a pointer outside the guest's memory")
			}
			to(append([]byte(nil), b...))
		}
	}
	host.NewFunctionBuilder().WithFunc(reader(func() []byte { return g.input })).Export("weir_input_read")
	host.NewFunctionBuilder().WithFunc(reader(func() []byte { return g.config })).Export("weir_config_read")
	host.NewFunctionBuilder().WithFunc(writer(func(b []byte) { g.output = b })).Export("weir_output_write")
	host.NewFunctionBuilder().WithFunc(writer(func(b []byte) { g.message = string(b) })).Export("weir_error")
	host.NewFunctionBuilder().WithFunc(func(context.Context, api.Module, int32, uint32, uint32) {}).Export("weir_log")
	host.NewFunctionBuilder().WithFunc(func(_ context.Context, m api.Module, index, ptr, offset, length uint32) uint32 {
		if int(index) >= len(g.Messages) {
			panic(fmt.Sprintf("message %d of %d", index, len(g.Messages)))
		}
		return read(m, g.Messages[index], ptr, offset, length)
	}).Export("weir_message_read")
	capability := func(answer func(request string) (string, bool)) func(context.Context, api.Module, uint32, uint32) int32 {
		return func(_ context.Context, m api.Module, ptr, length uint32) int32 {
			b, ok := m.Memory().Read(ptr, length)
			if !ok {
				panic("a pointer outside the guest's memory")
			}
			response, ok := answer(string(b))
			g.response = []byte(response)
			if !ok {
				return -1
			}
			return int32(len(response))
		}
	}
	host.NewFunctionBuilder().WithFunc(capability(func(request string) (string, bool) {
		g.Journal = append(g.Journal, request)
		return `{"seq":1,"hash":""}`, true
	})).Export("weir_journal")
	host.NewFunctionBuilder().WithFunc(capability(func(request string) (string, bool) {
		g.Session = append(g.Session, request)
		return g.SessionAnswer, !g.SessionRefuses
	})).Export("weir_session")
	host.NewFunctionBuilder().WithFunc(reader(func() []byte { return g.response })).Export("weir_response_read")
	if _, err := host.Instantiate(ctx); err != nil {
		return nil, errors.Join(err, g.Close(ctx))
	}
	module, err := g.runtime.InstantiateWithConfig(ctx, wasm, wazero.NewModuleConfig().WithStartFunctions("_initialize"))
	if err != nil {
		return nil, errors.Join(err, g.Close(ctx))
	}
	g.module = module
	return g, nil
}

func read(m api.Module, from []byte, ptr, offset, length uint32) uint32 {
	if length == 0 {
		return uint32(len(from))
	}
	if int(offset) >= len(from) {
		return 0
	}
	n := min(int(length), len(from)-int(offset))
	if !m.Memory().Write(ptr, from[offset:int(offset)+n]) {
		panic("a pointer outside the guest's memory")
	}
	return uint32(n)
}

// Call runs an export on input and returns what the guest answered. A non-zero result is an error with the guest's text.
// The bytes are the caller's.
func (g *Guest) Call(ctx context.Context, export string, input []byte) ([]byte, error) {
	f := g.module.ExportedFunction(export)
	if f == nil {
		return nil, fmt.Errorf("the module exports no %s", export)
	}
	g.input, g.output, g.message = input, nil, ""
	rc, err := f.Call(ctx)
	if err != nil {
		return nil, err
	}
	if rc[0] != 0 {
		return nil, fmt.Errorf("%s: %s", export, g.message)
	}
	if len(g.output) == 0 {
		return nil, ErrNoOutput
	}
	if !json.Valid(g.output) {
		return nil, fmt.Errorf("%s: the answer is not JSON: %q", export, g.output)
	}
	return g.output, nil
}

// Function looks an export up once and returns a call of it on input, for benchmarks: it neither copies nor checks the answer.
func (g *Guest) Function(export string, input []byte) (func(context.Context) error, error) {
	f := g.module.ExportedFunction(export)
	if f == nil {
		return nil, fmt.Errorf("the module exports no %s", export)
	}
	g.input = input
	stack := make([]uint64, 1)
	return func(ctx context.Context) error {
		if err := f.CallWithStack(ctx, stack); err != nil {
			return err
		}
		if stack[0] != 0 {
			return fmt.Errorf("%s: %s", export, g.message)
		}
		return nil
	}, nil
}

// MemoryBytes is the size of the guest's linear memory.
func (g *Guest) MemoryBytes() uint32 { return g.module.Memory().Size() }

// Close releases the guest.
func (g *Guest) Close(ctx context.Context) error { return g.runtime.Close(ctx) }
