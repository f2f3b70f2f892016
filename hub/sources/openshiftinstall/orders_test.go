package openshiftinstall_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/sources/openshiftinstall"
	"github.com/ironflow/ironflow/hub/wire"
	standin "github.com/ironflow/ironflow/test/openshiftinstall"
)

const (
	secretPassword = "correct-horse-battery"
	proxyPassword  = "proxy-staple"
)

var now = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

func pullSecret() string {
	return fmt.Sprintf(`{"auths":{"registry.example":{"auth":%q,"email":"you@example.com"}}}`,
		base64.StdEncoding.EncodeToString([]byte("robot:"+secretPassword)))
}

// order is a cluster with hosts of these roles; the first one brings up the others.
func order(roles ...wire.HostRole) *sources.Order {
	o := &sources.Order{
		Cluster: wire.Cluster{
			ID: "c1", Name: "edge", BaseDNSDomain: "example.com", OpenshiftVersion: "4.20.1", OcpReleaseImage: "registry.example/release@sha256:a",
			CPUArchitecture: "x86_64", MachineNetworks: []wire.MachineNetwork{{CIDR: "192.0.2.0/24"}},
			HTTPProxy: "http://user:" + proxyPassword + "@proxy.example:3128", ControlPlaneCount: 3,
		},
		PullSecret: pullSecret(), Now: now,
	}
	for i, role := range roles {
		o.Hosts = append(o.Hosts, sources.Host{
			ID: fmt.Sprintf("h%d", i), Name: fmt.Sprintf("host-%d", i), Role: role, Bootstrap: i == 0,
			Addresses: []string{fmt.Sprintf("192.0.2.%d", 10+i)}, MAC: fmt.Sprintf("52:54:00:00:00:%02x", i), Disk: "/dev/disk/by-id/wwn-" + fmt.Sprint(i),
		})
	}
	return o
}

func three() *sources.Order {
	return order(wire.HostRoleMaster, wire.HostRoleMaster, wire.HostRoleMaster, wire.HostRoleWorker)
}

// scene is a source with its program and what it was told.
type scene struct {
	*openshiftinstall.Source
	program *standin.Program
	state   string

	mu   sync.Mutex
	told []string
}

func newScene(t *testing.T, change ...func(*openshiftinstall.Options)) *scene {
	t.Helper()
	s := &scene{program: standin.New(t), state: filepath.Join(t.TempDir(), "state")}
	o := openshiftinstall.Options{Program: s.program.Path, State: s.state, Output: func(cluster, line string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.told = append(s.told, cluster+": "+line)
	}}
	for _, c := range change {
		c(&o)
	}
	source, err := openshiftinstall.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = source.Close() })
	s.Source = source
	return s
}

func (s *scene) lines() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.told...)
}

// nothingLeft expects the state folder to be empty and private.
func (s *scene) nothingLeft(g *gomega.WithT) {
	entries, err := os.ReadDir(s.state)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(entries).To(gomega.BeEmpty(), "secrets must not stay in the state folder")
	info, err := os.Stat(s.state)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(info.Mode().Perm()).To(gomega.Equal(os.FileMode(0o700)))
}
