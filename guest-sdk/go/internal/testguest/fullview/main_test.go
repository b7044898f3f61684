package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/guest-sdk/go/weirtest"
)

func TestMessages(t *testing.T) {
	got := weirtest.Load(t).Messages(`{"role":"user","content":"a"}`, `{"role":"custom","content":"b"}`, `{"role":"user","content":"c"}`)
	want := []string{`{"role":"user","content":"c"}`, `{"role":"user","content":"a"}`, `{"role":"user","content":"last","timestamp":1}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
