package lenient_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/lenient"
)

func TestMend(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":"b\"\n\u00e9","c":[1]}`:  `{"a":"b\"\n\u00e9","c":[1]}`,
		"\xef\xbb\xbf{}":               `{}`,
		"{}\n\x00\x00":                 "{}\n",
		"{\"a\":\"b\r\nc\"}":           `{"a":"b  c"}`,
		"{\r\n\t\"a\":\t\"\x01\"\r\n}": "{\r\n\t\"a\":\t\" \"\r\n}",
		`{"a":"C:\Windows\"}`:          `{"a":"C:\\Windows\"}`, // the last one escapes the quote: it stays broken
		`{"a":"\x41\/"}`:               `{"a":"\\x41\/"}`,
		"{\"a\\\rb\":1}":               `{"a\\ b":1}`,
		`{"a":"b\`:                     `{"a":"b\\`,
		"":                             "",
		"<html>\n":                     "<html>\n",
	} {
		NewWithT(t).Expect(string(lenient.Mend([]byte(in)))).To(Equal(want), "%q", in)
	}
}

// FuzzMend: JSON stays as it is, and what is mended needs no more.
func FuzzMend(f *testing.F) {
	for _, seed := range []string{`{"a":"b"}`, "\xef\xbb\xbf[\"\r\"]", `"\x\\"`, "{\"a\":\"\\", "\x00", `"\"`, "[\"\\\n\"]\x00"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		before := bytes.Clone(raw)
		out := lenient.Mend(raw)
		switch {
		case !bytes.Equal(before, raw):
			t.Fatal("the text itself was changed")
		case json.Valid(raw) && !bytes.Equal(out, raw):
			t.Fatalf("%q becomes %q", raw, out)
		case len(out) > 2*len(raw):
			t.Fatalf("%d bytes become %d", len(raw), len(out))
		}
		if again := lenient.Mend(out); json.Valid(out) && !bytes.Equal(again, out) {
			t.Fatalf("%q becomes %q, that %q", raw, out, again)
		}
	})
}

func FuzzPrintable(f *testing.F) {
	for _, seed := range []string{"a\r\nb", "\x1b[2J", "\u202eabc", "\xff", "é\u00a0ü"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		out := lenient.Printable(text)
		for _, r := range out {
			if r != ' ' && !unicode.IsPrint(r) {
				t.Fatalf("%q holds %q", out, r)
			}
		}
		if lenient.Printable(out) != out {
			t.Fatalf("%q changes again", out)
		}
	})
}
