package ignition_test

import (
	"encoding/json"
	"fmt"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/imagecustomization/ignition"
	"github.com/ironflow/ironflow/test/ignitioncheck"
	"github.com/ironflow/ironflow/test/liveimage"
)

// TestFilesAndUnitsOfOthers are in the live system as they were given, below what the user
// adds; the disks are there before an agent that others bring.
func TestFilesAndUnitsOfOthers(t *testing.T) {
	g := NewWithT(t)
	const started = "[Service]\nExecStart=/bin/true\n\n[Install]\nWantedBy=multi-user.target\n"
	c := ignition.HostConfig{
		Files:    []ignition.Placed{{Path: "/etc/one", Mode: 0o600, Data: "s3cret $HOME %"}, {Path: "/etc/two", Mode: 0o644, Data: "2"}},
		Units:    []ignition.Unit{{Name: hostfile.AgentUnit, Enabled: true, Content: started}, {Name: "off.service", Content: "[Service]\nExecStart=/bin/true\n"}},
		Override: json.RawMessage(`{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/etc/two","overwrite":true,"contents":{"source":"data:,user"}}]}}`),
	}
	raw, err := ignition.Build(c)
	g.Expect(err).NotTo(HaveOccurred())
	ignitioncheck.Valid(t, raw)
	d, err := liveimage.Decode(raw)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(d.Files).To(ContainElement(And(HaveField("Path", "/etc/one"), HaveField("Mode", 0o600), HaveField("Data", BeEquivalentTo("s3cret $HOME %")))))
	g.Expect(d.Files).To(ContainElement(And(HaveField("Path", "/etc/two"), HaveField("Data", BeEquivalentTo("user")))))
	g.Expect(d.Units).To(ContainElement(liveimage.Unit{Name: hostfile.AgentUnit, Enabled: true, Contents: started}))
	g.Expect(d.Units).To(ContainElement(And(HaveField("Name", "off.service"), HaveField("Enabled", false))))
	g.Expect(d.Units).To(ContainElement(And(HaveField("Name", "iscsistart.service"), HaveField("Contents", ContainSubstring("\nBefore="+hostfile.AgentUnit+"\n")))))
	g.Expect(fmt.Sprintf("%v %+v %#v", c, c, c)).NotTo(ContainSubstring("s3cret"))

	c.Files = append(c.Files, c.Files[0])
	_, err = ignition.Build(c)
	g.Expect(err).To(MatchError(ContainSubstring("duplicate")))
}
