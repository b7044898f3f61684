package scan

import "math/bits"

// The machine reads JSON one byte at a time by a table. In wasm made by the Go
// compiler a taken branch is an indirect jump, so that code which decides by
// branches is slow: a tool_call event of 280 bytes takes reader, the same grammar
// by branches, 2.5 us and the machine 1.45 us (p50 of 20,000 calls on wazero).
// reader explains what the machine refuses.

// Classes of bytes.
const (
	cControl = iota
	cSpace
	cBreak // tab, newline, carriage return
	cQuote
	cBackslash
	cSlash
	cOpenObject
	cCloseObject
	cOpenArray
	cCloseArray
	cColon
	cComma
	cMinus
	cPlus
	cPoint
	cZero
	c1to7
	c8to9
	cLowA
	cLowB
	cLowC
	cLowD
	cLowE
	cLowF
	cUpAB
	cUpCF
	cUpD
	cUpE
	cL
	cN
	cR
	cS
	cT
	cU
	cOther  // the rest of ASCII
	cCont8  // 80 to 8f
	cCont9  // 90 to 9f
	cContAB // a0 to bf
	cLead2  // c2 to df
	cLeadE0
	cLead3 // e1 to ef but ed
	cLeadED
	cLeadF0
	cLead4 // f1 to f3
	cLeadF4
	cNever // c0, c1, f5 to ff
	classes
)

// States. What is not entered in the table leads to sRefuse.
const (
	sValue  = iota // a value must follow
	sArray         // a value or the end of an array
	sObject        // a key or the end of an object
	sKey           // a key must follow
	sColon
	sAfter // after a value

	sString
	sEscape
	sHex4 // four hex digits must follow
	sHex3
	sHex2
	sHex1
	sHexD  // after \ud: three must follow, the first tells the halves of a pair apart
	sHigh2 // two hex digits of the first half
	sHigh1
	sPairBackslash
	sPairU
	sPairD
	sPairC
	sCont1 // one continuation byte must follow
	sCont2
	sCont3
	sAfterE0
	sAfterED
	sAfterF0
	sAfterF4

	sMinus
	sZero
	sDigits
	sPoint
	sFraction
	sExponent
	sExponentSign
	sExponentDigits

	sT1
	sT2
	sT3
	sF1
	sF2
	sF3
	sF4
	sN1
	sN2
	sN3

	sRefuse
	firstAction
)

// Actions: what the table holds where a state is not all that changes.
const (
	aOpenObject = firstAction + iota
	aOpenArray
	aCloseEmpty // the end of an object or array with nothing in it
	aClose      // the end of the object or array after a value
	aComma
	aColon
	aQuote  // the end of a string
	aObject // aClose for an object
	aKey    // the start of a key; from here on a string is being read
	aString // the start of a string that is a value
	aResume // back in a string, after what was not plain
	aRefuse = sRefuse
)

const rowBits = 6

type machine struct {
	class [256]uint8
	next  [64 << rowBits]uint8
}

// grammar is computed when the program starts, in a few microseconds, and only
// read afterwards: written out it would be a page of numbers that nobody checks.
var grammar = newMachine()

func newMachine() *machine {
	m := &machine{}
	m.classify()
	for i := range m.next {
		m.next[i] = aRefuse
	}
	m.structure()
	m.strings()
	m.numbers()
	for i, w := range []string{"true", "false", "null"} {
		first := []int{sT1, sF1, sN1}[i]
		for _, s := range []int{sValue, sArray} {
			m.set(s, first, int(m.class[w[0]]))
		}
		for k := 1; k < len(w); k++ {
			to := first + k
			if k == len(w)-1 {
				to = sAfter
			}
			m.set(first+k-1, to, int(m.class[w[k]]))
		}
	}
	return m
}

func (m *machine) set(state, next int, on ...int) {
	for _, c := range on {
		m.next[state<<rowBits|c] = uint8(next)
	}
}

