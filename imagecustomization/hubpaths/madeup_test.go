package hubpaths_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
)

// TestWhatClientsMakeUpIsNotKept: a client can think of any number of versions,
// architectures, tokens and infra-envs. They cost no memory, and the hub is not told
// of each.
func TestWhatClientsMakeUpIsNotKept(t *testing.T) {
	const many = 2000
	for name, c := range map[string]struct {
		path string
		open bool
		code int
		told int // at most
	}{
		"a version":                       {"/bytoken/good/v{n}/x86_64/full.iso", false, 404, 5},
		"an architecture":                 {"/bytoken/good/newest/arch{n}/full.iso", false, 404, 5},
		"a version of the long form":      {"/images/" + env + "?image_token=good&version=v{n}", false, 404, 5},
		"a version in a hub that is open": {"/byid/" + env + "/v{n}/x86_64/full.iso", true, 404, 5},
		"a version without end":           {"/bytoken/good/" + strings.Repeat("v", 5000) + "{n}/x86_64/full.iso", false, 0, 0},
		"a token":                         {"/bytoken/bad{n}/newest/x86_64/full.iso", false, 401, 0},
		"a token beside an infra-env":     {"/images/" + env + "?image_token=bad{n}", false, 401, 0},
		"an infra-env":                    {"/byid/0ad6d3b0-1111-4222-8333-00000000{n}/newest/x86_64/full.iso", true, 404, 0},
		"an infra-env and a version":      {"/byid/0ad6d3b0-1111-4222-8333-00000000{n}/v{n}/x86_64/full.iso", true, 404, 0},
		"the version of an artifact":      {"/boot-artifacts/rootfs?version=v{n}", false, 404, 0},
		"the token of an artifact":        {"/boot-artifacts/rootfs?image_token=bad{n}", false, 200, 0},
		"the spelling of an architecture": {"/boot-artifacts/rootfs?arch={arch}", false, 200, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &hub{open: c.open}
				s := newShelf(t, h)
				spellings := []string{"x86_64", "X86_64", "amd64", "AMD64", "Amd64", "aMd64", "amD64"}
				path := func(n int) string {
					return strings.NewReplacer("{n}", strconv.Itoa(1000+n), "{arch}", spellings[n%len(spellings)]).Replace(c.path)
				}
				for n := range 20 {
					s.ask(path(n), c.code)
				}
				kept := s.resolver.Kept()
				s.Expect(kept).To(BeNumerically("<", 10))
				for n := range many {
					s.ask(path(20+n), c.code)
				}
				s.Expect(s.resolver.Kept()).To(BeNumerically("<=", kept))
				s.Expect(len(h.failures)).To(BeNumerically("<=", c.told))
				<-time.After(time.Hour)
				if c.told > 0 {
					s.ask(path(0), c.code)
					s.Expect(h.failures).NotTo(BeEmpty(), "the hub's user learns why there is no image")
				}
			})
		})
	}
}

// TestAnImageIsThereBesideWhatIsMadeUp: whoever asks for nonsense does not push out
// what others need.
func TestAnImageIsThereBesideWhatIsMadeUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hub{}
		s := newShelf(t, h)
		first := s.read(older)
		for n := range 10000 {
			s.ask(fmt.Sprintf("/bytoken/good/v%d/x86_64/full.iso", n), http.StatusNotFound)
		}
		specs := h.specs
		s.Expect(s.read(older)).To(Equal(first))
		s.Expect(h.specs).To(Equal(specs), "the answer is still known")
		h.change = "another SSH key"
		<-time.After(time.Minute)
		s.Expect(s.read(older)).To(Equal(first), "it is read")
	})
}
