package events

import (
	"fmt"
	"net/http"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/client"
)

// TestKeysAreNotTold: a BMC that repeats what it was sent tells no secret to those who
// read conditions and logs.
func TestKeysAreNotTold(t *testing.T) {
	g := NewWithT(t)
	w := wanted(t, "host-1", 1)
	v := &vendor{service: object{}, refuse: func(body object) (key, argument string) {
		return "PropertyValueFormatError", fmt.Sprint(body["Destination"], " ", body["Context"])
	}}
	state, err := Keep(t.Context(), connect(t, v), nil, w)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(state.Problem).To(And(ContainSubstring("refuses the subscription"), ContainSubstring(redacted), Not(ContainSubstring(w.Key.Part)), Not(ContainSubstring(w.Key.Context))))

	busy := http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			answer.WriteHeader(http.StatusInternalServerError)
			_, _ = fmt.Fprintf(answer, `{"error":{"@Message.ExtendedInfo":[{"MessageId":"Base.1.8.InternalError","Message":"no way to %s or %s"}]}}`, w.Destination, w.Former[0].Part)
			return
		}
		v.ServeHTTP(answer, r)
	})
	_, err = Keep(t.Context(), connect(t, busy), nil, w)
	g.Expect(client.KindOf(err)).To(Equal(client.Failed), "what it is stays known: %v", err)
	g.Expect(err).To(MatchError(And(ContainSubstring("no way to"), Not(ContainSubstring(w.Key.Part)), Not(ContainSubstring(w.Former[0].Part)))))
}
