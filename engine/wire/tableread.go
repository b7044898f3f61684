package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// TableView is a table as a guest reads it.
type TableView struct {
	Context []byte // the JSON object, a part of the table
	Records []Record
}

// Record is one message of a table.
type Record struct {
	Role         uint8 // see [RoleCode]
	Flags        uint8
	Name         string
	TextBytes    uint32
	EncodedBytes uint32
	Pair         uint32 // [NoPair] for none
	ID           uint64
	Time         int64
}

// ReadTable reads what [Table.Encode] made. It is for extensions that are written in Go inside the host, and for tests;
// it checks every offset, so that it may be given anything.
func ReadTable(b []byte) (*TableView, error) {
	if len(b) < tableHeader || string(b[:4]) != tableMagic {
		return nil, errors.New("not a table: it does not start with WMT1")
	}
	le := binary.LittleEndian
	part := func(at int) ([]byte, error) {
		offset, length := uint64(le.Uint32(b[at:])), uint64(le.Uint32(b[at+4:]))
		if offset+length > uint64(len(b)) {
			return nil, fmt.Errorf("the part at %d of %d bytes ends beyond the table's %d", offset, length, len(b))
		}
		return b[offset : offset+length], nil
	}
	context, err := part(8)
	if err != nil {
		return nil, err
	}
	table, err := part(16)
	if err != nil {
		return nil, err
	}
	names, err := readStrings(table)
	if err != nil {
		return nil, err
	}
	n := uint64(le.Uint32(b[4:]))
	if n > uint64(len(b)-tableHeader)/tableRecord {
		return nil, fmt.Errorf("%d records do not fit into %d bytes", n, len(b))
	}
	v := &TableView{Context: context, Records: make([]Record, n)}
	for i := range v.Records {
		r := b[tableHeader+tableRecord*i:]
		name := int(le.Uint16(r[recordName:]))
		if name >= len(names) {
			return nil, fmt.Errorf("record %d: there is no string %d", i, name)
		}
		v.Records[i] = Record{
			Role:         r[0],
			Flags:        r[recordFlags],
			Name:         names[name],
			TextBytes:    le.Uint32(r[recordText:]),
			EncodedBytes: le.Uint32(r[recordLength:]),
			Pair:         le.Uint32(r[recordPair:]),
			ID:           le.Uint64(r[recordID:]),
			Time:         int64(le.Uint64(r[recordTime:])),
		}
	}
	return v, nil
}

func readStrings(b []byte) ([]string, error) {
	le := binary.LittleEndian
	if len(b) < 2 {
		return nil, errors.New("no string table")
	}
	n := int(le.Uint16(b))
	b = b[2:]
	names := make([]string, 0, n)
	for i := range n {
		if len(b) < 2 || len(b)-2 < int(le.Uint16(b)) {
			return nil, fmt.Errorf("string %d is cut off", i)
		}
		end := 2 + int(le.Uint16(b))
		names = append(names, string(b[2:end]))
		b = b[end:]
	}
	return names, nil
}