func (m *machine) classify() {
	put := func(from, to, class int) {
		for b := from; b <= to; b++ {
			m.class[b] = uint8(class)
		}
	}
	put(0, 0x1f, cControl)
	put(0x20, 0x7f, cOther)
	for i, texts := range []string{
		cSpace: " ", cBreak: "\t\n\r", cQuote: `"`, cBackslash: `\`, cSlash: "/", cOpenObject: "{", cCloseObject: "}",
		cOpenArray: "[", cCloseArray: "]", cColon: ":", cComma: ",", cMinus: "-", cPlus: "+", cPoint: ".", cZero: "0",
		c1to7: "1234567", c8to9: "89", cLowA: "a", cLowB: "b", cLowC: "c", cLowD: "d", cLowE: "e", cLowF: "f",
		cUpAB: "AB", cUpCF: "CF", cUpD: "D", cUpE: "E", cL: "l", cN: "n", cR: "r", cS: "s", cT: "t", cU: "u",
	} {
		for _, b := range []byte(texts) {
			m.class[b] = uint8(i)
		}
	}
	put(0x80, 0x8f, cCont8)
	put(0x90, 0x9f, cCont9)
	put(0xa0, 0xbf, cContAB)
	put(0xc0, 0xc1, cNever)
	put(0xc2, 0xdf, cLead2)
	put(0xe0, 0xe0, cLeadE0)
	put(0xe1, 0xef, cLead3)
	put(0xed, 0xed, cLeadED)
	put(0xf0, 0xf0, cLeadF0)
	put(0xf1, 0xf3, cLead4)
	put(0xf4, 0xf4, cLeadF4)
	put(0xf5, 0xff, cNever)
}

func (m *machine) structure() {
	for _, s := range []int{sValue, sArray, sObject, sKey, sColon, sAfter} {
		m.set(s, s, cSpace, cBreak)
	}
	for _, s := range []int{sValue, sArray} {
		m.set(s, aOpenObject, cOpenObject)
		m.set(s, aOpenArray, cOpenArray)
		m.set(s, aString, cQuote)
		m.set(s, sMinus, cMinus)
		m.set(s, sZero, cZero)
		m.set(s, sDigits, c1to7, c8to9)
	}
	m.set(sArray, aCloseEmpty, cCloseArray)
	m.set(sObject, aCloseEmpty, cCloseObject)
	m.set(sObject, aKey, cQuote)
	m.set(sKey, aKey, cQuote)
	m.set(sColon, aColon, cColon)
	m.after(sAfter)
}

// after enters what may follow a value.
func (m *machine) after(state int) {
	m.set(state, sAfter, cSpace, cBreak)
	m.set(state, aComma, cComma)
	m.set(state, aClose, cCloseArray)
	m.set(state, aObject, cCloseObject)
}

func (m *machine) strings() {
	for c := cSpace; c <= cOther; c++ {
		m.set(sString, sString, c)
	}
	m.set(sString, aRefuse, cBreak)
	m.set(sString, aQuote, cQuote)
	m.set(sString, sEscape, cBackslash)
	m.set(sEscape, aResume, cQuote, cBackslash, cSlash, cLowB, cLowF, cN, cR, cT)
	m.set(sEscape, sHex4, cU)

	hex := []int{cZero, c1to7, c8to9, cLowA, cLowB, cLowC, cLowD, cLowE, cLowF, cUpAB, cUpCF, cUpD, cUpE}
	for state, next := range map[int]int{sHex4: sHex3, sHex3: sHex2, sHex2: sHex1, sHex1: aResume, sHigh2: sHigh1, sHigh1: sPairBackslash} {
		m.set(state, next, hex...)
	}
	m.set(sHex4, sHexD, cLowD, cUpD)
	m.set(sHexD, sHex2, cZero, c1to7)
	m.set(sHexD, sHigh2, c8to9, cLowA, cLowB, cUpAB)
	m.set(sPairBackslash, sPairU, cBackslash)
	m.set(sPairU, sPairD, cU)
	m.set(sPairD, sPairC, cLowD, cUpD)
	m.set(sPairC, sHex2, cLowC, cLowD, cLowE, cLowF, cUpCF, cUpD, cUpE)

	m.set(sString, sCont1, cLead2)
	m.set(sString, sAfterE0, cLeadE0)
	m.set(sString, sCont2, cLead3)
	m.set(sString, sAfterED, cLeadED)
	m.set(sString, sAfterF0, cLeadF0)
	m.set(sString, sCont3, cLead4)
	m.set(sString, sAfterF4, cLeadF4)
	m.set(sCont1, aResume, cCont8, cCont9, cContAB)
	m.set(sCont2, sCont1, cCont8, cCont9, cContAB)
	m.set(sCont3, sCont2, cCont8, cCont9, cContAB)
	m.set(sAfterE0, sCont1, cContAB)
	m.set(sAfterED, sCont1, cCont8, cCont9)
	m.set(sAfterF0, sCont2, cCont9, cContAB)
	m.set(sAfterF4, sCont2, cCont8)
}

func (m *machine) numbers() {
	digit := []int{cZero, c1to7, c8to9}
	m.set(sMinus, sZero, cZero)
	m.set(sMinus, sDigits, c1to7, c8to9)
	for _, s := range []int{sZero, sDigits, sFraction, sExponentDigits} {
		m.after(s)
	}
	m.set(sDigits, sDigits, digit...)
	for _, s := range []int{sZero, sDigits} {
		m.set(s, sPoint, cPoint)
		m.set(s, sExponent, cLowE, cUpE)
	}
	m.set(sPoint, sFraction, digit...)
	m.set(sFraction, sFraction, digit...)
	m.set(sFraction, sExponent, cLowE, cUpE)
	m.set(sExponent, sExponentSign, cPlus, cMinus)
	m.set(sExponent, sExponentDigits, digit...)
	m.set(sExponentSign, sExponentDigits, digit...)
	m.set(sExponentDigits, sExponentDigits, digit...)
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special returns bits of which the lowest lies in the first of eight bytes that
// is not ordinary ASCII inside a string: a quote, a backslash, a control
// character or a byte over 0x7f. It is 0 if there is none.
func special(w uint64) uint64 {
	// A subtraction borrows out of a byte only where that byte is a hit itself,
	// so the lowest hit is exact.
	return (w | (w - ones*0x20) | ((w ^ ones*'"') - ones) | ((w ^ ones*'\\') - ones)) & highs
}

// What run does with the members or elements of the outermost value.
const (
	pass    = iota
	collect // append them to dst
	find    // remember the last one whose key is name
)

// run reads s, which must be one value with white space around it or not.
func run(s string, what int, name string, dst []Member) (_ []Member, found string, ok bool) {
	m := grammar
	state := uint8(sValue)
	var (
		depth    int
		objects  uint64 // a bit for each open level, the innermost lowest: set for an object
		afterStr uint8  // the state after the string being read
		key      string
		// keyResumed says that the key being read may have escapes.
		keyResumed bool
		start      int // of the key, then of the value, of the outermost level
	)
	for i := 0; i < len(s); i++ {
		next := m.next[(uint(state)<<rowBits|uint(m.class[s[i]]))&(64<<rowBits-1)]
		if next < sRefuse {
			state = next
			continue
		}
		if next >= aKey {
			switch next {
			case aKey:
				afterStr = sColon
				keyResumed = false
				if depth == 1 {
					start = i + 1
				}
			case aString:
				afterStr = sAfter
			default:
				keyResumed = true
			}
			state = sString
			for i+9 <= len(s) {
				if hits := special(Load64(s, i+1)); hits != 0 {
					i += bits.TrailingZeros64(hits) >> 3
					break
				}
				i += 8
			}
			// What follows here only saves turns of the loop.
			if i+1 >= len(s) || s[i+1] != '"' {
				continue
			}
			i++
			state = afterStr
			if afterStr == sAfter {
				continue
			}
			if depth == 1 {
				key = s[start:i]
				if keyResumed {
					key = resolve(key)
				}
			}
			if i+1 < len(s) && s[i+1] == ':' {
				i++
				state = sValue
				if depth == 1 {
					start = i + 1
				}
			}
			continue
		}
		switch next {
		case aQuote:
			state = afterStr
			if depth == 1 && afterStr == sColon {
				key = resolve(s[start:i])
			}
		case aColon:
			state = sValue
			if depth == 1 {
				start = i + 1
			}
		case aOpenObject, aOpenArray:
			if depth++; depth > MaxDepth {
				return dst, "", false
			}
			objects <<= 1
			state = sArray
			if next == aOpenObject {
				objects |= 1
				state = sObject
			}
			if depth == 1 {
				start = i + 1
			}
		case aCloseEmpty:
			depth--
			objects >>= 1
			state = sAfter
		case aComma, aClose, aObject:
			if depth == 0 {
				return dst, "", false
			}
			if depth == 1 && what != pass {
				member := Member{key, trim(s[start:i])}
				if what == collect {
					dst = append(dst, member)
				} else if objects == 1 && key == name {
					found = member.Value
				}
				start = i + 1
			}
			if next == aComma {
				state = sValue
				if objects&1 != 0 {
					state = sKey
				}
				continue
			}
			if (next == aObject) != (objects&1 != 0) {
				return dst, "", false
			}
			depth--
			objects >>= 1
			state = sAfter
		default:
			return dst, "", false
		}
	}
	switch state {
	case sAfter, sZero, sDigits, sFraction, sExponentDigits:
		return dst, found, depth == 0
	}
	return dst, "", false
}

// trim removes white space around a value.
func trim(s string) string {
	for len(s) > 0 && s[0] <= ' ' {
		s = s[1:]
	}
	for len(s) > 0 && s[len(s)-1] <= ' ' {
		s = s[:len(s)-1]
	}
	return s
}
