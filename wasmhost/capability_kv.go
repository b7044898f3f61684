package wasmhost

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Limits of the capability kv (ABI section 10). What all values may take includes their keys and 64 bytes an entry.
const (
	maxKVBytes = 1 << 20
	maxKVValue = 64 << 10
	maxKVKey   = 512
)

// Store keeps the values of one extension. [KV] enforces the limits and calls it from one goroutine at a time.
type Store interface {
	// Get gives a value; ok is false when there is none.
	Get(key string) (value string, ok bool, err error)
	// Set makes or replaces a value.
	Set(key, value string) error
	// Delete removes a value; one that there is not is no error.
	Delete(key string) error
	// Keys lists the keys, in any order.
	Keys() ([]string, error)
}

// NewMemoryStore makes a store that lives as long as the process. Safe for concurrent use.
func NewMemoryStore() Store { return &memoryStore{values: map[string]string{}} }

type memoryStore struct {
	mu     sync.Mutex
	values map[string]string
}

func (s *memoryStore) Get(key string) (string, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.values[key]
	return v, ok, nil
}

func (s *memoryStore) Set(key, value string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values[key] = value
	return nil
}

func (s *memoryStore) Delete(key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.values, key)
	return nil
}

func (s *memoryStore) Keys() ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.values)), nil
}

// KV is the capability kv: texts kept under keys, 1 MiB in all and 64 KiB a value. The operations, with an answer each:
//
//	{"op":"set","key":"seen/a","value":"1"}  {}
//	{"op":"get","key":"seen/a"}              {"value":"1"}
//	{"op":"get","key":"other"}               {"value":null}
//	{"op":"list","prefix":"seen/"}           {"keys":["seen/a"]}     sorted; without prefix all
//	{"op":"delete","key":"seen/a"}           {}                      also when there is none
//
// A key has 1 to 512 bytes. What breaks a limit changes nothing and is an error for the guest to read:
//
//	{"op":"set","key":"","value":"1"}        set: a key has 1 to 512 bytes, this one has 0
func KV(store Store) Capability {
	kv := &kvCapability{store: store}
	return Capability{Handle: kv.handle}
}

type kvCapability struct {
	store Store

	mu    sync.Mutex
	sizes map[string]int // of entries; nil until the first change
	total int
}

func (kv *kvCapability) handle(_ context.Context, raw []byte) ([]byte, error) {
	kv.mu.Lock()
	defer kv.mu.Unlock()
	r, err := parseRequest(raw)
	if err != nil {
		return nil, err
	}
	switch r.op {
	case "get":
		key := r.key()
		if err := r.done(); err != nil {
			return nil, err
		}
		value, ok, err := kv.store.Get(key)
		if err != nil {
			return nil, fmt.Errorf("get: %w", err)
		}
		answer := struct {
			Value *string `json:"value"`
		}{&value}
		if !ok {
			answer.Value = nil
		}
		return respond(answer)
	case "set":
		key, value := r.key(), r.text("value")
		if len(value) > maxKVValue {
			r.fail("a value of %d bytes, more than the limit of %d", len(value), maxKVValue)
		}
		if err := r.done(); err != nil {
			return nil, err
		}
		return respondEmpty("set", kv.set(key, value))
	case "delete":
		key := r.key()
		if err := r.done(); err != nil {
			return nil, err
		}
		return respondEmpty("delete", kv.remove(key))
	case "list":
		prefix := r.optional("prefix")
		if err := r.done(); err != nil {
			return nil, err
		}
		keys, err := kv.store.Keys()
		if err != nil {
			return nil, fmt.Errorf("list: %w", err)
		}
		found := slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return !strings.HasPrefix(k, prefix) })
		slices.Sort(found)
		if found == nil {
			found = []string{}
		}
		return respond(struct {
			Keys []string `json:"keys"`
		}{found})
	}
	return nil, r.unknown("get", "set", "delete", "list")
}

func (r *request) key() string {
	key := r.text("key")
	if r.err == nil && (key == "" || len(key) > maxKVKey) {
		r.fail("a key has 1 to %d bytes, this one has %d", maxKVKey, len(key))
	}
	return key
}

// respondEmpty answers {} or the error of an operation.
func respondEmpty(op string, err error) ([]byte, error) {
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	return []byte("{}"), nil
}

func (kv *kvCapability) set(key, value string) error {
	if err := kv.measure(); err != nil {
		return err
	}
	size := len(key) + len(value) + entryOverhead
	total := kv.total - kv.sizes[key] + size
	if total > maxKVBytes {
		return fmt.Errorf("the values would take %d bytes, more than the limit of %d; delete some", total, maxKVBytes)
	}
	if err := kv.store.Set(key, value); err != nil {
		return err
	}
	kv.sizes[key], kv.total = size, total
	return nil
}

func (kv *kvCapability) remove(key string) error {
	if err := kv.measure(); err != nil {
		return err
	}
	if err := kv.store.Delete(key); err != nil {
		return err
	}
	kv.total -= kv.sizes[key]
	delete(kv.sizes, key)
	return nil
}

// measure finds out what the store holds from earlier.
func (kv *kvCapability) measure() error {
	if kv.sizes != nil {
		return nil
	}
	keys, err := kv.store.Keys()
	if err != nil {
		return err
	}
	sizes, total := make(map[string]int, len(keys)), 0
	for _, k := range keys {
		v, _, err := kv.store.Get(k)
		if err != nil {
			return err
		}
		sizes[k] = len(k) + len(v) + entryOverhead
		total += sizes[k]
	}
	kv.sizes, kv.total = sizes, total
	return nil
}
