package wasmhost

import (
	"context"
	"errors"
	"fmt"
	"strings"
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
				in.fault = in.tooLarge(uint32(len(b)))
				panic(errAbort)
			}
			in.output = append(in.output[:0], b...)
			if in.kernel != nil {
				in.k.outputState.Set(0) // the last of the two ways wins
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
			var message []byte
			in.ours("message", func() { message = in.input.Message(index) })
			stack[0] = in.copyOut(mod, message, stack[1], stack[2], stack[3])
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
			partial := in.view(mod, stack[0], stack[1])
			ctx, end := in.callback()
			in.ours("update", func() {
				defer end()
				in.input.Update(ctx, partial)
			})
			in.check()
		}},
		{"weir_response_read", read, types(i32), func(ctx context.Context, mod api.Module, stack []uint64) {
			in := instanceOf(ctx)
			stack[0] = in.copyOut(mod, in.response, stack[0], stack[1], stack[2])
		}},
	}
	for _, capability := range []string{"kv", "http", "file", "ui", "session", "journal"} {
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
	if !in.guest.module.summary.HasMemory {
		in.fail(KindHost, errors.New("a pointer from a module without memory"))
	}
	mem := mod.Memory()
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

// maxRequest and maxResponse bound what a capability is given and gives. Whatever a capability needs fits (the largest
// request is an HTTP body in base64, the largest response a file of control characters), reading a request is no way to
// spend time unseen, and a response's length does not read as a negative code.
const (
	maxRequest  = 2 << 20
	maxResponse = 64 << 20
)

// capability serves a capability import. It gives the length of the response or, for a failure, a negative code.
func (in *instance) capability(name string, request []byte) uint64 {
	c, ok := in.guest.cfg.Capabilities[name]
	if !ok { // only while the module describes itself: a guest is not made without the grants that it imports
		in.response = []byte(name + " is not granted")
		return code(codeNotGranted)
	}
	var response []byte
	err := fmt.Errorf("a request of %d bytes, more than the limit of %d", len(request), maxRequest)
	if len(request) <= maxRequest {
		ctx, end := in.callback()
		in.ours("capability "+name, func() {
			defer end()
			response, err = c.Handle(ctx, request)
		})
		in.check()
	}
	if err == nil && len(response) > maxResponse {
		err = fmt.Errorf("a response of %d bytes, more than the limit of %d", len(response), maxResponse)
	}
	if err != nil {
		in.response = []byte(strings.ToValidUTF8(err.Error(), "\uFFFD"))
		return code(codeFailed)
	}
	in.response = response
	return uint64(uint32(len(response)))
}

// callback is the context for code of ours that a guest's host call leads to, until end. It ends with the caller's, at
// the guest's deadline, and when the guest is closed.
func (in *instance) callback() (ctx context.Context, end func()) {
	if in.queued == nil {
		in.queued = laterBudgetOf(in.ctx)
	}
	i := &inside{guest: in.guest, outer: insideOf(in.ctx), budget: in.queued}
	patient, cancel := context.WithCancel(context.WithValue(in.ctx, insideKey{}, i))
	stop := context.AfterFunc(in.guest.life, cancel)
	i.patient = patient
	ctx, cancelTimed := context.WithTimeout(patient, in.deadline-in.now())
	return ctx, func() {
		cancelTimed()
		stop()
		cancel()
		in.deadline += time.Duration(i.waited.Load())
		after, later := i.settle()
		in.after, in.later = append(in.after, after...), append(in.later, later...)
	}
}

// AfterCall runs f when the guest's call that ctx belongs to is over, however it ended, and the guest can be called again:
// for what would end or wait for that call. ctx is the context that a [Capability]'s Handle was given, or made from it. When
// the call is inside a host call of another guest, the outermost counts. f runs on the goroutine that called the guest,
// before the call returns, and must not block. Outside of a Handle it runs at once.
func AfterCall(ctx context.Context, f func()) {
	i := insideOf(ctx)
	for i != nil && i.outer != nil {
		i = i.outer
	}
	if i == nil || !i.postpone(f) {
		f()
	}
}

// WaitForPerson runs wait without counting its time against the guest's timeout. ctx is the context that a
// [Capability]'s Handle was given, or made from it; the one that wait gets lacks the guest's deadline. Outside of a Handle
// it just runs wait.
func WaitForPerson(ctx context.Context, wait func(ctx context.Context) error) error {
	i := insideOf(ctx)
	if i == nil {
		return wait(ctx)
	}
	start := time.Now()
	err := wait(i.patient)
	i.waited.Add(int64(time.Since(start)))
	return err
}

// ours runs code that is not this package's. A panic there must not unwind through the guest's frames as if the guest
// had trapped.
func (in *instance) ours(what string, run func()) {
	defer func() {
		if r := recover(); r != nil {
			in.fail(KindHost, fmt.Errorf("%s: panic: %v", what, r))
		}
	}()
	run()
}

func insideOf(ctx context.Context) *inside {
	i, _ := ctx.Value(insideKey{}).(*inside)
	return i
}

func code(c int32) uint64 { return uint64(uint32(c)) }
