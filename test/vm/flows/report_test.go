package flows

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/controllers/host/view"
)

func TestReport(t *testing.T) {
	g := NewWithT(t)
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(s float64) time.Time { return begin.Add(time.Duration(s * float64(time.Second))) }
	line := NewTimeline(begin)
	line.Look(at(0), view.View{Phase: "registering"})
	line.Look(at(2), view.View{Phase: "inspecting", Note: view.Note{Step: "inspect", Text: "BMC reads the live image", Percent: 5}})
	line.Look(at(3), view.View{Phase: "inspecting", Note: view.Note{Step: "inspect", Text: "BMC reads the live image", Percent: 5}})
	line.Look(at(4), view.View{Phase: "inspecting", Note: view.Note{Step: "inspect", Text: "BMC reads the live image", Percent: 60}})
	g.Expect(Written(view.View{Note: view.Note{Text: "Writing image to disk - 35%"}})).To(Equal(35))
	g.Expect(Written(view.View{Note: view.Note{Text: "BMC reads the live image"}})).To(BeZero())
	line.Look(at(9), view.View{Phase: "inspecting", Note: view.Note{Step: "inspect"}, Reason: "the BMC | does not answer"})
	line.Happened(at(2.5), "power on")
	line.Happened(at(1), "medium inserted")
	line.Happened(at(5), "disk error")
	line.Happened(at(6), "disk error")

	g.Expect(line.Highest("BMC reads the live image")).To(Equal(60))
	phases := line.Phases(at(12))
	g.Expect(phases).To(HaveLen(2))
	g.Expect(phases[1].Took()).To(Equal(10 * time.Second))

	var text strings.Builder
	g.Expect(Report{Flow: "there and back", End: at(12), Failed: "no", Kept: "/tmp/x", Hosts: map[string]*Timeline{"host-0": line}}.Write(&text)).To(Succeed())
	g.Expect(text.String()).To(Equal(`# there and back

Failed: no

Consoles, journals and pictures: /tmp/x

## host-0: 12.0 s

| phase       | from  | took   | percent |
|---          |---    |---     |---      |
| registering | 0.0 s | 2.0 s  |         |
| inspecting  | 2.0 s | 10.0 s | 5 60    |

| step                                          | from  | took  | percent |
|---                                            |---    |---    |---      |
| registering                                   | 0.0 s | 2.0 s |         |
| inspecting: inspect: BMC reads the live image | 2.0 s | 7.0 s | 5 60    |
| inspecting: inspect                           | 9.0 s | 3.0 s |         |

| at | the machine |
|---|---|
| 1.0 s | medium inserted |
| 2.5 s | power on |
| 5.0 s | disk error (2 times until 6.0 s) |

at 9.0 s: the BMC | does not answer
`))
}
