// Package hostfn is the guest's side of the host functions of the ABI: Go
// slices in, one copy each. Compiled for wasip1 its functions are imports of
// the module extism:host/user; compiled for anything else they go to the Host
// given to Use, so that a policy runs under go test.
//
// Each capability has a function of its own: the linker leaves out the import
// of a function that nothing reaches, and so the imports of a module say what
// it may ask for.
package hostfn

// Capability is the type of a capability's function: it hands a JSON request to
// the host and returns the length of the response, or a negative error code.
// Response reads either.
type Capability func(request []byte) int32

// Host stands in for the real host when a policy runs natively. Its methods
// are called one at a time. What a method is handed belongs to the guest and
// must be copied to be kept.
type Host interface {
	Input() []byte
	Config() []byte
	// Message returns the encoded message at index; ok is false when there is none.
	Message(index int) (encoded []byte, ok bool)
	Output(b []byte)
	Error(b []byte)
	Log(level int32, b []byte)
	ToolUpdate(b []byte)
	// Capability serves kv, http, file, ui or session. A negative code makes
	// the response an error text; any other code is ignored.
	Capability(name string, request []byte) (response []byte, code int32)
}
