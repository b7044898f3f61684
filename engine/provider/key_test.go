package provider_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"weir/agentcore"
	"weir/engine/provider"
)

const secret = "sk-live-0123456789abcdef"

// authorize resolves the key of a provider with source, as a request does.
func authorize(t *testing.T, source provider.KeySource) error {
	t.Helper()
	c := provider.Config{Providers: []provider.Provider{{Name: "p", Kind: provider.KindAnthropic, Key: source}}}
	models := c.Open(provider.Options{})
	defer models.Close()
	return models.Authorize(context.Background(), agentcore.Model{ID: "m", Provider: "p"})
}

func file(t *testing.T, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil { // whatever the umask
		t.Fatal(err)
	}
	return path
}

func TestKeys(t *testing.T) {
	t.Setenv("WEIR_TEST_KEY", secret)
	t.Setenv("WEIR_TEST_ODD", secret+"\x01")
	open := file(t, secret, 0o640)
	odd := file(t, secret+" \xff", 0o600)
	for _, c := range []struct {
		name   string
		source provider.KeySource
		want   string // "" when there is a key
	}{
		{"none", provider.KeySource{}, ""},
		{"env", provider.KeySource{Env: "WEIR_TEST_KEY"}, ""},
		{"env unset", provider.KeySource{Env: "WEIR_TEST_NONE"}, "no key for [provider.p]: the environment variable WEIR_TEST_NONE is not set (export WEIR_TEST_NONE=…)"},
		{"env odd", provider.KeySource{Env: "WEIR_TEST_ODD"}, "no key for [provider.p]: what the environment variable WEIR_TEST_ODD gives has characters that no key has (it is not repeated here; is it a key?)"},
		{"file", provider.KeySource{File: file(t, "  "+secret+"\r\nmore\n", 0o600)}, ""},
		{"file that others may read", provider.KeySource{File: open}, "no key for [provider.p]: others have rights to the file " + open + " (mode 0640) (chmod 600 " + open + ")"},
		{"file odd", provider.KeySource{File: odd}, "no key for [provider.p]: what the file " + odd + " gives has characters that no key has (it is not repeated here; is it a key?)"},
		{"no file", provider.KeySource{File: "/nonexistent/key"}, "no key for [provider.p]: the file /nonexistent/key cannot be read: no such file or directory"},
		{"folder", provider.KeySource{File: "/"}, "no key for [provider.p]: / is not a file"},
		{"command", provider.KeySource{Command: []string{"printf", secret + "\n"}}, ""},
		{"command fails", provider.KeySource{Command: []string{"sh", "-c", "echo " + secret + "; echo " + secret + " >&2; exit 3"}}, "no key for [provider.p]: the command sh failed: exit status 3 (run it yourself to see why; arguments and output are not repeated here)"},
		{"command says nothing", provider.KeySource{Command: []string{"true"}}, "no key for [provider.p]: the command true printed nothing (it must print the key)"},
		{"no command", provider.KeySource{Command: []string{"/nonexistent/pass"}}, "no key for [provider.p]: the command /nonexistent/pass failed: no such file or directory (run it yourself to see why; arguments and output are not repeated here)"},
		{"command that talks", provider.KeySource{Command: []string{"sh", "-c", "yes x | tr -d '\\n' | head -c 100000"}}, "no key for [provider.p]: what the command sh gives is over 16384 bytes long (is it a key?)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := authorize(t, c.source)
			got := ""
			if err != nil {
				got = err.Error()
				var typed *provider.KeyError
				if !errors.As(err, &typed) {
					t.Errorf("%T is no KeyError", err)
				}
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if strings.Contains(got, secret) {
				t.Error("the error repeats the key")
			}
		})
	}
}

// TestKeyFileAtHome shows that the home folder stands for ~ in a key file.
func TestKeyFileAtHome(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	if err := os.WriteFile(filepath.Join(home, "k"), []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := provider.Parse("/etc/m.toml", []byte("[provider.p]\nkind = \"anthropic\"\nkey_file = \"~/k\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := authorize(t, c.Providers[0].Key); err != nil {
		t.Error(err)
	}
}

// TestCommandRunsOnce shows that a command that may ask a person runs once in five minutes, and not for every request.
func TestCommandRunsOnce(t *testing.T) {
	count := filepath.Join(t.TempDir(), "count")
	now := time.Unix(1_700_000_000, 0)
	c := provider.Config{Providers: []provider.Provider{{
		Name: "p", Kind: provider.KindAnthropic, Key: provider.KeySource{Command: []string{"sh", "-c", "echo x >> " + count + "; echo " + secret}},
	}}}
	models := c.Open(provider.Options{Now: func() time.Time { return now }})
	defer models.Close()
	for _, step := range []struct {
		pass time.Duration
		want string
	}{{0, "x\n"}, {4 * time.Minute, "x\n"}, {2 * time.Minute, "x\nx\n"}} {
		now = now.Add(step.pass)
		if err := models.Authorize(context.Background(), agentcore.Model{ID: "m", Provider: "p"}); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(count); err != nil || string(got) != step.want {
			t.Errorf("after %s: %q, %v", step.pass, got, err)
		}
	}
}

func TestCommandIsCancelled(t *testing.T) {
	c := provider.Config{Providers: []provider.Provider{{
		Name: "p", Kind: provider.KindAnthropic, Key: provider.KeySource{Command: []string{"sleep", "60"}},
	}}}
	models := c.Open(provider.Options{})
	defer models.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	if err := models.Authorize(ctx, agentcore.Model{ID: "m", Provider: "p"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
}
