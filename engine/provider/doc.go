// Package provider connects the agent loop to hosted and local models.
//
// The life of a configuration:
//  1. [Load] reads the user's models.toml (or [Parse] its text) and reports every error in it at once, each with its
//     place. A file that does not exist is no error: there are providers that need none, see [Builtin].
//  2. [Config.Open] makes the [Models]. No key is looked for and nothing is sent yet.
//  3. [Models.Find] gives a model by its name; [Models] itself is the agentcore.Provider of all of them.
//  4. At each request the key is resolved, the SDK sends the request through one [Transport], and the hooks act on what
//     really goes over the wire.
//  5. [Models.Close] closes idle connections.
//
// Keys come from the environment, a command or a file that nobody else can read. They are in no error, log, event,
// recording or session, and hooks do not see them.
//
// The configuration names hosts that get keys and commands that are run, so it is read from the user's own folder and
// never from a project's.
package provider
