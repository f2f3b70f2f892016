package network_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/needs"
)

// NetworkManager itself reads every keyfile, must keep every setting, and writes
// the whole connection, which is kept in NAME.nm.
func TestNetworkManagerReadsEveryKeyfile(t *testing.T) {
	checkWithNetworkManager(t, "testdata", cases(t), keyfiles)
}

func TestNetworkManagerReadsKeyfilesOfNetworkData(t *testing.T) {
	checkWithNetworkManager(t, "testdata/networkdata", networkDataCases(t), keyfilesOfNetworkData)
}

// recordedVersion is the file with the version of NetworkManager that wrote the
// NAME.nm files.
const recordedVersion = "testdata/networkmanager.version"

func checkWithNetworkManager(t *testing.T, dir string, cases map[string][]byte, translate func([]byte) (map[string][]byte, error)) {
	t.Helper()
	tool := needs.Program(t, "nmcli", "network-manager")
	out, err := exec.CommandContext(t.Context(), tool, "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	version := strings.TrimSpace(string(out))
	if *update {
		if err := os.WriteFile(recordedVersion, []byte(version+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	recorded, err := os.ReadFile(recordedVersion)
	if err != nil {
		t.Fatal(err)
	}
	same := strings.TrimSpace(string(recorded)) == version
	for name, document := range cases {
		t.Run(name, func(t *testing.T) {
			g, path := NewWithT(t), filepath.Join(dir, name+".nm")
			files, err := translate(document)
			g.Expect(err).NotTo(HaveOccurred())
			got := whatNetworkManagerMakes(t, g, tool, files)
			if *update {
				g.Expect(os.WriteFile(path, []byte(got), 0o600)).To(Succeed())
			}
			want, err := os.ReadFile(path)
			g.Expect(err).NotTo(HaveOccurred())
			if same {
				g.Expect(got).To(Equal(string(want)))
			} else {
				g.Expect(normal(got)).To(Equal(normal(string(want))), "recorded with %s, this is %s", recorded, version)
			}
		})
	}
}

// whatNetworkManagerMakes lets NetworkManager read the keyfiles and write them
// again.
func whatNetworkManagerMakes(t *testing.T, g *WithT, tool string, files map[string][]byte) string {
	t.Helper()
	var all strings.Builder
	for _, file := range slices.Sorted(maps.Keys(files)) {
		var complaints bytes.Buffer
		// The default value, so that the connection stays as it is.
		cmd := exec.CommandContext(t.Context(), tool, "--offline", "connection", "modify", "connection.autoconnect-retries", "-1")
		cmd.Stdin, cmd.Stderr = bytes.NewReader(files[file]), &complaints
		back, err := cmd.Output()
		g.Expect(err).NotTo(HaveOccurred(), "%s: %s\n%s", file, complaints.String(), files[file])
		g.Expect(complaints.String()).To(BeEmpty(), file)
		g.Expect(settings(back)).To(ContainElements(changedOnly(files[file])), "%s\n%s", file, back)
		fmt.Fprintf(&all, "=== %s\n%s", file, back)
	}
	return all.String()
}

// settings are the lines of a keyfile with their section.
func settings(keyfile []byte) []string {
	var out []string
	section := ""
	for line := range strings.Lines(string(keyfile)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = line
		} else if line != "" {
			out = append(out, section+line)
		}
	}
	return out
}

// changedOnly leaves out what NetworkManager does not write because it is the
// default.
func changedOnly(keyfile []byte) []string {
	defaults := []string{
		"[connection]autoconnect=true", "[ipv4]may-fail=true", "[ipv6]may-fail=true", "[bridge]stp=true", "[bridge]max-age=20",
		"[ethernet]auto-negotiate=false", "[bridge]multicast-hash-max=4096",
	}
	return slices.DeleteFunc(settings(keyfile), func(s string) bool { return slices.Contains(defaults, s) })
}

// newerNames are what later versions call a setting.
var newerNames = strings.NewReplacer(
	"[connection]controller=", "[connection]master=", "[connection]port-type=", "[connection]slave-type=",
	"[connection]autoconnect-ports=", "[connection]autoconnect-slaves=",
)

// normal leaves out what differs between versions: the order of settings, empty
// sections, new names, and defaults that some of them write.
func normal(golden string) []string {
	var out []string
	for i, part := range strings.Split("\n"+golden, "\n=== ")[1:] {
		for _, line := range settings([]byte(part)) {
			line = newerNames.Replace(line)
			if !strings.HasPrefix(line, "[ipv6]addr-gen-mode=default") && !strings.HasPrefix(line, "[connection]timestamp=") {
				out = append(out, fmt.Sprintf("%02d %s", i, line))
			}
		}
	}
	slices.Sort(out)
	return out
}

func TestNormalHidesVersionsOnly(t *testing.T) {
	g := NewWithT(t)
	old := "=== a\n[connection]\nid=a\nmaster=b\n\n[ipv6]\naddr-gen-mode=default\nmethod=auto\n\n[proxy]\n"
	g.Expect(normal(old)).To(Equal(normal("=== a\n[connection]\ncontroller=b\nid=a\n\n[ipv6]\nmethod=auto\n")))
	for _, other := range []string{
		strings.Replace(old, "master=b", "master=c", 1), strings.Replace(old, "method=auto", "method=dhcp", 1),
		strings.Replace(old, "=== a", "=== a\n[connection]\nid=z\n=== b", 1),
	} {
		g.Expect(normal(old)).NotTo(Equal(normal(other)))
	}
}
