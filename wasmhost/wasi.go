package wasmhost

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/tetratelabs/wazero/api"
)

// The WASI error numbers that we give.
const (
	wasiOK    = 0
	wasiBadFD = 8
	wasiInval = 28
)

// frozenTime is what the clocks of a guest without the clock grant start from: 2024-01-01T00:00:00Z.
const frozenTime = 1_704_067_200 * time.Second

// maxVirtualTime is how far virtual sleep moves a guest's clock at most, about 73 years: beyond it numbers overflow.
const maxVirtualTime = time.Duration(1) << 61

// wasiFuncs is WASI preview 1 with nothing behind it: no arguments, no environment, no files, an empty stdin; stdout and
// stderr go to the log. It is our own, not wazero's, so that every function is sized, counted and cut into pieces.
func wasiFuncs() []hostFunc {
	fns := []hostFunc{
		{"args_get", types(i32, i32), types(i32), errno(wasiOK)},
		{"args_sizes_get", types(i32, i32), types(i32), wasiZeroSizes},
		{"environ_get", types(i32, i32), types(i32), errno(wasiOK)},
		{"environ_sizes_get", types(i32, i32), types(i32), wasiZeroSizes},
		{"clock_res_get", types(i32, i32), types(i32), wasiClockRes},
		{"clock_time_get", types(i32, i64, i32), types(i32), wasiClockTime},
		{"fd_close", types(i32), types(i32), wasiStd(wasiOK)},
		{"fd_fdstat_get", types(i32, i32), types(i32), wasiFdstat},
		{"fd_fdstat_set_flags", types(i32, i32), types(i32), wasiStd(wasiOK)},
		{"fd_filestat_get", types(i32, i32), types(i32), wasiFilestat},
		{"fd_read", types(i32, i32, i32, i32), types(i32), wasiRead},
		{"fd_write", types(i32, i32, i32, i32), types(i32), wasiWrite},
		{"poll_oneoff", types(i32, i32, i32, i32), types(i32), wasiPoll},
		{"proc_exit", types(i32), nil, func(ctx context.Context, _ api.Module, stack []uint64) {
			in := instanceOf(ctx)
			in.fail(KindExit, fmt.Errorf("proc_exit(%d)", uint32(stack[0])))
		}},
		{"proc_raise", types(i32), types(i32), func(ctx context.Context, _ api.Module, stack []uint64) {
			in := instanceOf(ctx)
			in.fail(KindExit, fmt.Errorf("proc_raise(%d)", uint32(stack[0])))
		}},
		{"random_get", types(i32, i32), types(i32), wasiRandom},
		{"sched_yield", nil, types(i32), errno(wasiOK)},
	}
	// There are no files and no sockets: every descriptor but 0, 1 and 2 is bad.
	for name, params := range map[string][]api.ValueType{
		"fd_advise": types(i32, i64, i64, i32), "fd_allocate": types(i32, i64, i64), "fd_datasync": types(i32),
		"fd_fdstat_set_rights": types(i32, i64, i64), "fd_filestat_set_size": types(i32, i64), "fd_filestat_set_times": types(i32, i64, i64, i32),
		"fd_pread": types(i32, i32, i32, i64, i32), "fd_prestat_get": types(i32, i32), "fd_prestat_dir_name": types(i32, i32, i32),
		"fd_pwrite": types(i32, i32, i32, i64, i32), "fd_readdir": types(i32, i32, i32, i64, i32), "fd_renumber": types(i32, i32),
		"fd_seek": types(i32, i64, i32, i32), "fd_sync": types(i32), "fd_tell": types(i32, i32),
		"path_create_directory": types(i32, i32, i32), "path_filestat_get": types(i32, i32, i32, i32, i32),
		"path_filestat_set_times": types(i32, i32, i32, i32, i64, i64, i32), "path_link": types(i32, i32, i32, i32, i32, i32, i32),
		"path_open":     types(i32, i32, i32, i32, i32, i64, i64, i32, i32),
		"path_readlink": types(i32, i32, i32, i32, i32, i32), "path_remove_directory": types(i32, i32, i32),
		"path_rename": types(i32, i32, i32, i32, i32, i32), "path_symlink": types(i32, i32, i32, i32, i32), "path_unlink_file": types(i32, i32, i32),
		"sock_accept": types(i32, i32, i32), "sock_recv": types(i32, i32, i32, i32, i32, i32), "sock_send": types(i32, i32, i32, i32, i32), "sock_shutdown": types(i32, i32),
	} {
		fns = append(fns, hostFunc{name, params, types(i32), errno(wasiBadFD)})
	}
	return fns
}

// errno is a function that does nothing but answer.
func errno(n uint64) api.GoModuleFunc {
	return func(ctx context.Context, _ api.Module, stack []uint64) {
		instanceOf(ctx).hostCall(0)
		stack[0] = n
	}
}

// wasiStd answers n for the three standard descriptors, which stay what they are, and "bad descriptor" for others.
func wasiStd(n uint64) api.GoModuleFunc {
	return func(ctx context.Context, _ api.Module, stack []uint64) {
		instanceOf(ctx).hostCall(0)
		if uint32(stack[0]) > 2 {
			stack[0] = wasiBadFD
			return
		}
		stack[0] = n
	}
}

func wasiZeroSizes(ctx context.Context, mod api.Module, stack []uint64) {
	in := instanceOf(ctx)
	clear(in.view(mod, stack[0], 4))
	clear(in.view(mod, stack[1], 4))
	stack[0] = wasiOK
}

func wasiClockRes(ctx context.Context, mod api.Module, stack []uint64) {
	in := instanceOf(ctx)
	binary.LittleEndian.PutUint64(in.view(mod, stack[1], 8), 1)
	stack[0] = wasiOK
}

