package wire

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/agentcore"
)

// payloadCase is one case of payloads.json: an event with nothing in it, and with everything.
type payloadCase struct {
	Event string          `json:"event"`
	Empty json.RawMessage `json:"empty"`
	Full  json.RawMessage `json:"full"`
}

// TestPayloadGolden holds the wire form of the payloads: the names of their keys, and which are left out.
func TestPayloadGolden(t *testing.T) {
	var got []payloadCase
	for _, p := range Payloads() {
		full := reflect.New(reflect.TypeOf(p)).Elem()
		full.Set(reflect.ValueOf(p))
		fill(t, full, "value")
		got = append(got, payloadCase{p.Kind().String(), marshal(t, p), marshal(t, full.Interface())})
	}
	if *update {
		writeJSON(t, "payloads.json", got)
		return
	}
	var want []payloadCase
	readJSON(t, "payloads.json", &want)
	for i := range want {
		want[i].Empty, want[i].Full = json.RawMessage(compact(t, want[i].Empty)), json.RawMessage(compact(t, want[i].Full))
	}
	text := cmp.Transformer("text", func(raw json.RawMessage) string { return string(raw) })
	if diff := cmp.Diff(want, got, text); diff != "" {
		t.Errorf("payloads.json (-want +got):\n%s", diff)
	}
}

// fill gives each field a value that is not zero; a text says whose it is.
func fill(t *testing.T, v reflect.Value, name string) {
	if v.Type() == reflect.TypeFor[json.RawMessage]() {
		v.Set(reflect.ValueOf(json.RawMessage(`{"a":"<b>"}`)))
		return
	}
	if v.Type() == reflect.TypeFor[*agentcore.Message]() {
		v.Set(reflect.ValueOf(agentcore.NewMessage(&agentcore.UserMessage{Content: agentcore.Content{Text: "text"}, Timestamp: 7})))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(name)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64, reflect.Int32:
		v.SetInt(7)
	case reflect.Float64:
		v.SetFloat(1.5)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), name)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(t, v.Index(0), name)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(t, key, "key")
		fill(t, value, name)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			// End is not sent: it says which of two events it is.
			if f := v.Type().Field(i); f.IsExported() && f.Tag.Get("json") != "-" {
				fill(t, v.Field(i), f.Name)
			}
		}
	case reflect.Interface:
		v.Set(reflect.ValueOf(map[string]any{"a": 1}))
	default:
		t.Fatalf("%s: a %s cannot be filled", name, v.Kind())
	}
}
