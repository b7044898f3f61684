//go:build wasip1

package hostfn

import "unsafe"

//go:wasmimport extism:host/user weir_input_read
func inputRead(ptr unsafe.Pointer, offset, n uint32) uint32

//go:wasmimport extism:host/user weir_output_write
func outputWrite(ptr unsafe.Pointer, n uint32)

//go:wasmimport extism:host/user weir_error
func errorWrite(ptr unsafe.Pointer, n uint32)

//go:wasmimport extism:host/user weir_config_read
func configRead(ptr unsafe.Pointer, offset, n uint32) uint32

//go:wasmimport extism:host/user weir_message_read
func messageRead(index uint32, ptr unsafe.Pointer, offset, n uint32) uint32

//go:wasmimport extism:host/user weir_log
func logWrite(level int32, ptr unsafe.Pointer, n uint32)

//go:wasmimport extism:host/user weir_tool_update
func toolUpdate(ptr unsafe.Pointer, n uint32)

//go:wasmimport extism:host/user weir_response_read
func responseRead(ptr unsafe.Pointer, offset, n uint32) uint32

//go:wasmimport extism:host/user weir_kv
func kv(ptr unsafe.Pointer, n uint32) int32

//go:wasmimport extism:host/user weir_http
func http(ptr unsafe.Pointer, n uint32) int32

//go:wasmimport extism:host/user weir_file
func file(ptr unsafe.Pointer, n uint32) int32

//go:wasmimport extism:host/user weir_ui
func ui(ptr unsafe.Pointer, n uint32) int32

//go:wasmimport extism:host/user weir_session
func session(ptr unsafe.Pointer, n uint32) int32

//go:wasmimport extism:host/user weir_journal
func journal(ptr unsafe.Pointer, n uint32) int32

// Use is for native builds; here the host is the one that runs the module.
func Use(Host) { panic("weir: a wasm module has a host already") }

func at(b []byte) (unsafe.Pointer, uint32) {
	return unsafe.Pointer(unsafe.SliceData(b)), uint32(len(b))
}

// Input copies the input of the current call, from offset on, into buf and
// returns the number of bytes copied; an empty buf returns the total length.
// Config, Message and Response have the same conventions.
func Input(buf []byte, offset int) int {
	p, n := at(buf)
	return int(inputRead(p, uint32(offset), n))
}

// Config reads the extension's settings as JSON.
func Config(buf []byte, offset int) int {
	p, n := at(buf)
	return int(configRead(p, uint32(offset), n))
}

// Message reads the encoded JSON of one message of the array as received.
func Message(index int, buf []byte, offset int) int {
	p, n := at(buf)
	return int(messageRead(uint32(index), p, uint32(offset), n))
}

// Response reads the response of the last capability call.
func Response(buf []byte, offset int) int {
	p, n := at(buf)
	return int(responseRead(p, uint32(offset), n))
}

// Output replaces the output of the current call.
func Output(b []byte) { outputWrite(at(b)) }

// Error gives the text of the fault that a non-zero result stands for.
func Error(b []byte) { errorWrite(at(b)) }

// Log writes a line to the host's log: 0 debug, 1 info, 2 warn, 3 error.
func Log(level int32, b []byte) {
	p, n := at(b)
	logWrite(level, p, n)
}

// ToolUpdate sends a partial result, inside tool_execute only.
func ToolUpdate(b []byte) { toolUpdate(at(b)) }

// KV calls weir_kv.
func KV(request []byte) int32 { return kv(at(request)) }

// HTTP calls weir_http.
func HTTP(request []byte) int32 { return http(at(request)) }

// File calls weir_file.
func File(request []byte) int32 { return file(at(request)) }

// UI calls weir_ui.
func UI(request []byte) int32 { return ui(at(request)) }

// Session calls weir_session.
func Session(request []byte) int32 { return session(at(request)) }

// Journal calls weir_journal.
func Journal(request []byte) int32 { return journal(at(request)) }
