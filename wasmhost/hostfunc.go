package wasmhost

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tetratelabs/wazero/api"
)

// userFuncs are the functions of ABI section 2 that take guest pointers, one copy each.
func userFuncs() []hostFunc {
	read := types(i32, i32, i32)
	fns := []hostFunc{
		{"weir_input_read", read, types(i32), func(ctx context.Context, mod api.Module, stack []uint64) {
			in := instanceOf(ctx)
			stack[0] = in.copyOut(mod, in.input.Bytes, stack[0], stack[1], stack[2])
		}},
		{"weir_output_write", types(i32, i32), nil, func(ctx context.Context, mod api.Module, stack []uint64) {
			in := instanceOf(ctx)
			b := in.view(mod, stack[0], stack[1])
			if len(b) > int(in.guest.limits.Output) {
				in.fail(KindOutput, fmt.Errorf("%d bytes of output, more than the limit of %d", len(b), in.guest.limits.Output))
			}
			in.output = append(in.output[:0], b...)
			in.direct = true
			if in.kernel != nil {
				in.k.clearOutput.Set(0) // the last of the two ways wins
			}
		}},
		{"weir_error", types(i32, i32), nil, func(ctx context.Context, mod api.Module, stack []uint64) {
			in := instanceOf(ctx)
			in.setError(in.view(mod, stack[0], stack[1]))
		}},
		{"weir_config_read", read, types(i32), func(ctx context.Context, mod api.Module, stack []uint64) {
			in := instanceOf(ctx)
			stack[0] = in.copyOut(mod, in.guest.config.all, stack[0], stack[1], stack[2])
		}},
		{"weir_message_read", types(i32, i32, i32, i32), types(i32), func(ctx context.Context, mod api.Module, stack []uint64) {
			in := instanceOf(ctx)
			index := int(uint32(stack[0]))
			if index >= in.input.Messages {
				in.fail(KindHost, fmt.Errorf("weir_message_read: message %d of %d", index, in.input.Messages))
			}
			stack[0] = in.copyOut(mod, in.input.Message(index), stack[1], stack[2], stack[3])
		}},
		{"weir_log", types(i32, i32, i32), nil, func(ctx context.Context, mod api.Module, stack []uint64) {
			in := instanceOf(ctx)
			in.log.add(logLevel(uint32(stack[0])), in.view(mod, stack[1], stack[2]))
		}},
		{"weir_tool_update", types(i32, i32), nil, func(ctx context.Context, mod api.Module, stack []uint64) {
			in := instanceOf(ctx)
			if in.input.Update == nil {
				in.fail(KindHost, errors.New("weir_tool_update: not in a tool's execution"))
			}
			in.input.Update(in.view(mod, stack[0], stack[1]))
		}},
		{"weir_response_read", read, types(i32), func(ctx context.Context, mod api.Module, stack []uint64) {
			in := instanceOf(ctx)
			stack[0] = in.copyOut(mod, in.response, stack[0], stack[1], stack[2])
		}},
	}
	for _, capability := range []string{"kv", "http", "file", "ui", "session"} {
		fns = append(fns, hostFunc{"weir_" + capability, types(i32, i32), types(i32), func(ctx context.Context, mod api.Module, stack []uint64) {
			in := instanceOf(ctx)
			stack[0] = in.capability(capability, in.view(mod, stack[0], stack[1]))
		}})
	}
	return fns
}

// view checks a guest's range and gives its bytes, which are the guest's memory: valid until the guest runs again.
func (in *instance) view(mod api.Module, ptr, n uint64) []byte {
	in.hostCall(int(uint32(n)))
	mem := mod.Memory()
	if mem == nil {
		in.fail(KindHost, errors.New("a pointer from a module without memory"))
	}
	b, ok := mem.Read(uint32(ptr), uint32(n))
	if !ok {
		in.fail(KindHost, fmt.Errorf("pointer %#x with length %d is outside the guest's %d bytes of memory", uint32(ptr), uint32(n), mem.Size()))
	}
	return b
}

// copyPiece bounds one uninterruptible copy: Go's copy cannot be preempted, and a waiting garbage collector would wait
// for it.
const copyPiece = 1 << 20

// copyOut copies src[offset:] to the guest, at most n bytes, and gives the number copied; with n = 0 the length of src.
func (in *instance) copyOut(mod api.Module, src []byte, ptr, offset, n uint64) uint64 {
	if uint32(n) == 0 {
		in.hostCall(0)
		return uint64(uint32(len(src)))
	}
	dst := in.view(mod, ptr, n)
	start := min(int(uint32(offset)), len(src))
	return uint64(in.copyPieces(dst, src[start:]))
}

func (in *instance) copyPieces(dst, src []byte) int {
	n := min(len(dst), len(src))
	for done := 0; done < n; {
		end := min(done+copyPiece, n)
		copy(dst[done:end], src[done:end])
		if end < n {
			in.check()
		}
		done = end
	}
	return n
}

// Codes that a capability import returns instead of a response's length.
const (
	codeFailed     = -1 // the response is the error's text
	codeNotGranted = -2
)

// capability serves a capability import. It gives the length of the response or, for a failure, a negative code.
func (in *instance) capability(name string, request []byte) uint64 {
	c, ok := in.guest.cfg.Capabilities[name]
	if !ok { // only while the module describes itself: a guest is not made without the grants that it imports
		in.response = []byte(name + " is not granted")
		return code(codeNotGranted)
	}
	ctx := context.WithValue(in.ctx, insideKey{}, &inside{guest: in.guest, outer: insideOf(in.ctx)})
	cancel := func() {}
	start := time.Now()
	if !c.Person {
		ctx, cancel = context.WithDeadline(ctx, in.deadline)
	}
	response, err := c.Handle(ctx, request)
	cancel()
	if c.Person {
		in.deadline = in.deadline.Add(time.Since(start))
	}
	in.check()
	if err != nil {
		in.response = []byte(err.Error())
		return code(codeFailed)
	}
	in.response = response
	return uint64(uint32(len(response)))
}

func insideOf(ctx context.Context) *inside {
	i, _ := ctx.Value(insideKey{}).(*inside)
	return i
}

func code(c int32) uint64 { return uint64(uint32(c)) }
