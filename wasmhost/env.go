package wasmhost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/tetratelabs/wazero/api"
)

// envFuncs are what a kernel imports from the host. Their pointers are the kernel's own and already checked there.
func envFuncs() []hostFunc {
	return []hostFunc{
		{"input_size", nil, types(i64), func(ctx context.Context, _ api.Module, stack []uint64) {
			in := instanceOf(ctx)
			in.hostCall(0)
			stack[0] = uint64(len(in.input.Bytes))
		}},
		{"input_copy", types(i32), nil, func(ctx context.Context, _ api.Module, stack []uint64) {
			in := instanceOf(ctx)
			in.copyPieces(in.kernelBytes(stack[0], uint64(len(in.input.Bytes))), in.input.Bytes)
		}},
		{"staged_copy", types(i32), nil, func(ctx context.Context, _ api.Module, stack []uint64) {
			in := instanceOf(ctx)
			in.copyPieces(in.kernelBytes(stack[0], uint64(len(in.staged))), in.staged)
		}},
		{"config_get", types(i32, i32), types(i64), func(ctx context.Context, _ api.Module, stack []uint64) {
			in := instanceOf(ctx)
			value, ok := in.guest.config.keys[string(in.kernelBytes(stack[0], stack[1]))]
			stack[0] = in.stage(value, ok)
		}},
		{"var_get", types(i32, i32), types(i64), func(ctx context.Context, _ api.Module, stack []uint64) {
			in := instanceOf(ctx)
			value, ok := in.guest.vars.get(string(in.kernelBytes(stack[0], stack[1])))
			stack[0] = in.stage(value, ok)
		}},
		{"var_set", types(i32, i32, i32, i32), nil, func(ctx context.Context, _ api.Module, stack []uint64) {
			in := instanceOf(ctx)
			key, value := in.kernelBytes(stack[0], stack[1]), in.kernelBytes(stack[2], stack[3])
			if len(value) > maxVariableBytes {
				in.fail(KindMemory, fmt.Errorf("a variable of %d bytes, more than the limit of %d for all", len(value), maxVariableBytes))
			}
			if err := in.guest.vars.set(string(key), slices.Clone(value)); err != nil {
				in.fail(KindMemory, err)
			}
		}},
		{"var_delete", types(i32, i32), nil, func(ctx context.Context, _ api.Module, stack []uint64) {
			in := instanceOf(ctx)
			in.guest.vars.remove(string(in.kernelBytes(stack[0], stack[1])))
		}},
		{"log", types(i32, i32, i32), nil, func(ctx context.Context, _ api.Module, stack []uint64) {
			in := instanceOf(ctx)
			in.log.add(logLevel(uint32(stack[0])), in.kernelBytes(stack[1], stack[2]))
		}},
		{"log_level", nil, types(i32), func(ctx context.Context, _ api.Module, stack []uint64) {
			in := instanceOf(ctx)
			in.hostCall(0)
			stack[0] = 1 // Extism's number for debug: everything is taken, the reader of the log decides
		}},
		{"http_request", types(i32, i32, i32, i32), types(i64), func(ctx context.Context, _ api.Module, stack []uint64) {
			in := instanceOf(ctx)
			body, ok := in.extismHTTP(in.kernelBytes(stack[0], stack[1]), in.kernelBytes(stack[2], stack[3]))
			stack[0] = in.stage(body, ok)
		}},
		{"http_status", nil, types(i32), func(ctx context.Context, _ api.Module, stack []uint64) {
			in := instanceOf(ctx)
			in.hostCall(0)
			stack[0] = uint64(uint32(in.httpCode))
		}},
		{"http_headers", nil, types(i64), func(ctx context.Context, _ api.Module, stack []uint64) {
			in := instanceOf(ctx)
			stack[0] = in.stage(in.httpHead, in.httpHead != nil)
		}},
		{"fault", types(i32), nil, func(ctx context.Context, _ api.Module, stack []uint64) {
			in := instanceOf(ctx)
			switch uint32(stack[0]) {
			case 1:
				in.fail(KindHost, errors.New("an offset or length outside the blocks that the guest has"))
			case 2:
				in.fail(KindHost, errors.New("a range that is not inside one live block of the guest"))
			case 3:
				in.fail(KindMemory, errors.New("more than 131072 blocks"))
			default:
				in.fail(KindMemory, fmt.Errorf("a block that would need more than the limit of %d bytes of memory", in.guest.limits.Memory))
			}
		}},
	}
}

// kernelBytes gives a range of the kernel's memory, valid until the guest runs again.
func (in *instance) kernelBytes(ptr, n uint64) []byte {
	in.hostCall(int(uint32(n)))
	if uint32(n) == 0 {
		return nil
	}
	b, ok := in.kernel.Memory().Read(uint32(ptr), uint32(n))
	if !ok {
		in.fail(KindHost, errors.New("the kernel gave a range outside its memory"))
	}
	return b
}

// stage keeps value for the kernel to copy in, and gives its length, or -1 when there is none.
func (in *instance) stage(value []byte, ok bool) uint64 {
	in.hostCall(len(value))
	if !ok {
		return ^uint64(0)
	}
	in.staged = value
	return uint64(len(value))
}

// extismHTTP answers Extism's http_request through the http capability. Extism has no way to report a failed request: it is
// a fault.
func (in *instance) extismHTTP(request, body []byte) ([]byte, bool) {
	var r struct {
		URL     string            `json:"url"`
		Method  string            `json:"method"`
		Headers map[string]string `json:"headers"`
	}
	if err := json.Unmarshal(request, &r); err != nil {
		in.fail(KindHost, fmt.Errorf("http_request: %w", err))
	}
	req, err := json.Marshal(httpRequest{Op: "request", URL: r.URL, Method: r.Method, Headers: r.Headers, Body: body})
	if err != nil {
		in.fail(KindHost, fmt.Errorf("http_request: %w", err))
	}
	if n := int32(uint32(in.capability("http", req))); n < 0 {
		in.fail(KindHost, fmt.Errorf("http_request: %s", in.response))
	}
	var resp httpResponse
	if err := json.Unmarshal(in.response, &resp); err != nil {
		in.fail(KindHost, fmt.Errorf("http_request: %w", err))
	}
	in.httpCode = resp.Status
	if in.httpHead, err = json.Marshal(resp.Headers); err != nil {
		in.fail(KindHost, fmt.Errorf("http_request: %w", err))
	}
	return resp.Body, len(resp.Body) > 0
}
