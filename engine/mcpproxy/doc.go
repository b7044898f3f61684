// Package mcpproxy stands between an MCP client and an MCP server that talk over standard input and output, and puts tool
// calls and their results to an extension set. `weir mcp` stands on it.
//
// The life of a session:
//
//  1. [New] makes a [Proxy]; its [Proxy.Ask] is what the engine is given to ask a person with.
//  2. [Proxy.Run] reads both sides line by line until one of them ends.
//  3. A tools/call request of the client is put to the set as a tool_call. A blocked one is answered with a tool result that
//     is an error and holds the reason, so that the model reads it; the server does not see it. Otherwise it goes on, with
//     the arguments as the set rewrote them.
//  4. The response to it is put to the set as a tool_result, and goes on as the set rewrote it.
//  5. Every other message goes through as the bytes it came as.
//
// Messages are read strictly: no key twice, none that differs from a key of the protocol in case alone, ids that are texts or
// whole numbers. Readers of JSON disagree about the rest, and what was judged could be something else than what is done. A
// message of the client that is not so is answered with an error; one of the server is dropped and noted. So is a response
// that nothing was asked for.
//
// One goroutine reads each side and one puts calls to the set, in the order in which they came; a cancellation overtakes
// calls that wait. A Proxy is for one Run; Ask may be called concurrently with it.
package mcpproxy
