package view_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/controllers/cluster/view"
)

func TestWhatIsWaitedForIsReadAsItWasWritten(t *testing.T) {
	g := NewWithT(t)
	for _, w := range []view.Wait{
		{For: "2 of 3 hosts to be installed", Ends: "the hosts"},
		{For: "a thing; who ends it: nobody", Ends: "a person: correct it; then wait"},
	} {
		got, is := view.ParseWait(w.String())
		g.Expect(is).To(BeTrue())
		g.Expect(got).To(Equal(w))
	}
	for _, text := range []string{"", "The cluster is installed", "waiting for ClusterDeployment prod to be created"} {
		_, is := view.ParseWait(text)
		g.Expect(is).To(BeFalse(), text)
	}
}
