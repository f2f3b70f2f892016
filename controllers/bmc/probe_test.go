package bmc

import (
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// TestWhatIsTriedAgain: what a person has to mend is not, and a lock that ends is when it has ended.
func TestWhatIsTriedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		after time.Duration // zero: not before something changes
	}{
		"a wrong password":           {&client.Error{Kind: client.Credentials}, 0},
		"an expired password":        {&client.Error{Kind: client.PasswordChange}, 0},
		"a lock without an end":      {&client.Error{Kind: client.LockedOut}, 0},
		"a lock that ends":           {&client.Error{Kind: client.LockedOut, RetryAfter: time.Hour}, time.Hour},
		"a BMC that does not answer": {&client.Error{Kind: client.Unreachable}, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			err := (&reconciler{failures: map[types.NamespacedName]int{}}).unreached(key, c.err)
			if c.after == 0 {
				_, stalled := errors.AsType[*reconcile.Stalled](err)
				g.Expect(stalled).To(BeTrue(), "%v", err)
				return
			}
			away, ok := errors.AsType[*reconcile.Unavailable](err)
			g.Expect(ok).To(BeTrue(), "%v", err)
			g.Expect(away.After).To(Equal(c.after))
		})
	}
}
