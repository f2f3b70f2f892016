package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// auditLog counts the requests of one user in the API server's audit log.
type auditLog struct {
	file string
	user string

	read   int64 // bytes taken in
	counts map[string]int
}

// auditEvent is what counts of a line.
type auditEvent struct {
	Verb string `json:"verb"`
	User struct {
		Username string `json:"username"`
	} `json:"user"`
	Object struct {
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
	} `json:"objectRef"`
	Status struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
}

// standing are requests that do not come with a host: watches that are renewed,
// discovery and leases.
func (e auditEvent) standing() bool {
	return e.Verb == "watch" || e.Verb == "list" || e.Object.Resource == "" || e.Object.Resource == "leases"
}

// key names a request in the table: "patch baremetalhosts/status", with the
// code of an answer that was none.
func (e auditEvent) key() string {
	name := e.Verb + " " + e.Object.Resource
	if e.Object.Subresource != "" {
		name += "/" + e.Object.Subresource
	}
	if e.Status.Code >= 400 {
		name += fmt.Sprintf(" (%d)", e.Status.Code)
	}
	return name
}

// take reads what has been logged since the last time.
func (a *auditLog) take() error {
	file, err := os.Open(a.file)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Seek(a.read, io.SeekStart); err != nil {
		return err
	}
	reader := bufio.NewReaderSize(file, 1<<20)
	for {
		line, err := reader.ReadBytes('\n')
		if err == io.EOF {
			return nil // a line that is still being written counts the next time
		}
		if err != nil {
			return err
		}
		a.read += int64(len(line))
		if !strings.Contains(string(line), a.user) {
			continue
		}
		var e auditEvent
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("audit log at byte %d: %w", a.read, err)
		}
		if e.User.Username == a.user && !e.standing() {
			a.counts[e.key()]++
		}
	}
}
