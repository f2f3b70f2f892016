package demo

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// samplesNamespace is that of the hosts in config/samples, namespaceFile the file that makes it.
const (
	samplesNamespace = "hosts"
	namespaceFile    = "namespace.yaml"
)

// sample is a folder of config/samples that a machine is registered by.
type sample struct {
	folder string
	// host, mac and address are those of the sample's machine.
	host, mac, address string
	// edits are other texts of the sample, and what stands in their place here.
	edits []string
	// means says what becomes of the machine, back is the line that ends it.
	means string
	back  func(host string) string
}

// The last machine becomes a cluster, the others get an image on their disks. Where there is only one, it gets an image.
var (
	byImage = sample{
		folder: "virtual-media", host: "machine-0", mac: "52:54:00:00:00:10", address: "redfish-virtualmedia://192.0.2.110/redfish/v1/Systems/1",
		means: "installed with an image",
		back: func(host string) string {
			return "kubectl patch bmh " + host + " -n " + samplesNamespace + ` --type merge -p '{"spec":{"image":null}}'`
		},
	}
	byCluster = sample{
		folder: "infraenv-cluster", host: "machine-6", mac: "52:54:00:00:00:16", address: "redfish-virtualmedia://192.0.2.116/redfish/v1/Systems/1",
		// No release and no openshift-install are at hand: the hub takes its own way without them. The network is the one that the machine says it is in.
		edits: []string{
			"# A cluster of one host, made by openshift-install (docs/cluster-fields.md). The hub needs --hub-openshift-install, and the pull secret has to be yours.",
			"# A cluster of one host, without a release: what the hub and the agent do, and no Kubernetes on the disk.",
			"  annotations:\n    ironflow.io/ignition-source: openshift-install\n", "",
			"  imageSetRef:\n    name: release-4.20\n", "",
			"198.51.100.0/24", "198.18.0.0/16",
		},
		means: "a cluster of one host",
		back:  func(host string) string { return givenBack(host, samplesNamespace) },
	}
)

// sampleOf is the one for a machine.
func (d *demo) sampleOf(machine int) sample {
	if machine > 0 && machine == len(d.machines)-1 {
		return byCluster
	}
	return byImage
}

// copyOf is the file with a machine's copy.
func (d *demo) copyOf(m machineSpec) string { return filepath.Join(d.samplesDir(), m.name+".yaml") }

// copySamples writes a copy for each machine, with its BMC, account and MAC address, which is what a user puts in.
func (d *demo) copySamples(images string) error {
	from := filepath.Join(d.options.Source, "config", "samples")
	if err := os.MkdirAll(d.samplesDir(), 0o700); err != nil {
		return err
	}
	all, err := os.ReadFile(filepath.Join(from, namespaceFile))
	if err != nil {
		return fmt.Errorf("%w; run it in the source tree", err)
	}
	if err := os.WriteFile(filepath.Join(d.samplesDir(), namespaceFile), all, 0o600); err != nil { //nolint:gosec // the folder is that of the person who runs it
		return err
	}
	for i, m := range d.machines {
		text, err := d.sampleOf(i).read(from)
		if err != nil {
			return err
		}
		s := d.sampleOf(i)
		text, err = edit(text, append([]string{
			s.mac, m.bootMAC, s.address, m.bmcAddress, "username: admin", fmt.Sprintf("username: %q", m.bmcUser), "password: change-me", fmt.Sprintf("password: %q", m.bmcPassword),
		}, s.edits...))
		if err != nil {
			return fmt.Errorf("%s: %w", s.folder, err)
		}
		text = strings.NewReplacer(s.host, m.name, "https://mirror.example", images).Replace(text)
		if err := os.WriteFile(d.copyOf(m), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// read is the whole of a sample as one file, without its comments on how the sample itself is applied.
func (s sample) read(from string) (string, error) {
	files, err := filepath.Glob(filepath.Join(from, s.folder, "*.yaml"))
	if err != nil {
		return "", err
	}
	var texts []string
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		var kept strings.Builder
		for line := range strings.Lines(string(raw)) {
			if !strings.HasPrefix(line, "#   kubectl ") {
				kept.WriteString(line)
			}
		}
		texts = append(texts, kept.String())
	}
	return strings.Join(texts, "---\n"), nil
}

// edit replaces each first text of a pair by its second. A text that a sample does not have, or no longer, is an error.
func edit(text string, pairs []string) (string, error) {
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			return "", fmt.Errorf("the sample has no %q", pairs[i])
		}
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	return text, nil
}

// serveImage serves the image that the samples name, and its checksum, until ctx ends, and returns where.
func (d *demo) serveImage(ctx context.Context) (address string, err error) {
	image := make([]byte, 1<<20)
	files := http.NewServeMux()
	files.HandleFunc("GET /server.qcow2", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(image) })
	files.HandleFunc("GET /server.qcow2.sha256", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "%x  server.qcow2\n", sha256.Sum256(image))
	})
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	server := &http.Server{Handler: files, ReadHeaderTimeout: time.Minute}
	context.AfterFunc(ctx, func() { _ = server.Close() }) // nobody reads any more
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			d.screen.Say("the image is not served any more: %v", err)
		}
	}()
	return "http://" + listener.Addr().String(), nil
}
