// The guest that tests run for the full view of context: it turns the messages
// round by SetMessages, drops those of the role custom, and fails on a message
// that says "fail".
package main

import (
	"errors"

	weir "weir/guest-sdk/go"
)

func init() {
	weir.Describe(weir.Extension{Name: "fullview", Version: "0.1.0"})
	weir.OnContext(func(c *weir.Context) error {
		var list []weir.Item
		for i := c.Len() - 1; i >= 0; i-- {
			m := c.Message(i)
			switch {
			case m.Get("content").Is("fail"):
				return errors.New("as told")
			case m.Get("content").Is("edit too"):
				c.Drop(i)
			case m.Get("role").Is("custom"):
				continue
			}
			list = append(list, weir.Item{Ref: i})
		}
		c.SetMessages(append(list, weir.Item{Message: `{"role":"user","content":"last","timestamp":1}`}))
		return nil
	})
}

func main() {}
