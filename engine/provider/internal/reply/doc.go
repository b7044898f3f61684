// Package reply is what all providers do alike with a response: it grows the assistant message from what the wire says
// and tells it as events, and it turns what went wrong into the text of an error message.
//
// The life of a [Reply]:
//  1. [New] for each request; nothing is emitted yet.
//  2. Start once the server has begun to answer; then blocks are opened, added to and ended.
//  3. Done, Fail or Abort emits the last event and gives the final message. A request that fails before Start gives an
//     error event alone.
//
// A Reply belongs to one goroutine.
package reply
