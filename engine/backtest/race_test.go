//go:build race

package backtest_test

// raceEnabled says that the race detector is built in.
const raceEnabled = true
