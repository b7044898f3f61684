//go:build !wasip1

package hostfn

// There is one host, as there is for a wasm module: the functions of an import
// have nowhere to take another one from.
var (
	host     Host
	response []byte
)

// Use makes h the host of every function here. It is not safe to call while a
// handler runs.
func Use(h Host) { host = h }

func current() Host {
	if host == nil {
		panic("weir: no host: outside a wasm host, call extensions through the package weirtest")
	}
	return host
}

func read(from, buf []byte, offset int) int {
	if len(buf) == 0 {
		return len(from)
	}
	if offset > len(from) {
		return 0
	}
	return copy(buf, from[offset:])
}

// Input copies the input of the current call, from offset on, into buf and
// returns the number of bytes copied; an empty buf returns the total length.
// Config, Message and Response have the same conventions.
func Input(buf []byte, offset int) int { return read(current().Input(), buf, offset) }

// Config reads the extension's settings as JSON.
func Config(buf []byte, offset int) int { return read(current().Config(), buf, offset) }

// Message reads the encoded JSON of one message of the array as received. An
// index out of range panics, where the real host ends the call.
func Message(index int, buf []byte, offset int) int {
	encoded, ok := current().Message(index)
	if !ok {
		panic("weir: weir_message_read: no such message, or not inside context")
	}
	return read(encoded, buf, offset)
}

// Response reads the response of the last capability call.
func Response(buf []byte, offset int) int { return read(response, buf, offset) }

// Output replaces the output of the current call.
func Output(b []byte) { current().Output(b) }

// Error gives the text of the fault that a non-zero result stands for.
func Error(b []byte) { current().Error(b) }

// Log writes a line to the host's log: 0 debug, 1 info, 2 warn, 3 error.
func Log(level int32, b []byte) { current().Log(level, b) }

// ToolUpdate sends a partial result, inside tool_execute only.
func ToolUpdate(b []byte) { current().ToolUpdate(b) }

func call(name string, request []byte) int32 {
	answer, code := current().Capability(name, request)
	response = answer
	if code < 0 {
		return code
	}
	return int32(len(answer))
}

// KV calls weir_kv.
func KV(request []byte) int32 { return call("kv", request) }

// HTTP calls weir_http.
func HTTP(request []byte) int32 { return call("http", request) }

// File calls weir_file.
func File(request []byte) int32 { return call("file", request) }

// UI calls weir_ui.
func UI(request []byte) int32 { return call("ui", request) }

// Session calls weir_session.
func Session(request []byte) int32 { return call("session", request) }

// Journal calls weir_journal.
func Journal(request []byte) int32 { return call("journal", request) }
