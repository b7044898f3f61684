// Package anthropic talks to Anthropic's Messages API, and to servers that speak it, through the official SDK.
//
// What the SDK does here: the request's types and their encoding, headers, and the framing of the event stream. Its
// retries are off (the session layer retries), it reads no environment and no profiles, and it traces nothing. The events
// themselves are read into types of our own, which costs a third of the SDK's unions and lets events that the SDK does
// not know pass.
//
// A response that the model finished is a "done" event; everything else is an error message whose text the session layer
// can sort: see package reply.
package anthropic
