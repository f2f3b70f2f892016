package console

import (
	"fmt"
	"strings"
)

// room is how many lines a screen has besides the questions of the dialogue.
const room = height - 7

// screen renders what a check found, in lines that fit the terminal.
func screen(r Result, interfaces []Interface) []string {
	var registries []string
	for _, s := range r.Sources {
		registries = append(registries, s.Registry)
	}
	lines := []string{"Release   " + r.Release, "Registry  " + strings.Join(registries, ", "), ""}
	for _, s := range r.Steps {
		if s.Err == nil {
			lines = append(lines, "  ok      "+s.What)
			continue
		}
		lines = append(lines, "  FAILED  "+s.What)
		for _, part := range wrap(plain(s.Err.Error()), width-11) {
			lines = append(lines, "          "+part)
		}
	}
	if r.OK() {
		return fit(append(lines, "", "This host reaches a registry of the release."))
	}
	lines = append(lines, "", "This host does not reach a registry of the release. Its interfaces:")
	for _, one := range interfaces {
		text := strings.Join(one.Addresses, ", ")
		if text == "" {
			text = "no address"
		}
		lines = append(lines, fmt.Sprintf("  %-15s %s", one.Name, text))
	}
	return fit(lines)
}

// fit cuts what a terminal of the least size does not show.
func fit(lines []string) []string {
	if len(lines) > room {
		lines = append(lines[:room-1], "  …")
	}
	for i, line := range lines {
		if runes := []rune(plain(line)); len(runes) > width-1 {
			lines[i] = string(runes[:width-2]) + "…"
		} else {
			lines[i] = string(runes)
		}
	}
	return lines
}

// wrap breaks text into lines at blanks, or within words that are longer.
func wrap(text string, width int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		for len(word) > width {
			if line != "" {
				lines, line = append(lines, line), ""
			}
			lines, word = append(lines, word[:width]), word[width:]
		}
		switch {
		case line == "":
			line = word
		case len(line)+1+len(word) > width:
			lines, line = append(lines, line), word
		default:
			line += " " + word
		}
	}
	const most = 4
	if lines = append(lines, line); len(lines) > most {
		lines = lines[:most]
	}
	return lines
}

// plain drops what could move the cursor: errors quote servers.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || (r >= 0x7f && r < 0xa0) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
}
