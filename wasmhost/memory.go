package wasmhost

import "github.com/tetratelabs/wazero/experimental"

const pageSize = 64 << 10

// memoryBudget is the memory that one instance may have: its guest's and its kernel's together. wazero's own limit is
// per runtime, ours is per instance, hence the allocator. Not safe for concurrent use; an instance runs one call at a time.
type memoryBudget struct {
	limit uint64
	used  uint64
	// refuse ends the call that asked for more; it does not return.
	refuse func(asked uint64, err error)
	// memories are all that were made, since wazero does not free the memory of an instantiation that fails.
	memories []*linearMemory
}

// allocator makes the memory of a module. The first free bytes are not counted (the kernel's table of blocks).
func (b *memoryBudget) allocator(free uint64) experimental.MemoryAllocator {
	return experimental.MemoryAllocatorFunc(func(_, limit uint64) experimental.LinearMemory {
		m := &linearMemory{budget: b, free: free, reserve: min(limit, b.limit+free)}
		b.memories = append(b.memories, m)
		return m
	})
}

// close frees all memories, also those that wazero never got to own.
func (b *memoryBudget) close() {
	for _, m := range b.memories {
		m.Free()
	}
	b.memories = nil
}

// linearMemory grows in place: the address space is reserved at once, so that growth never copies (a growing guest
// made the peer copy for 14 s).
type linearMemory struct {
	budget  *memoryBudget
	free    uint64
	reserve uint64
	size    uint64
	buf     []byte
}

// Reallocate implements experimental.LinearMemory. A refused growth ends the call (ABI section 9): a guest told -1 may go
// on with a decision that it would not have made with the memory.
func (m *linearMemory) Reallocate(size uint64) []byte {
	counted := func(n uint64) uint64 { return max(n, m.free) - m.free }
	more := counted(size) - counted(m.size)
	if asked := m.budget.used + more; size > m.reserve || asked > m.budget.limit {
		m.budget.refuse(asked, nil)
	}
	if m.buf == nil {
		buf, err := reserveMemory(m.reserve)
		if err != nil {
			m.budget.refuse(size, err)
		}
		m.buf = buf
	}
	m.budget.used += more
	m.size = size
	return m.buf[:size:size]
}

// Free implements experimental.LinearMemory. It may be called again.
func (m *linearMemory) Free() {
	if m.buf != nil {
		releaseMemory(m.buf)
		m.buf = nil
	}
}
