// The guest of guest-sdk/tck/SPEC.md that has context in full.
package main

import (
	"errors"
	"strings"

	weir "weir/guest-sdk/go"
)

func init() {
	weir.Describe(weir.Extension{Name: "tck-json", Version: "1.0.0"})
	weir.OnContext(context)
}

func main() {}

func context(c *weir.Context) error {
	for i := range c.Len() {
		m := c.Message(i)
		if !m.Get("role").Is("custom") {
			continue
		}
		switch m.Get("customType").Str() {
		case "drop":
			c.Drop(i)
		case "twice":
			c.Drop(i)
			c.Drop(i)
		case "replace":
			c.Replace(i, m.With("content", weir.String("replaced")))
		case "roles":
			c.Replace(i, m.With("content", weir.String(roles(c))))
		case "insert":
			c.Insert(i, `{"role":"user","content":"inserted","timestamp":0}`)
		case "append":
			c.Insert(c.Len(), `{"role":"user","content":"appended","timestamp":0}`)
		case "fail":
			return errors.New("as told")
		case "panic":
			panic("as told")
		}
	}
	return nil
}

func roles(c *weir.Context) string {
	list := make([]string, c.Len())
	for i := range list {
		list[i] = c.Message(i).Get("role").Str()
	}
	return strings.Join(list, ",")
}
