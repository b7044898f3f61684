// An extension that leaves git push to people, whatever the way it is spelled.
package main

import weir "weir/guest-sdk/go"

func init() {
	weir.Describe(weir.Extension{Name: "no-push", Version: "1.0.0", Description: "Leaves git push to people."})
	weir.OnToolCall(func(c *weir.ToolCall) weir.Decision {
		shell, ok := c.Facts().Shell()
		if !ok || !shell.Understood {
			return weir.Ask("Run a command that cannot be read?", shell.Reason)
		}
		for _, command := range shell.Commands {
			if command.Dynamic {
				return weir.Ask("Run a command that is not known before it runs?", "")
			}
			name, _ := command.Word(0)
			if sub, _ := command.Word(1); name == "git" && sub == "push" {
				return weir.Block("pushing is for people")
			}
		}
		return weir.Allow()
	}).Tools("bash").Facts("shell")
}

func main() {}
