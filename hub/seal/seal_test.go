package seal_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/seal"
)

func keys(t *testing.T, letters ...string) seal.Keys {
	t.Helper()
	var secrets [][]byte
	for _, l := range letters {
		secrets = append(secrets, bytes.Repeat([]byte(l), 32))
	}
	out, err := seal.New(secrets...)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return out
}

func TestSeal(t *testing.T) {
	g := NewWithT(t)
	k := keys(t, "a")
	sealed, err := k.Seal("here", []byte("hunter2"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(sealed).NotTo(ContainSubstring("hunter2"))
	g.Expect(k.Open("here", sealed)).To(BeEquivalentTo("hunter2"))
	again, err := k.Seal("here", []byte("hunter2"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again).NotTo(Equal(sealed), "equal texts cannot be told")
	for name, tc := range map[string]struct {
		keys          seal.Keys
		place, sealed string
		err           string
	}{
		"another place":    {k, "there", sealed, "of another place"},
		"another key":      {keys(t, "b"), "here", sealed, "does not have"},
		"a changed text":   {k, "here", sealed[:len(sealed)-4] + "AAAA", "it was changed"},
		"a shortened text": {k, "here", sealed[:20], "no sealed text|does not have|it was changed"},
		"no sealed text":   {k, "here", "kind: Config", "no sealed text"},
		"nothing":          {k, "here", "", "no sealed text"},
		"no key":           {seal.Keys{}, "here", sealed, "does not have"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			_, err := tc.keys.Open(tc.place, tc.sealed)
			g.Expect(err).To(MatchError(MatchRegexp(tc.err)))
			g.Expect(err.Error()).NotTo(ContainSubstring("hunter2"))
		})
	}
}

// TestAKeyIsReplaced: the old one opens what it has sealed, the new one seals.
func TestAKeyIsReplaced(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "cluster.key")
	k, err := seal.Load(path)
	g.Expect(err).NotTo(HaveOccurred())
	sealed, err := k.Seal("here", []byte("text"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.Rename(path, path+".old")).To(Succeed())
	k, err = seal.Load(path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(k.Open("here", sealed)).To(BeEquivalentTo("text"))
	g.Expect(k.Current(sealed)).To(BeFalse())
	sealed, err = k.Seal("here", []byte("text"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(k.Current(sealed)).To(BeTrue())
	g.Expect(os.Remove(path + ".old")).To(Succeed())
	k, err = seal.Load(path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(k.Open("here", sealed)).To(BeEquivalentTo("text"))
}

func TestKeysAreNotShown(t *testing.T) {
	g := NewWithT(t)
	k := keys(t, "a")
	g.Expect(fmt.Sprintf("%v %+v %#v", k, k, k)).NotTo(ContainSubstring("0x61"))
	_, err := seal.New([]byte("short"))
	g.Expect(err).To(MatchError(ContainSubstring("at least 32")))
}
