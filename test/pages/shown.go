package pages

import "strings"

// WithoutTests is a rendered table without its last column, which names tests: what a page
// for users has of it. Lines of text stay.
func WithoutTests(table string) string {
	var b strings.Builder
	for line := range strings.Lines(table) {
		if !strings.HasPrefix(line, "|") {
			b.WriteString(line)
			continue
		}
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "|")
		b.WriteString(line[:strings.LastIndex(line, "|")+1] + "\n")
	}
	return b.String()
}

// OnlyTests is a rendered table with its first columns, as many as keys, and its last one, which
// names tests: what a page for developers has of it. Lines of text are left out.
func OnlyTests(table string, keys int) string {
	var b strings.Builder
	for line := range strings.Lines(table) {
		line = strings.TrimSpace(line)
		switch {
		case !strings.HasPrefix(line, "|"):
		case strings.HasPrefix(line, "|-"):
			b.WriteString(strings.Repeat("|---", keys+1) + "|\n")
		default:
			all := cells(line)
			for _, cell := range append(all[:keys:keys], all[len(all)-1]) {
				b.WriteString("| " + strings.ReplaceAll(cell, "|", `\|`) + " ")
			}
			b.WriteString("|\n")
		}
	}
	return b.String()
}
