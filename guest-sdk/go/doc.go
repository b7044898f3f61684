// Package weir is the SDK for weir extensions written in Go and compiled by the
// standard toolchain:
//
//	GOOS=wasip1 GOARCH=wasm go build -trimpath -ldflags="-s -w" -buildmode=c-shared -o policy.wasm .
//
// An extension is a package main that registers what it handles in init and has
// an empty main: a module built with -buildmode=c-shared runs its package
// initialisation when the host loads it, and never runs main.
//
// The life of an extension:
//
//  1. init calls Describe once, and OnToolCall, OnToolResult, OnContext,
//     OnContextTable, On, Observe, AddTool and AddCommand for what it handles.
//  2. The host asks for the description, which is generated from these calls.
//     A mistake in them (an unknown event, a second handler) ends loading here,
//     with its text.
//  3. For each event the host calls the handler; what it returns is the answer.
//  4. After a fault (a panic, an error, an answer that is none) the host closes
//     the instance. The next event meets a fresh one, without the old state.
//
// Nothing here allows by accident: the zero Decision, the zero ToolResultEdit
// and the zero Result are faults, as is a panic. In a tool_call the host
// answers a fault by blocking.
//
// An instance handles one call at a time. Handlers are called on a goroutine of
// the call; other goroutines run only while a call does.
//
// What a handler is handed (ToolCall, Table, Value, …) is valid until it
// returns, since its memory is used again for the next call. Every string and
// every JSON that a method returns is a copy and can be kept.
//
// Compiled natively the package has the same API and no host: the package
// weirtest beside it runs the registered handlers under go test.
package weir
