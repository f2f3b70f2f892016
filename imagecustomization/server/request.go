package server

import (
	"bytes"
	"strings"
)

// rangeRequest is a request for one range in the form in which clients write it.
type rangeRequest struct{ path, ranges []byte }

// readRequest reads what a connection sent. whole tells that it is one request without a
// body, no less and no more, for net/http as well; ok that it is in addition a GET with a
// range whose answer depends on nothing but path and range. In doubt it is neither: whatever
// is unusual is for net/http to read.
func readRequest(sent []byte) (request rangeRequest, whole, ok bool) {
	head, ended := bytes.CutSuffix(sent, []byte("\r\n\r\n"))
	line, fields, more := bytes.Cut(head, []byte("\r\n"))
	path, ok := bytes.CutPrefix(line, []byte("GET "))
	path, latest := bytes.CutSuffix(path, []byte(" HTTP/1.1"))
	if !ended || !latest || !isText(line) {
		return rangeRequest{}, false, false
	}
	ok = ok && isPath(path)
	request.path = path
	var hosts, ranges int
	for more {
		var field []byte
		field, fields, more = bytes.Cut(fields, []byte("\r\n"))
		name, value, colon := bytes.Cut(field, []byte(":"))
		if !colon || !isToken(name) || !isText(value) {
			return rangeRequest{}, false, false
		}
		value = bytes.Trim(value, " ")
		switch strings.ToLower(string(name)) {
		case "content-length", "transfer-encoding", "expect", "upgrade", "trailer":
			return rangeRequest{}, false, false
		case "host":
			hosts++
			ok = ok && isHost(value)
		case "range":
			ranges++
			request.ranges = value
		case "connection":
			ok = ok && bytes.EqualFold(value, []byte("keep-alive"))
		case "user-agent", "accept", "accept-encoding", "accept-language", "cache-control", "pragma":
		default:
			ok = false
		}
	}
	return request, true, ok && hosts == 1 && ranges == 1
}

// isText tells whether all bytes are printable ASCII or spaces.
func isText(p []byte) bool {
	for _, b := range p {
		if b < ' ' || b > '~' {
			return false
		}
	}
	return true
}

// isToken tells whether p is a name of a field as clients write it.
func isToken(p []byte) bool { return len(p) > 0 && consists(p, "-_") }

// isPath tells whether p is a path that means what it says: without escapes or a query.
func isPath(p []byte) bool { return len(p) > 0 && p[0] == '/' && consists(p, "-_.~/") }

// isHost tells whether p is a host's name or address with its port, or without.
func isHost(p []byte) bool { return len(p) > 0 && consists(p, "-.:[]") }

// consists tells whether p consists of letters, digits and some other characters.
func consists(p []byte, others string) bool {
	for _, b := range p {
		if (b|0x20 < 'a' || b|0x20 > 'z') && (b < '0' || b > '9') && strings.IndexByte(others, b) < 0 {
			return false
		}
	}
	return true
}
