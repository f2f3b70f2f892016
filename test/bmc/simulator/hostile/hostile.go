// Package hostile writes answers that no client should be hurt by: without an end,
// too deep, cut short, byte by byte, of the wrong kind. The simulator's quirks
// choose among them.
package hostile

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// endlessBytes is where an endless body ends after all, for clients that read on.
	endlessBytes = 64 << 20
	depth        = 100_000
	slowPause    = 100 * time.Millisecond
)

func begin(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
}

// Endless sends a text in JSON that does not end.
func Endless(w http.ResponseWriter, r *http.Request, _ []byte) {
	begin(w)
	chunk := bytes.Repeat([]byte("x"), 1<<16)
	_, err := w.Write([]byte(`{"Name":"`))
	for sent := 0; err == nil && sent < endlessBytes && r.Context().Err() == nil; sent += len(chunk) {
		_, err = w.Write(chunk)
	}
}

// Deep sends objects in objects.
func Deep(w http.ResponseWriter, _ *http.Request, _ []byte) {
	begin(w)
	_, _ = w.Write([]byte(strings.Repeat(`{"Oem":`, depth) + "{}" + strings.Repeat("}", depth))) // a client that went away is its own affair
}

// HTML sends a web page, as something that is no BMC does.
func HTML(w http.ResponseWriter, _ *http.Request, _ []byte) {
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write([]byte("<!DOCTYPE html><html><head><title>Login</title></head><body>Please log in.</body></html>")) // as above
}

// Slow sends the body byte by byte, until the client has enough of it.
func Slow(w http.ResponseWriter, r *http.Request, raw []byte) {
	begin(w)
	out := http.NewResponseController(w)
	ticker := time.NewTicker(slowPause)
	defer ticker.Stop()
	for i := range raw {
		if _, err := w.Write(raw[i : i+1]); err != nil || out.Flush() != nil {
			return
		}
		select {
		case <-ticker.C:
		case <-r.Context().Done():
			return
		}
	}
}

// Truncated sends half of the body that it announces, and closes the connection.
func Truncated(w http.ResponseWriter, _ *http.Request, raw []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(raw)))
	begin(w)
	_, _ = w.Write(raw[:len(raw)/2])
	_ = http.NewResponseController(w).Flush() // what was sent arrives before the end
	panic(http.ErrAbortHandler)               //nolint:forbidigo // the way in which net/http lets a handler drop a connection
}

// Duplicate sends headers twice, with other values.
func Duplicate(w http.ResponseWriter, _ *http.Request, raw []byte) {
	h := w.Header()
	h["Content-Type"] = []string{"application/json", "text/html"}
	h["Etag"] = []string{`"1"`, `"2"`}
	h["Odata-Version"] = []string{"4.0", "5.0"}
	h["Retry-After"] = []string{"1", "9999999999"}
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(raw) // a client that went away is its own affair
}

// Mistype gives every scalar of a resource another type, at any depth.
func Mistype(body map[string]any) map[string]any {
	out := make(map[string]any, len(body))
	for name, value := range body {
		out[name] = other(value)
	}
	return out
}

func other(value any) any {
	switch value := value.(type) {
	case map[string]any:
		return Mistype(value)
	case []map[string]any:
		list := make([]any, 0, len(value))
		for _, entry := range value {
			list = append(list, Mistype(entry))
		}
		return list
	case nil:
		return []any{}
	case string:
		return len(value)
	case bool:
		return map[bool]string{true: "yes", false: "no"}[value]
	case int, float64:
		return fmt.Sprint(value)
	}
	return 7 // lists of scalars, and texts with a type of their own
}

// Members are many members of a collection at an address.
func Members(address string, n int) []map[string]any {
	list := make([]map[string]any, 0, n)
	for i := range n {
		list = append(list, map[string]any{"@odata.id": address + "/" + strconv.Itoa(i)})
	}
	return list
}
