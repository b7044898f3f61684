package wasmhost

import "github.com/tetratelabs/wazero/experimental"

const pageSize = 64 << 10

// memoryBudget is the memory that one instance may have: its guest's and its kernel's together. wazero's own limit is
// per runtime, ours is per instance, hence the allocator. Not safe for concurrent use; an instance runs one call at a time.
type memoryBudget struct {
	limit   uint64
	used    uint64
	refused bool // a growth was refused since the instance was made
}

// allocator makes the memory of a module. The first free bytes are not counted (the kernel's table of blocks).
func (b *memoryBudget) allocator(free uint64) experimental.MemoryAllocator {
	return experimental.MemoryAllocatorFunc(func(_, limit uint64) experimental.LinearMemory {
		return &linearMemory{budget: b, free: free, reserve: min(limit, b.limit+free)}
	})
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

// Reallocate implements experimental.LinearMemory. nil makes memory.grow answer -1.
func (m *linearMemory) Reallocate(size uint64) []byte {
	counted := func(n uint64) uint64 { return max(n, m.free) - m.free }
	more := counted(size) - counted(m.size)
	if size > m.reserve || m.budget.used+more > m.budget.limit {
		m.budget.refused = true
		return nil
	}
	if m.buf == nil {
		buf, err := reserveMemory(m.reserve)
		if err != nil {
			m.budget.refused = true
			return nil
		}
		m.buf = buf
	}
	m.budget.used += more
	m.size = size
	return m.buf[:size:size]
}

// Free implements experimental.LinearMemory.
func (m *linearMemory) Free() {
	if m.buf != nil {
		releaseMemory(m.buf)
		m.buf = nil
	}
}
