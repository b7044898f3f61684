package meter

import "weir/wasmhost/internal/wasmbin"

// The price list, in units of fuel. One unit is about one instruction; two to three units take about a nanosecond on the machine of the measurements.
const (
	// Slack is how much code that may be skipped one site takes on.
	Slack = 16
	// BulkPiece is the largest number of bytes that memory.fill, memory.copy and memory.init handle between two tests of the fuel.
	BulkPiece = 1 << 20
	// PageCost is the price of one page asked of memory.grow, granted or not.
	PageCost = 1024

	entryCost    = 3    // call frame, stack check, return
	loopCost     = 1    // the back edge
	callCost     = 3    // beside the callee's own entry
	indirectCost = 8    // table bounds, null and type checks
	importCost   = 32   // leaves to Go: about 30 ns, of which the host's own work is not ours to price
	exitCost     = 64   // memory.grow, table.grow: leave to Go and take locks
	bulkCost     = 8    // a bulk operation of length zero
	divideCost   = 8    // integer division, float division and square root
	refFuncCost  = 256  // ref.func leaves to Go in wazero and looks the function up: 55 ns at best, 300 were seen
	longRun      = 8192 // unchecked cost in a function after which a plain site tests the fuel as well
)

// opCost returns the price of an instruction, calls apart.
func opCost(op wasmbin.Op) int64 {
	switch {
	case op == wasmbin.OpBlock || op == wasmbin.OpLoop || op == wasmbin.OpEnd || op == wasmbin.OpElse || op == wasmbin.OpNop:
		return 0
	case op < wasmbin.OpI32Eqz:
		if op == wasmbin.OpMemoryGrow {
			return exitCost
		}
		return 1
	case op >= 0x6d && op <= 0x70, op >= 0x7f && op <= 0x82, // div and rem of i32, i64
		op == 0x91, op == 0x95, op == 0x9f, op == 0xa3: // sqrt and div of f32, f64
		return divideCost
	case op == wasmbin.OpRefFunc:
		return refFuncCost
	case op >= wasmbin.PrefixFD:
		switch op - wasmbin.PrefixFD {
		case 0xe3, 0xe7, 0xef, 0xf3: // sqrt and div of f32x4, f64x2
			return 2 * divideCost
		}
		return 2
	case op == wasmbin.OpTableGrow:
		return exitCost
	case op >= wasmbin.OpMemoryInit:
		return bulkCost
	default:
		return 1
	}
}
