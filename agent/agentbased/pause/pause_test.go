package pause_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/pause"
)

func TestFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		begun := time.Now()
		g.Expect(pause.For(t.Context(), time.Hour)).To(Succeed())
		g.Expect(time.Since(begun)).To(Equal(time.Hour))
		ctx, stop := context.WithCancelCause(t.Context())
		stopped := errors.New("the signal terminated")
		time.AfterFunc(time.Second, func() { stop(stopped) })
		g.Expect(pause.For(ctx, time.Hour)).To(MatchError(stopped))
		g.Expect(time.Since(begun)).To(Equal(time.Hour + time.Second))
	})
}
