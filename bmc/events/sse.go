package events

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

const (
	// maxLine bounds a line of a stream, maxRecord what its data lines make together.
	maxLine   = 1 << 20
	maxRecord = 1 << 20
)

// errTooLong is the error of a record beyond the bounds. The stream goes on behind it.
var errTooLong = errors.New("a record of the stream is too long")

// records reads server-sent events (WHATWG, section 9.2): the data of each record.
// Names, numbers and comments are left out.
type records struct {
	r *bufio.Reader
	// heard is called for each line, comments included.
	heard func()
}

func newRecords(r io.Reader, heard func()) *records {
	return &records{r: bufio.NewReaderSize(r, 4<<10), heard: heard}
}

// next returns the data of the next record that has some.
func (s *records) next() ([]byte, error) {
	var data []byte
	long, begun := false, false
	for {
		line, err := s.line()
		if errors.Is(err, errTooLong) {
			long = true
			continue
		}
		if err != nil {
			return nil, err // a record without its end does not count
		}
		s.heard()
		if len(line) == 0 {
			if long {
				return nil, errTooLong
			}
			if begun {
				return data, nil
			}
			continue
		}
		value, is := bytes.CutPrefix(line, []byte("data:"))
		if !is || long {
			continue
		}
		value = bytes.TrimPrefix(value, []byte(" "))
		if len(data)+len(value) >= maxRecord {
			long, data = true, nil
			continue
		}
		if begun {
			data = append(data, '\n')
		}
		data, begun = append(data, value...), true
	}
}

// line reads a line without its end, which is LF or CR LF.
func (s *records) line() ([]byte, error) {
	var whole []byte
	long := false
	for {
		part, err := s.r.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
		if long = long || len(whole)+len(part) > maxLine; !long {
			whole = append(whole, part...)
		} else {
			whole = nil
		}
		if err == nil {
			break
		}
	}
	if long {
		return nil, errTooLong
	}
	return bytes.TrimSuffix(bytes.TrimSuffix(whole, []byte("\n")), []byte("\r")), nil
}
