package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"

	"github.com/vitals-health/vitals/internal/history"
)

// maxRecord bounds a record in bytes. An event is far below it, by the bounds of its texts.
const maxRecord = 256 << 10

// checksum returns the CRC-32C of a record's JSON, as hexadecimal digits.
func checksum(body []byte) string {
	return fmt.Sprintf("%08x", crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
}

// record returns a value as a record: a line with the checksum, a space, and JSON of at most
// limit bytes.
func record(v any, limit int) ([]byte, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if len(body) > limit {
		return nil, fmt.Errorf("a record of %d bytes: expected at most %d", len(body), limit)
	}
	return fmt.Appendf(nil, "%s %s\n", checksum(body), body), nil
}

// unrecord reads the line of a record into a value, and reports whether it is whole.
func unrecord(line []byte, limit int, into any) bool {
	sum, body, ok := bytes.Cut(line, []byte(" "))
	return ok && len(body) <= limit && string(sum) == checksum(body) && json.Unmarshal(body, into) == nil
}

// encode returns an event as a record.
func encode(e *history.Event) ([]byte, error) { return record(e, maxRecord) }

// decode returns the events of the whole records of a file, the length of the file up to the
// end of the last of them, and how many lines before that are no record.
func decode(data []byte) (events []*history.Event, whole, damaged int) {
	lines := 0 // since the last whole record
	for at := 0; ; {
		n := bytes.IndexByte(data[at:], '\n')
		if n < 0 {
			return events, whole, damaged
		}
		line := data[at : at+n]
		at += n + 1
		e := decodeLine(line)
		if e == nil {
			lines++
			continue
		}
		events, whole, damaged, lines = append(events, e), at, damaged+lines, 0
	}
}

// decodeLine returns the event of a record, or nil if it is damaged.
func decodeLine(line []byte) *history.Event {
	e := &history.Event{}
	if !unrecord(line, maxRecord, e) || e.ID == 0 || !e.Kind.Valid() {
		return nil
	}
	return e
}
