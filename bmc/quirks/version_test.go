package quirks_test

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/quirks"
)

func TestParseVersion(t *testing.T) {
	cases := map[string]string{
		"6.10.30.00":                     "6.10.30.",
		"iLO 5 v2.72":                    "2.72",
		"iLO 6 v1.57 Feb 06 2024":        "1.57",
		"TGBT42S 2.83 2023-07-05":        "2.83",
		"GB200Nvl-24.12-8":               "24.12",
		"BF-24.10-10":                    "24.10",
		"01.73.06":                       "1.73.6",
		" 7 ":                            "7",
		"v12":                            "12",
		"":                               "",
		"TGBT42S":                        "",
		"2023-07-05":                     "",
		strings.Repeat("x", 500) + "1.2": "",
	}
	for text, want := range cases {
		t.Run(text, func(t *testing.T) {
			v, ok := quirks.ParseVersion(text)
			NewWithT(t).Expect(ok).To(Equal(want != ""))
			NewWithT(t).Expect(strings.Join(v, ".")).To(Equal(want))
		})
	}
}

func TestOlder(t *testing.T) {
	cases := map[string]struct {
		version, than string
		want          bool
	}{
		"numbers, not texts":    {"6.9", "6.10", true},
		"the same":              {"6.10.30.00", "6.10.30.00", false},
		"zeros at the end":      {"2.72", "2.72.0.0", false},
		"zeros in front":        {"04.40.00.00", "4.40.00.00", false},
		"longer is newer":       {"6.10", "6.10.1", true},
		"newer":                 {"7.00.00.00", "6.10.30.00", false},
		"forms of vendors":      {"iLO 6 v1.55", "1.57", true},
		"not known is no older": {"", "1.0", false},
		"nor than nothing":      {"1.0", "next", false},
		"long numbers":          {"1." + strings.Repeat("9", 40), "1.1" + strings.Repeat("0", 40), true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(quirks.Older(c.version, c.than)).To(Equal(c.want))
		})
	}
}

func FuzzVersions(f *testing.F) {
	for _, seed := range [][3]string{{"6.10.30.00", "6.10.30", "7"}, {"iLO 5 v2.72", "TGBT42S 2.83 2023-07-05", "24.12-8"}, {"..", "1..2", "00.00"}} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, first, second, third string) {
		a, readable := quirks.ParseVersion(first)
		b, also := quirks.ParseVersion(second)
		c, too := quirks.ParseVersion(third)
		if !readable || !also || !too {
			return
		}
		g := NewWithT(t)
		again, _ := quirks.ParseVersion(first)
		g.Expect(a.Compare(again)).To(Equal(0))
		g.Expect(sign(a.Compare(b))).To(Equal(-sign(b.Compare(a))))
		if a.Compare(b) <= 0 && b.Compare(c) <= 0 {
			g.Expect(a.Compare(c)).To(BeNumerically("<=", 0))
		}
	})
}

func sign(n int) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}
