package wasmhost_test

import (
	"testing"
	"time"

	"weir/wasmhost"
)

func TestDefaultLimits(t *testing.T) {
	// The numbers of ABI section 14.
	want := wasmhost.Limits{
		Timeout: 500 * time.Millisecond, ToolTimeout: 60 * time.Second, LoadTimeout: 5 * time.Second, Fuel: 1_000_000_000, Memory: 64 << 20, Depth: 8 << 20,
		Table: 100_000, Output: 8 << 20, ErrorText: 4 << 10, LogLines: 256, LogBytes: 64 << 10, HostCalls: 100_000, Module: 32 << 20, Quarantine: 3,
	}
	if got := wasmhost.DefaultLimits(); got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{Limits: wasmhost.Limits{Fuel: 7_000_000, Timeout: time.Second}})
	want.Fuel, want.Timeout = 7_000_000, time.Second
	if got := p.Limits(); got != want {
		t.Errorf("of a guest: %+v", got)
	}
}

func TestLimitsValidate(t *testing.T) {
	for _, good := range []wasmhost.Limits{{}, wasmhost.DefaultLimits(), {Timeout: 24 * time.Hour, Memory: 4 << 30, Depth: 64 << 20, Fuel: 1 << 50}} {
		if err := good.Validate(); err != nil {
			t.Errorf("%+v: %v", good, err)
		}
	}
	for want, bad := range map[string]wasmhost.Limits{
		"limit timeout: -1ns is not between 0 (the default) and 24h0m0s":                   {Timeout: -1},
		"limit tool_timeout: 24h0m0.000000001s is not between 0 (the default) and 24h0m0s": {ToolTimeout: 24*time.Hour + 1},
		"limit load_timeout: -1s is not between 0 (the default) and 24h0m0s":               {LoadTimeout: -time.Second},
		"limit fuel: 1125899906842625 is more than 1125899906842624":                       {Fuel: 1<<50 + 1},
		"limit memory: 4294967297 bytes are more than a 32-bit memory has (4294967296)":    {Memory: 4<<30 + 1},
		"limit depth: 67108865 bytes are more than 67108864":                               {Depth: 64<<20 + 1},
	} {
		if err := bad.Validate(); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// TestSmallLimits: every limit at its smallest still works as a limit.
func TestSmallLimits(t *testing.T) {
	p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{Limits: wasmhost.Limits{Fuel: 1}})
	_, stats, err := p.try(t, op("count", 1))
	if wantFault(t, err, wasmhost.KindFuel); stats.Fuel > 10_000 {
		t.Errorf("with 1 unit it used %d", stats.Fuel)
	}
	p = newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{Limits: wasmhost.Limits{HostCalls: 1}})
	_, _, err = p.try(t, op("count", 1))
	wantFault(t, err, wasmhost.KindHost)
	p = newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{Limits: wasmhost.Limits{Timeout: 1}})
	_, _, err = p.try(t, op("spin"))
	wantFault(t, err, wasmhost.KindDeadline)
	p = newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{Limits: wasmhost.Limits{Output: 1, Timeout: time.Minute}})
	if out := p.do(t, op("weir_output_write", 0, 1), op("return", 0)); len(out) != 1 {
		t.Errorf("%d bytes of output", len(out))
	}
}

// TestFuelLimit: the limit holds to within a slice, and the number says what was used.
func TestFuelLimit(t *testing.T) {
	p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{Limits: wasmhost.Limits{Timeout: time.Minute, Quarantine: 100}})
	_, stats, err := p.try(t, op("deep", 1000))
	if err != nil {
		t.Fatal(err)
	}
	need := stats.Fuel
	for _, c := range []struct {
		fuel uint64
		ok   bool
	}{{need + 64, true}, {need * 2, true}, {need - 64, false}, {need / 2, false}} {
		p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{Limits: wasmhost.Limits{Fuel: c.fuel, Timeout: time.Minute}})
		_, stats, err := p.try(t, op("deep", 1000))
		if (err == nil) != c.ok {
			t.Errorf("%d units needed, %d allowed: %v", need, c.fuel, err)
		}
		if err == nil && stats.Fuel != need || stats.Fuel > max(need, c.fuel)+64 {
			t.Errorf("%d units needed, %d allowed, %d counted", need, c.fuel, stats.Fuel)
		}
	}
}
