// Package openai talks to OpenAI's Chat Completions and Responses APIs, and to the many servers that speak the first one
// (Ollama, llama.cpp, vLLM, OpenRouter …), through the official SDK.
//
// What the SDK does here: the request's types and their encoding, headers, and the framing of the event stream. Its
// retries are off (the session layer retries) and it reads no environment. The events themselves are read into types of
// our own, which costs a fraction of the SDK's unions, takes the fields that compatible servers add (reasoning above all),
// and lets events that the SDK does not know pass.
//
// A response that the model finished is a "done" event; everything else is an error message whose text the session layer
// can sort: see package reply.
package openai
