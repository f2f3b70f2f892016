package events

import (
	"encoding/base64"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestKeys(t *testing.T) {
	g := NewWithT(t)
	secret := []byte(strings.Repeat("s", minSecret))
	one, err := NewKeys(secret)
	g.Expect(err).NotTo(HaveOccurred())
	two, err := NewKeys(secret)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(one.Of("host", 1)).To(Equal(two.Of("host", 1)), "replicas agree")
	secret[0] = 'x'
	g.Expect(one.Of("host", 1)).To(Equal(two.Of("host", 1)), "the caller's slice may change")

	three, err := NewKeys(secret)
	g.Expect(err).NotTo(HaveOccurred())
	seen := map[string]bool{}
	for _, key := range []Key{one.Of("host", 1), one.Of("host", 2), one.Of("host2", 1), one.Of("", 1), one.Of("1\x00host", 1), three.Of("host", 1)} {
		g.Expect(seen[key.Part] || seen[key.Context]).To(BeFalse(), "no two keys share a part")
		seen[key.Part], seen[key.Context] = true, true
		for _, part := range []string{key.Part, strings.TrimPrefix(key.Context, contextPrefix)} {
			raw, err := base64.RawURLEncoding.DecodeString(part)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(len(raw) * 8).To(BeNumerically(">=", 128))
		}
		g.Expect(len(key.Part) + len(key.Context)).To(BeNumerically("<", 256))
	}
	_, err = NewKeys([]byte("short"))
	g.Expect(err).To(MatchError(ContainSubstring("at least 32")))
}

// TestKeysAreNotPrinted: whoever logs one by mistake tells nothing.
func TestKeysAreNotPrinted(t *testing.T) {
	g := NewWithT(t)
	key := testKeys(t).Of("host", 1)
	var b strings.Builder
	slog.New(slog.NewTextHandler(&b, nil)).Info("x", "key", key)
	for _, text := range []string{fmt.Sprint(key), fmt.Sprintf("%+v", key), fmt.Sprintf("%#v", key), b.String()} {
		g.Expect(text).To(ContainSubstring(redacted))
		g.Expect(text).NotTo(ContainSubstring(key.Part))
		g.Expect(text).NotTo(ContainSubstring(key.Context))
	}
}

func TestDestination(t *testing.T) {
	key := Key{Part: "part", Context: "c"}
	for base, want := range map[string]string{
		"https://ironflow.example:8092":          "https://ironflow.example:8092/redfish/events/part",
		"https://ironflow.example:8092/":         "https://ironflow.example:8092/redfish/events/part",
		"https://[2001:db8::1]:8092":             "https://[2001:db8::1]:8092/redfish/events/part",
		"http://ironflow.example":                "",
		"https://user:pw@ironflow.test":          "",
		"https://ironflow.test/?x=y":             "",
		"ironflow.example:8092":                  "",
		"":                                       "",
		"https://x/" + strings.Repeat("x", 2000): "",
	} {
		t.Run(base, func(t *testing.T) {
			g := NewWithT(t)
			got, err := key.Destination(base)
			g.Expect(got).To(Equal(want))
			if want == "" {
				g.Expect(err).To(HaveOccurred())
				g.Expect(err.Error()).NotTo(ContainSubstring("pw@"))
			}
		})
	}
}

// TestSeal: a mark holds for one text about one host, of one secret.
func TestSeal(t *testing.T) {
	g := NewWithT(t)
	keys := testKeys(t)
	others, err := NewKeys([]byte(strings.Repeat("o", minSecret)))
	g.Expect(err).NotTo(HaveOccurred())
	seal := keys.Seal("host-1", "text")
	g.Expect(keys.Sealed("host-1", "text", seal)).To(BeTrue())
	g.Expect(keys.Sealed("host-2", "text", seal)).To(BeFalse())
	g.Expect(keys.Sealed("host-1", "texts", seal)).To(BeFalse())
	g.Expect(keys.Sealed("host-1", "text", "")).To(BeFalse())
	g.Expect(others.Sealed("host-1", "text", seal)).To(BeFalse())
	g.Expect([]string{keys.Of("host-1", 0).Part, keys.Of("host-1\x00text", 0).Part}).NotTo(ContainElement(seal), "it tells no key")
}
