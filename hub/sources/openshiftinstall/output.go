package openshiftinstall

import (
	"bytes"
	"strings"
	"unicode"
)

const (
	// longestRead is how much of a line is read; the rest of it is dropped.
	longestRead = 64 << 10
	// longestTold is how much of a line is handed on, in characters.
	longestTold = 1 << 10
	// mostTold is how many lines of one command are handed on.
	mostTold = 2000
	// lastKept is how many lines an error carries.
	lastKept = 8
)

// lines hands on what a program writes, line by line and without secrets. It is used by
// one goroutine.
type lines struct {
	secrets *secrets
	tell    func(string)

	begun   []byte // of a line that has not ended
	told    int
	last    []string
	private bool // inside of a private key
}

// Write implements [io.Writer]. It never fails: a program is not ended by its output.
func (l *lines) Write(p []byte) (int, error) {
	all := len(p)
	for len(p) > 0 {
		line, rest, ended := bytes.Cut(p, []byte("\n"))
		if room := longestRead - len(l.begun); room > 0 {
			l.begun = append(l.begun, line[:min(room, len(line))]...)
		}
		p = rest
		if ended {
			l.line()
		}
	}
	return all, nil
}

// end hands on the last line if it was not ended.
func (l *lines) end() { l.line() }

func (l *lines) line() {
	text := string(l.begun)
	l.begun = l.begun[:0]
	begins, ends := strings.Contains(text, "-----BEGIN ") && strings.Contains(text, "PRIVATE KEY-----"), strings.Contains(text, "-----END ")
	if hidden := l.private; hidden || begins {
		l.private = !ends
		if hidden {
			return
		}
		text, _, _ = strings.Cut(text, "-----BEGIN ")
		text += hiddenText
	}
	text = readable(l.secrets.clean(text))
	if text == "" {
		return
	}
	l.last = append(l.last, text)
	if len(l.last) > lastKept {
		l.last = l.last[1:]
	}
	l.told++
	switch {
	case l.told <= mostTold:
		l.tell(text)
	case l.told == mostTold+1:
		l.tell("openshift-install writes more lines than are kept; the last ones are part of an error")
	}
}

// readable is a line of printable text, not too long.
func readable(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	text = strings.TrimSpace(text)
	if runes := []rune(text); len(runes) > longestTold {
		text = string(runes[:longestTold]) + " …"
	}
	return text
}
