package coreos_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/installed"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/test/played"
)

// TestTheImageLeavesItsRecord on the disk once that is written, and only the image of an agent-based
// installation. A disk that takes none is installed all the same.
func TestTheImageLeavesItsRecord(t *testing.T) {
	for name, tc := range map[string]struct {
		settings, parttype, want string
	}{
		"agent-based":           {"INFRA_ENV_ID=" + id + "\n", "c12a7328-f81f-11d2-ba4b-00a0c93ec93b", "/dev/disk/by-id/wwn-0x1"},
		"no such partition":     {"INFRA_ENV_ID=" + id + "\n", "0fc63daf-8483-4772-8e79-3d69d8477de4", ""},
		"of a hub that is away": {"", "c12a7328-f81f-11d2-ba4b-00a0c93ec93b", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			h := newHost(t)
			if tc.settings != "" {
				h.write(t, places.ServiceSettings+"/assisted-service.env", tc.settings)
			}
			h.On("lsblk --json --output PATH,PARTTYPE", played.Says(`{"blockdevices": [{"path": "/dev/sda", "children": [{"path": "/dev/sda2", "parttype": "`+tc.parttype+`"}]}]}`))
			var left installed.Record
			h.On("umount", func(_ context.Context, c command.Command) error {
				raw, err := os.ReadFile(filepath.Join(h.dir.Path(c.Args[0]), installed.File))
				g.Expect(err).NotTo(HaveOccurred())
				return json.Unmarshal(raw, &left)
			})
			g.Expect(h.run(t.Context(), order(nil))).To(Succeed())
			g.Expect(left.Disk).To(Equal(tc.want))
			if tc.want == "" {
				g.Expect(h.Lines()).NotTo(ContainElement(HavePrefix("mount")))
				return
			}
			g.Expect(left.HostID).To(Equal(id))
			lines := strings.Join(h.Lines(), "\n")
			g.Expect(lines).To(ContainSubstring("mount -o rw /dev/sda2 /run/ironflow/esp"))
			g.Expect(strings.Index(lines, "coreos-installer install")).To(BeNumerically("<", strings.Index(lines, "mount -o rw")), "the image would go over it")
		})
	}
}
