package main

import (
	"slices"
	"strconv"
	"strings"

	weir "weir/guest-sdk/go"
)

// capability does what an argument asks of the host. ok is false when nothing is asked.
func capability(c *weir.ToolCall) (answer string, err error, ok bool) {
	switch c.Str("do") {
	case "kv":
		answer, err = kv(c)
	case "http":
		answer, err = request(c)
	case "file":
		answer, err = file(c)
	case "ui":
		answer, err = ui(c)
	case "session":
		var v weir.Value
		v, err = weir.Session(c.Str("op"), weir.Field{Key: c.Str("key"), Value: weir.String(c.Str("value"))})
		answer = string(v.JSON())
	case "journal":
		var seq int64
		var hash string
		seq, hash, err = weir.JournalAppend(c.Get("record").JSON())
		answer = strconv.FormatInt(seq, 10) + " " + hash
	default:
		return "", nil, false
	}
	return answer, err, true
}

func kv(c *weir.ToolCall) (string, error) {
	switch c.Str("op") {
	case "get":
		value, ok, err := weir.KVGet(c.Str("key"))
		return orNone(value, ok), err
	case "set":
		return "ok", weir.KVSet(c.Str("key"), c.Str("value"))
	case "delete":
		return "ok", weir.KVDelete(c.Str("key"))
	}
	keys, err := weir.KVList(c.Str("prefix"))
	slices.Sort(keys)
	return strings.Join(keys, ","), err
}

func request(c *weir.ToolCall) (string, error) {
	r, err := weir.HTTP(weir.HTTPRequest{Method: c.Str("method"), URL: c.Str("url"), Headers: []weir.Header{{Name: "x-tck", Value: c.Str("header")}}, Body: c.Str("body")})
	return strconv.Itoa(r.Status) + " " + r.Headers.Get("x-tck").Str() + " " + r.Body, err
}

func file(c *weir.ToolCall) (string, error) {
	path := c.Str("path")
	switch c.Str("op") {
	case "read":
		return weir.FileRead(path)
	case "stat":
		f, err := weir.FileStat(path)
		what := "file"
		if f.Dir {
			what = "dir"
		}
		return f.Name + " " + what + " " + strconv.FormatInt(f.Size, 10), err
	}
	list, err := weir.FileList(path)
	var names []string
	for _, f := range list {
		names = append(names, f.Name)
	}
	return strings.Join(names, ","), err
}

func ui(c *weir.ToolCall) (string, error) {
	switch c.Str("op") {
	case "confirm":
		yes, err := weir.UIConfirm(c.Str("title"), c.Str("message"))
		return strconv.FormatBool(yes), err
	case "select":
		answer, ok, err := weir.UISelect(c.Str("title"), c.Get("options").Strs()...)
		return orNone(answer, ok), err
	case "input":
		answer, ok, err := weir.UIInput(c.Str("title"), c.Str("placeholder"))
		return orNone(answer, ok), err
	case "notify":
		level := map[string]weir.Level{"info": weir.LevelInfo, "warning": weir.LevelWarn, "error": weir.LevelError}[c.Str("level")]
		return "ok", weir.UINotify(level, c.Str("message"))
	}
	return "ok", weir.UIStatus(c.Str("text"))
}

func orNone(value string, ok bool) string {
	if !ok {
		return "none"
	}
	return value
}
