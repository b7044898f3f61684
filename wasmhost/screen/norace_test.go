//go:build !race

package screen_test

const raceDetector = false
