package weir

import (
	"strconv"
	"unsafe"

	"weir/guest-sdk/go/internal/hostfn"
	"weir/guest-sdk/go/internal/scan"
)

// HostError is a capability call that the host refused or that did not work.
// A handler that returns it, or panics with it, faults with its text.
type HostError struct {
	Capability string // kv, http, file, ui or session
	Op         string
	Code       int // negative
	Text       string
}

func (e *HostError) Error() string {
	return e.Capability + ": " + e.Op + ": " + e.Text + " (" + strconv.Itoa(e.Code) + ")"
}

// request makes one capability call. The response is valid for as long as the
// program runs.
func request(capability string, f hostfn.Capability, op string, fields ...Field) (Value, error) {
	b := appendObject(nil, append([]Field{{"op", String(op)}}, fields...))
	if _, err := scan.Value(string(b)); err != nil {
		return Value{}, &answerError{capability + ": " + op, err}
	}
	code := f(b)
	response := readAll(nil, hostfn.Response)
	if code < 0 {
		return Value{}, &HostError{capability, op, int(code), string(response)}
	}
	s, err := scan.Value(unsafe.String(unsafe.SliceData(response), len(response)))
	if err != nil {
		return Value{}, &answerError{capability + ": " + op + ": the response", err}
	}
	return Value{s}, nil
}

// KVGet returns a value that the extension stored in this session; ok is false
// when there is none. Needs the grant kv.
func KVGet(key string) (value string, ok bool, err error) {
	v, err := request("kv", hostfn.KV, "get", Field{"key", String(key)})
	if err != nil {
		return "", false, err
	}
	v = v.Get("value")
	return v.Str(), v.Kind() == KindString, nil
}

// KVSet stores a value with the session, up to 64 KiB.
func KVSet(key, value string) error {
	_, err := request("kv", hostfn.KV, "set", Field{"key", String(key)}, Field{"value", String(value)})
	return err
}

// KVDelete removes a value; one that does not exist is no error.
func KVDelete(key string) error {
	_, err := request("kv", hostfn.KV, "delete", Field{"key", String(key)})
	return err
}

// KVList returns the keys that start with prefix.
func KVList(prefix string) ([]string, error) {
	v, err := request("kv", hostfn.KV, "list", Field{"prefix", String(prefix)})
	return v.Get("keys").Strs(), err
}

// HTTPRequest is a request for HTTP.
type HTTPRequest struct {
	Method  string // "" means GET
	URL     string
	Headers []Header
	Body    string // bytes
}

// Header is a header of a request.
type Header struct{ Name, Value string }

// HTTPResponse is a response of any status.
type HTTPResponse struct {
	Status int
	// Headers is an object; names are in lower case.
	Headers Value
	Body    string // bytes
}

// HTTP makes a request. Needs a grant http that names its method and host; a
// response is cut off by the host's limits with an error, not silently.
func HTTP(r HTTPRequest) (HTTPResponse, error) {
	if r.Method == "" {
		r.Method = "GET"
	}
	headers := make([]Field, 0, len(r.Headers))
	for _, h := range r.Headers {
		headers = append(headers, Field{h.Name, String(h.Value)})
	}
	v, err := request("http", hostfn.HTTP, "request", Field{"method", String(r.Method)}, Field{"url", String(r.URL)},
		Field{"headers", Object(headers...)}, Field{"body", base64(r.Body)})
	if err != nil {
		return HTTPResponse{}, err
	}
	body, ok := unbase64(v.Get("body").Str())
	if !ok {
		return HTTPResponse{}, answerText("http: the body of the response is not base64")
	}
	return HTTPResponse{int(v.Get("status").Int(0)), v.Get("headers"), body}, nil
}

// FileRead returns the text of a file below a folder of the grant read.
func FileRead(path string) (string, error) {
	v, err := request("file", hostfn.File, "read", Field{"path", String(path)})
	return v.Get("text").Str(), err
}

// FileInfo is what FileStat and FileList say of a file.
type FileInfo struct {
	Name string
	Dir  bool
	Size int64 // in bytes
}

func fileInfo(v Value) FileInfo {
	return FileInfo{v.Get("name").Str(), v.Get("dir").Bool(false), v.Get("size").Int(0)}
}

// FileStat describes a file.
func FileStat(path string) (FileInfo, error) {
	v, err := request("file", hostfn.File, "stat", Field{"path", String(path)})
	return fileInfo(v), err
}

// FileList describes what a folder holds.
func FileList(path string) ([]FileInfo, error) {
	v, err := request("file", hostfn.File, "list", Field{"path", String(path)})
	var list []FileInfo
	for e := range v.Get("entries").Elements() {
		list = append(list, fileInfo(e))
	}
	return list, err
}

// UIConfirm asks the person yes or no. The time of the answer does not count
// against the deadline. Needs the grant ui, as all UI functions do.
func UIConfirm(title, message string) (bool, error) {
	v, err := request("ui", hostfn.UI, "confirm", Field{"title", words(title)}, Field{"message", words(message)})
	return v.Get("answer").Bool(false), err
}

// UISelect asks the person to choose; ok is false when they did not.
func UISelect(title string, options ...string) (answer string, ok bool, err error) {
	v, err := request("ui", hostfn.UI, "select", Field{"title", words(title)}, Field{"options", Strings(options...)})
	v = v.Get("answer")
	return v.Str(), v.Kind() == KindString, err
}

// UIInput asks the person for a line; ok is false when they gave none.
func UIInput(title, placeholder string) (answer string, ok bool, err error) {
	v, err := request("ui", hostfn.UI, "input", Field{"title", words(title)}, Field{"placeholder", words(placeholder)})
	v = v.Get("answer")
	return v.Str(), v.Kind() == KindString, err
}

// UINotify shows the person a message.
func UINotify(level Level, message string) error {
	name := "info"
	switch level {
	case LevelWarn:
		name = "warning"
	case LevelError:
		name = "error"
	}
	_, err := request("ui", hostfn.UI, "notify", Field{"message", words(message)}, Field{"level", String(name)})
	return err
}

// UIStatus shows a text of this extension in the status line; "" removes it.
func UIStatus(text string) error {
	_, err := request("ui", hostfn.UI, "status", Field{"text", words(text)})
	return err
}

// Session makes a call of the capability session: op names it, fields are its
// arguments. docs/abi.md lists the operations and the grant that each needs.
func Session(op string, fields ...Field) (Value, error) {
	return request("session", hostfn.Session, op, fields...)
}

func words(text string) JSON { return JSON(appendWords(nil, text)) }
