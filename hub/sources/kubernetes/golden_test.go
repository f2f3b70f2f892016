package kubernetes_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/vincent-petithory/dataurl"

	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/ignitioncheck"
)

var update = flag.Bool("update", false, "write the golden files")

// TestHostsByRole compares what each kind of host gets, in a form that people read.
func TestHostsByRole(t *testing.T) {
	whole := func(change ...func(*sources.Order)) *sources.Order {
		o := order(3, 1)
		for _, one := range change {
			one(o)
		}
		return o
	}
	running := mustMake(t, order(3, 1))
	for name, tc := range map[string]struct {
		order *sources.Order
		host  string
	}{
		"first":              {whole(), "id-master-0"},
		"control-plane":      {whole(), "id-master-1"},
		"worker":             {whole(), "id-worker-0"},
		"first-full":         {whole(full), "id-master-0"},
		"control-plane-full": {whole(full), "id-master-2"},
		"worker-full":        {whole(full), "id-worker-0"},
		"first-dual-stack":   {whole(dual), "id-master-0"},
		"single-node":        {alone(), "id-master-0"},
		"day-2-worker":       {joining(wire.HostRoleWorker, running), "id-worker-7"},
		"day-2-master":       {joining(wire.HostRoleMaster, running), "id-master-7"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			made := mustMake(t, tc.order)
			ignitioncheck.Valid(t, made.Hosts[tc.host])
			got := readable(t, made, tc.host)
			file := filepath.Join("testdata", name+".txt")
			if *update {
				g.Expect(os.WriteFile(file, []byte(got), 0o600)).To(Succeed())
			}
			want, err := os.ReadFile(file)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(string(want)), "%s differs; -update writes it", file)
		})
	}
}

// alone is a control plane of one host without a VIP.
func alone() *sources.Order {
	o := order(1, 0)
	o.Cluster.APIVIPs = nil
	return o
}

var (
	pemBlock = regexp.MustCompile(`(?s)-----BEGIN ([A-Z ]+)-----.*?-----END [A-Z ]+-----\n?`)
	caHash   = regexp.MustCompile(`sha256:[0-9a-f]{64}`)
	scripts  = regexp.MustCompile(`\.sh$`)
)

// readable lists a configuration: modes and contents of files, units. What is drawn by
// chance is replaced, and scripts, which are the same everywhere, are named only.
func readable(t *testing.T, made *sources.Made, id string) string {
	t.Helper()
	config := parsed(t, made, id)
	var out strings.Builder
	for _, u := range config.Passwd.Users {
		fmt.Fprintf(&out, "user %s %v\n", u.Name, u.SSHAuthorizedKeys)
	}
	for _, d := range config.Storage.Directories {
		fmt.Fprintf(&out, "folder %s %#o\n", d.Path, *d.Mode)
	}
	for _, f := range config.Storage.Files {
		fmt.Fprintf(&out, "\nfile %s %#o\n", f.Path, *f.Mode)
		if scripts.MatchString(f.Path) {
			continue
		}
		u, err := dataurl.DecodeString(*f.Contents.Source)
		if err != nil {
			t.Fatal(err)
		}
		content := pemBlock.ReplaceAllString(string(u.Data), "$1\n")
		content = strings.ReplaceAll(content, tokenOf(t, made), "TOKEN")
		out.WriteString(indent(caHash.ReplaceAllString(content, "HASH")))
	}
	for _, u := range config.Systemd.Units {
		fmt.Fprintf(&out, "\nunit %s enabled=%t\n", u.Name, u.Enabled != nil && *u.Enabled)
		if u.Contents != nil {
			out.WriteString(indent(*u.Contents))
		}
		for _, d := range u.Dropins {
			out.WriteString("  drop-in " + d.Name + "\n" + indent(*d.Contents))
		}
	}
	return out.String()
}

// indent puts a text a little to the right.
func indent(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		out.WriteString(strings.TrimRight("    "+line, " \n") + "\n")
	}
	return out.String()
}

// TestOnlyTheControlPlaneHasKeys: over clusters of many shapes, no other host gets a
// private key, and nobody but root reads a secret.
func TestOnlyTheControlPlaneHasKeys(t *testing.T) {
	g := NewWithT(t)
	running := mustMake(t, order(3, 1))
	orders := []*sources.Order{order(1, 0), order(3, 5), order(5, 2), alone(), joining(wire.HostRoleWorker, running), joining(wire.HostRoleMaster, running)}
	for _, o := range slices.Clone(orders)[:3] {
		other := *o
		settings := *o.Kubernetes
		other.Kubernetes, other.Hosts = &settings, slices.Clone(o.Hosts)
		full(&other)
		orders = append(orders, &other)
	}
	for _, o := range orders {
		made := mustMake(t, o)
		for _, h := range o.Hosts {
			ignitioncheck.Valid(t, made.Hosts[h.ID])
			contents := files(t, made, h.ID)
			keys := 0
			for _, f := range parsed(t, made, h.ID).Storage.Files {
				content := contents[f.Path]
				hasKey := strings.Contains(content, "PRIVATE KEY")
				if hasKey {
					keys++
				}
				if hasKey || strings.Contains(content, tokenOf(t, made)) || o.PullSecret != "" && strings.Contains(content, o.PullSecret) {
					g.Expect(*f.Mode).To(Equal(0o600), "%s of host %s", f.Path, h.Name)
				}
			}
			want := map[wire.HostRole]int{wire.HostRoleMaster: 4, wire.HostRoleWorker: 0}[h.Role]
			g.Expect(keys).To(Equal(want), "private keys of host %s", h.Name)
			g.Expect(string(made.Hosts[h.ID])).NotTo(ContainSubstring("kubernetes-admin"), "an administrator's access")
		}
	}
}
