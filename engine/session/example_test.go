package session_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"weir/agentcore"
	"weir/engine/provider/scripted"
	"weir/engine/session"
	"weir/engine/wire"
)

// A session is kept in a file, closed, and gone on with.
func Example() {
	dir, err := os.MkdirTemp("", "weir-session-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	script, err := scripted.Parse("example", `
[[response]]
text = "Hello."
[[response]]
expect = "still"
text = "I am."
`)
	if err != nil {
		log.Fatal(err)
	}
	model := script.Provider()
	ctx := context.Background()
	talk := func(store *session.Store, start wire.SessionStartEvent, text string) {
		s, err := session.New(session.Config{Store: store, Start: start, Agent: agentcore.Config{Provider: model, Model: script.Model()}})
		if err != nil {
			log.Fatal(err)
		}
		s.Subscribe(func(ev session.Event) error {
			if run, ok := ev.(*session.RunEvent); ok {
				if end, ok := run.Event.(*agentcore.MessageEnd); ok {
					fmt.Printf("%s: %s\n", end.Message.Role(), messageText(end.Message))
				}
			}
			return nil
		})
		if _, err := s.Begin(ctx); err != nil {
			log.Fatal(err)
		}
		if err := s.Prompt(ctx, text, session.PromptOptions{}); err != nil {
			log.Fatal(err)
		}
		if err := s.Close(ctx); err != nil {
			log.Fatal(err)
		}
	}
	store, err := session.NewStore(session.StoreConfig{Dir: dir})
	if err != nil {
		log.Fatal(err)
	}
	talk(store, wire.SessionStartEvent{Reason: "startup"}, "Hello?")
	if store, err = session.OpenStore(store.Path(), session.StoreConfig{}); err != nil {
		log.Fatal(err)
	}
	talk(store, wire.SessionStartEvent{Reason: "resume"}, "Are you still there?")
	fmt.Println(len(store.Context().Messages), "messages are kept")
	// Output:
	// user: Hello?
	// assistant: Hello.
	// user: Are you still there?
	// assistant: I am.
	// 4 messages are kept
}
