package validations

import (
	"fmt"
	"strings"
)

// Status of a check, as clients see it.
const (
	Success = "success"
	Failure = "failure"
	// Pending waits for something that nobody has reported yet.
	Pending = "pending"
	// Error tells that what was reported cannot be read.
	Error = "error"
	// Disabled tells that the hub was told to leave the check out.
	Disabled = "disabled"
)

// Result of one check, as clients see it.
type Result struct {
	ID      string `json:"id"`
	Status  string `json:"status"`
	Message string `json:"message"`
}

// verdict is what a check says: its status, and one sentence for people.
type verdict struct{ status, message string }

func pass(format string, args ...any) verdict { return verdict{Success, fmt.Sprintf(format, args...)} }

func fail(format string, args ...any) verdict { return verdict{Failure, fmt.Sprintf(format, args...)} }

func wait(format string, args ...any) verdict { return verdict{Pending, fmt.Sprintf(format, args...)} }

// maxMessage bounds what clients, events and the store are told, in bytes: names and
// errors in it come from hosts.
const maxMessage = 1000

// result is the verdict as clients see it.
func (v verdict) result(id string) Result {
	if len(v.message) > maxMessage {
		v.message = strings.ToValidUTF8(v.message[:maxMessage-len("…")], "") + "…"
	}
	return Result{ID: id, Status: v.status, Message: v.message}
}

// unreadable is the verdict over a report that does not decode.
func unreadable(what string) verdict {
	return verdict{Error, "The host's " + what + " cannot be read; update its agent"}
}

// passIf passes with the first text or fails with the second.
func passIf(ok bool, good, bad string) verdict {
	if ok {
		return pass("%s", good)
	}
	return fail("%s", bad)
}

// most is how many names a message lists.
const most = 5

// list joins names for a message, at most a few of them.
func list(names []string) string {
	text := ""
	for i, name := range names {
		switch {
		case i == most:
			return fmt.Sprintf("%s and %d more", text, len(names)-most)
		case i > 0:
			text += ", "
		}
		text += name
	}
	return text
}
