// Package wiretest tests providers without a network: a local server says what a fixture tells it to, byte for byte, and
// the events and the message that the provider makes of it are compared with the fixture's.
//
// A fixture is a txtar file. Its comment says what it shows. Its files:
//
//	request    what is asked, as JSON: system, messages, tools, thinking; default: the user says "Hi"
//	wire       optional: the payload that the server must get, as JSON
//	response   status line, headers, an empty line, and the body; lines that start with @ are commands:
//	           @pause 20ms   flush and wait
//	           @raw "ab\xff" these bytes (Go syntax) without a line end
//	           @cut          flush and break the connection
//	           @hang         flush and wait until the client goes away
//	want       the events, the class that the session layer gives the message, and the message
//
// go test -update rewrites wire (where there is one) and want; commit only if you understand the diff.
package wiretest
