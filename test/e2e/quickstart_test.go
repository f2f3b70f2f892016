//go:build e2e

package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/quickstart"
)

// first is the host of the quick start.
var first = sample{folder: "virtual-media", host: quickstart.HostFolder, machine: 0}

// begun is what the quick start has made.
type begun struct {
	*world

	// values is the file of the site.
	values string
	pod    *pod
}

// quickStart does what docs/install.md tells to do, command by command, with the site's own in the place of what the page has for it.
func (w *world) quickStart() *begun {
	w.t.Helper()
	page, err := os.ReadFile(filepath.Join(root, quickstart.Page))
	w.Expect(err).NotTo(HaveOccurred())
	commands, err := quickstart.Commands(string(page), quickstart.Heading)
	w.Expect(err).NotTo(HaveOccurred())
	b := &begun{world: w, values: filepath.Join(w.dir, quickstart.SiteFile)}
	w.Expect(quickstart.Run(commands, map[quickstart.Step]func(quickstart.Command){
		quickstart.MakeImages: func(quickstart.Command) { w.buildImages() }, // there is no registry to push to: the node has them
		// What make builds is built before the test.
		quickstart.MakePrograms: func(quickstart.Command) {},
		quickstart.WriteFile:    b.writeSite,
		quickstart.Create:       b.callKubectl,
		quickstart.HelmInstall:  func(c quickstart.Command) { w.helm(b.own(c.Words[1:])...) },
		quickstart.Rollout:      func(quickstart.Command) { b.rollOut() },
		quickstart.Exec:         b.callInPod,
		quickstart.Copy:         func(quickstart.Command) { w.copied(first) }, // with the machine's own put in
		quickstart.Apply:        b.callKubectl,
		quickstart.Watch:        func(quickstart.Command) { w.until(first, metal3.StateProvisioned) },
	})).To(Succeed())
	return b
}

// own are words of a command with the site's own.
func (b *begun) own(words []string) (args []string) {
	for _, word := range words {
		switch word {
		case quickstart.SiteFile, quickstart.HostFolder:
			word = filepath.Join(b.dir, word)
		case "--from-literal=" + quickstart.User:
			word = "--from-literal=username=" + b.lab.Ironic.User
		case "--from-literal=" + quickstart.Password:
			word = "--from-literal=password=" + b.lab.Ironic.Password
		case "--from-file=" + quickstart.CA:
			word = "--from-file=tls.crt=" + b.lab.CAFile
		}
		if strings.HasPrefix(word, quickstart.Tree) {
			word = filepath.Join(root, word)
		}
		args = append(args, word)
	}
	return args
}

func (b *begun) callKubectl(c quickstart.Command) {
	b.t.Helper()
	b.kubectl(b.own(c.Words[1:])...)
}

// writeSite has a shell write the values as the page says, and puts the site's own in. Simulated machines have no systemd, so the step program
// that rides in live images is the lab's.
func (b *begun) writeSite(c quickstart.Command) {
	b.t.Helper()
	b.Expect(c.File).To(Equal(quickstart.SiteFile))
	b.Expect(os.Symlink(b.live, filepath.Join(b.dir, quickstart.LiveISO))).To(Succeed())
	b.run(nil, "bash", "-ec", "cd \"$1\"\n"+c.Text, "bash", b.dir)
	raw, err := os.ReadFile(b.values)
	b.Expect(err).NotTo(HaveOccurred())
	text := string(raw)
	b.Expect(text).To(ContainSubstring(b.liveSum), "the shell has computed it")
	for example, own := range map[string]string{
		quickstart.Image:     "repository: " + repository + ", tag: " + version,
		quickstart.Ironic:    "https://" + ironicAddress + ":6385",
		quickstart.BaseImage: "http://" + mirror + "/" + quickstart.LiveISO, // the mirror's certificate is of an authority that the pod does not know
		quickstart.Address:   nodeAddress,
	} {
		b.Expect(text).To(ContainSubstring(example))
		text = strings.ReplaceAll(text, example, own)
	}
	b.write(quickstart.SiteFile, text+fmt.Sprintf(`extraVolumes: [{name: lab, hostPath: {path: %s}}]
extraVolumeMounts: [{name: lab, mountPath: /lab, readOnly: true}]
settings: {IRONFLOW_HOST_PROGRAMS: /lab}
`, b.labPrograms()))
}

// rollOut starts the pod of the Deployment, and waits until it is ready.
func (b *begun) rollOut() {
	b.t.Helper()
	b.pod = b.newPod(nil)
	b.openPorts(b.pod)
	b.pod.start()
	b.Eventually(func() error { return b.pod.probe(b.pod.container.ReadinessProbe) }).WithTimeout(patience).WithPolling(look).
		Should(Succeed(), func() string { return complaints(b.pod.log(), 30) })
}

// callInPod runs what follows the signs -- in the pod.
func (b *begun) callInPod(c quickstart.Command) {
	b.t.Helper()
	_, program, found := strings.Cut(c.String(), " -- ")
	b.Expect(found).To(BeTrue(), c.String())
	out, code := b.pod.exec(strings.Fields(program)...)
	b.Expect(code).To(BeZero(), "%s: %s", c, out)
}
