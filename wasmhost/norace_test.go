//go:build !race

package wasmhost_test

// underRace says that the race detector is on. Its shadow memory is part of what the system counts as ours.
const underRace = false