func wasiClockTime(ctx context.Context, mod api.Module, stack []uint64) {
	in := instanceOf(ctx)
	b := in.view(mod, stack[2], 8)
	now := uint64(frozenTime + in.clock)
	if in.guest.cfg.RealClock {
		now = uint64(time.Now().UnixNano())
	}
	binary.LittleEndian.PutUint64(b, now)
	stack[0] = wasiOK
}

func wasiFdstat(ctx context.Context, mod api.Module, stack []uint64) {
	in := instanceOf(ctx)
	if uint32(stack[0]) > 2 {
		in.hostCall(0)
		stack[0] = wasiBadFD
		return
	}
	b := in.view(mod, stack[1], 24)
	clear(b)
	b[0] = 2    // a character device
	b[8] = 0x42 // rights: read and write
	stack[0] = wasiOK
}

func wasiFilestat(ctx context.Context, mod api.Module, stack []uint64) {
	in := instanceOf(ctx)
	if uint32(stack[0]) > 2 {
		in.hostCall(0)
		stack[0] = wasiBadFD
		return
	}
	b := in.view(mod, stack[1], 64)
	clear(b)
	b[16] = 2
	stack[0] = wasiOK
}

// wasiRead: stdin is empty.
func wasiRead(ctx context.Context, mod api.Module, stack []uint64) {
	in := instanceOf(ctx)
	if uint32(stack[0]) != 0 {
		in.hostCall(0)
		stack[0] = wasiBadFD
		return
	}
	binary.LittleEndian.PutUint32(in.view(mod, stack[3], 4), 0)
	stack[0] = wasiOK
}

// maxIovecs is the largest scatter list that is taken; WASI programs use a few.
const maxIovecs = 1024

func wasiWrite(ctx context.Context, mod api.Module, stack []uint64) {
	in := instanceOf(ctx)
	fd, count := uint32(stack[0]), uint32(stack[2])
	if fd != 1 && fd != 2 {
		in.hostCall(0)
		stack[0] = wasiBadFD
		return
	}
	if count > maxIovecs {
		in.hostCall(0)
		stack[0] = wasiInval
		return
	}
	list := in.view(mod, stack[1], uint64(count)*8)
	total := uint64(0)
	for i := range count {
		v := list[i*8:]
		b := in.view(mod, uint64(binary.LittleEndian.Uint32(v)), uint64(binary.LittleEndian.Uint32(v[4:])))
		if total += uint64(len(b)); total > math.MaxUint32 {
			stack[0] = wasiInval
			return
		}
		for len(b) > 0 {
			piece := b[:min(len(b), 64<<10)]
			in.log.write(int(fd-1), piece)
			in.check()
			b = b[len(piece):]
		}
	}
	binary.LittleEndian.PutUint32(in.view(mod, stack[3], 4), uint32(total))
	stack[0] = wasiOK
}

func wasiRandom(ctx context.Context, mod api.Module, stack []uint64) {
	in := instanceOf(ctx)
	b := in.view(mod, stack[0], stack[1])
	for len(b) > 0 {
		piece := b[:min(len(b), 64<<10)]
		if in.guest.cfg.RealRandom {
			_, _ = rand.Read(piece) // never fails
		} else {
			_, _ = in.random.Read(piece) // never fails
		}
		in.check()
		b = b[len(piece):]
	}
	stack[0] = wasiOK
}

// Sizes of poll_oneoff's structures.
const (
	subscriptionSize = 48
	eventSize        = 32
)

// wasiPoll answers timers. Without the clock grant nobody waits: the guest's clock jumps to the earliest timer, so that a
// guest that sleeps goes on, and does the same on every run. With it the sleep is real and ends at the deadline.
func wasiPoll(ctx context.Context, mod api.Module, stack []uint64) {
	in := instanceOf(ctx)
	n := uint32(stack[2])
	if n == 0 || n > maxIovecs {
		in.hostCall(0)
		stack[0] = wasiInval
		return
	}
	subs := in.view(mod, stack[0], uint64(n)*subscriptionSize)
	events := in.view(mod, stack[1], uint64(n)*eventSize)
	now := frozenTime + in.clock
	if in.guest.cfg.RealClock {
		now = time.Duration(time.Now().UnixNano())
	}
	shortest := time.Duration(-1)
	wait := func(s []byte) time.Duration {
		if s[8] != 0 { // a descriptor: there is none to wait for, so it is ready
			return 0
		}
		d := time.Duration(min(binary.LittleEndian.Uint64(s[24:]), uint64(maxVirtualTime)))
		if binary.LittleEndian.Uint16(s[40:])&1 != 0 { // an absolute time
			d -= now
		}
		return max(d, 0)
	}
	for i := range n {
		if d := wait(subs[i*subscriptionSize:]); shortest < 0 || d < shortest {
			shortest = d
		}
	}
	in.sleep(shortest)
	out := uint32(0)
	for i := range n {
		s := subs[i*subscriptionSize:]
		if wait(s) > shortest {
			continue
		}
		e := events[out*eventSize : (out+1)*eventSize]
		clear(e)
		copy(e[:8], s[:8])
		e[10] = s[8]
		if s[8] != 0 {
			binary.LittleEndian.PutUint16(e[8:], wasiBadFD)
		}
		out++
	}
	binary.LittleEndian.PutUint32(in.view(mod, stack[3], 4), out)
	stack[0] = wasiOK
}

func (in *instance) sleep(d time.Duration) {
	if !in.guest.cfg.RealClock {
		in.clock = min(in.clock+d, maxVirtualTime)
		return
	}
	t := time.NewTimer(min(d, in.deadline-in.now()))
	defer t.Stop()
	select {
	case <-t.C:
	case <-in.ctx.Done():
	case <-in.guest.life.Done():
	}
	in.check()
}
