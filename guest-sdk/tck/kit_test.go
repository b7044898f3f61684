package tck

import "testing"

// TestCases: every case file is read, strictly.
func TestCases(t *testing.T) {
	list, err := chapters()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, c := range list {
		n += len(c.Cases)
	}
	t.Logf("%d chapters, %d cases", len(list), n)
}
