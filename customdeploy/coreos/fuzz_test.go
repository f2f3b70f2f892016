package coreos

import (
	"testing"

	"github.com/ironflow/ironflow/customdeploy/blockdev"
)

// FuzzHints: hints come from people. What the check lets pass can be compared with
// every disk, and no text breaks the comparison.
func FuzzHints(f *testing.F) {
	for _, seed := range [][2]string{{"size", ">= 100"}, {"size", "<or> 1 <or> 2"}, {"size", "<or> 0 <or> x"}, {"model", "<all-in> a b"}, {"wwn", "s== 0x5"}, {"rotational", "true"}, {"colour", "red"}} {
		f.Add(seed[0], seed[1])
	}
	some := []blockdev.Disk{{}, {Path: "/dev/sda", SizeBytes: 480103981056, Model: "<in> s==", WWNs: []string{"0x5"}}}
	f.Fuzz(func(t *testing.T, name, value string) {
		h := Hints{name: value}
		if h.Check() != nil {
			return
		}
		for _, d := range some {
			if _, err := matches(hintFields[name](d), value); err != nil {
				t.Errorf("%s=%q passes the check but not the comparison: %v", name, value, err)
			}
		}
	})
}
