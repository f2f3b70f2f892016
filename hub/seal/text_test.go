package seal_test

import (
	"encoding/json"
	"fmt"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/seal"
)

const secret = `{"auths":{"registry.example":{"auth":"dXNlcjpodW50ZXIy"}}}`

// TestASecretOfARecord: it is sealed once, and stays as it is while it is the same.
func TestASecretOfARecord(t *testing.T) {
	g := NewWithT(t)
	k := keys(t, "a")
	kept, err := k.Keep("here", "", secret)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(kept)).NotTo(ContainSubstring("auths"))
	g.Expect(k.Reveal("here", kept)).To(Equal(secret))
	g.Expect(k.Keep("here", kept, secret)).To(Equal(kept), "the record does not change")
	other, err := k.Keep("here", kept, `{"auths":{}}`)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(k.Reveal("here", other)).To(Equal(`{"auths":{}}`))
	g.Expect(k.Keep("here", kept, "")).To(BeEmpty(), "none is none")
	g.Expect(k.Reveal("here", "")).To(BeEmpty())
	_, err = k.Reveal("there", kept)
	g.Expect(err).To(MatchError(ContainSubstring("of another place")))

	raw, err := json.Marshal(map[string]seal.Text{"PullSecret": kept})
	g.Expect(err).NotTo(HaveOccurred())
	var back map[string]seal.Text
	g.Expect(json.Unmarshal(raw, &back)).To(Succeed())
	g.Expect(back["PullSecret"]).To(Equal(kept), "records are JSON")
}

// TestAPlainSecretIsReadAndSealed: records of an earlier version have it in plain.
func TestAPlainSecretIsReadAndSealed(t *testing.T) {
	g := NewWithT(t)
	k := keys(t, "a")
	g.Expect(k.Reveal("here", secret)).To(Equal(secret))
	g.Expect(k.Keep("here", secret, secret)).To(BeEquivalentTo(secret), "it did not change")
	sealed, done, err := k.Renew("here", secret)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(done).To(BeTrue())
	g.Expect(k.Reveal("here", sealed)).To(Equal(secret))
	_, done, err = k.Renew("here", sealed)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(done).To(BeFalse(), "there is nothing to do twice")
}

// TestASecretUnderAnotherKey: it is sealed anew while the earlier key is there, lost without it, and set again by whoever has it.
func TestASecretUnderAnotherKey(t *testing.T) {
	g := NewWithT(t)
	before, err := keys(t, "a").Keep("here", "", secret)
	g.Expect(err).NotTo(HaveOccurred())
	both, alone := keys(t, "b", "a"), keys(t, "b")
	after, done, err := both.Renew("here", before)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(done).To(BeTrue())
	g.Expect(alone.Reveal("here", after)).To(Equal(secret))
	_, _, err = alone.Renew("here", before)
	g.Expect(err).To(MatchError(seal.ErrKey))
	again, err := alone.Keep("here", before, secret)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(alone.Reveal("here", again)).To(Equal(secret))
}

func TestASecretIsNotShown(t *testing.T) {
	record := struct{ PullSecret seal.Text }{secret}
	NewWithT(t).Expect(fmt.Sprintf("%v %+v %#v %s %q", record, record, record, record.PullSecret, record.PullSecret)).NotTo(ContainSubstring("auths"))
}
