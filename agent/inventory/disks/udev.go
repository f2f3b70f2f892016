package disks

import (
	"maps"
	"strings"

	"github.com/ironflow/ironflow/customdeploy/source"
)

// udevDir holds udev's database: one file for each device, named by its number.
const udevDir = "/run/udev/data/b"

// maxUdevFile bounds one file of the database, bytes.
const maxUdevFile = 256 << 10

// udev returns what udev knows of the block device with the number.
func udev(m source.Machine, number string) map[string]string {
	raw, err := m.Head(maxUdevFile, udevDir+number)
	if err != nil {
		return nil
	}
	return maps.Collect(properties(string(raw)))
}

// properties yields the lines "E:KEY=VALUE" of a file of the database.
func properties(text string) func(yield func(key, value string) bool) {
	return func(yield func(key, value string) bool) {
		for line := range strings.Lines(text) {
			property, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "E:")
			if !ok {
				continue
			}
			if key, value, ok := strings.Cut(property, "="); ok && !yield(key, strings.TrimSpace(value)) {
				return
			}
		}
	}
}

// unescape replaces udev's \xNN escapes in labels.
func unescape(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if hex, ok := strings.CutPrefix(text[i:], `\x`); ok && len(hex) >= 2 {
			high, low := strings.IndexByte(digits, lower(hex[0])), strings.IndexByte(digits, lower(hex[1]))
			if high >= 0 && low >= 0 {
				b.WriteByte(byte(high<<4 | low))
				i += 3
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

const digits = "0123456789abcdef"

func lower(c byte) byte {
	if c >= 'A' && c <= 'F' {
		return c + 'a' - 'A'
	}
	return c
}
