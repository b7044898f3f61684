//go:build race

package screen_test

// raceDetector says that the race detector slows everything down about tenfold, so that times mean nothing.
const raceDetector = true
