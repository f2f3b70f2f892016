//go:build e2e

package e2e_test

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/test/lab/guard"
)

// startContainer makes the mounts of a container in a mount namespace of its own, and becomes its program.
//
//	ROOT (SOURCE TARGET rw|ro)... -- read-only|writable COMMAND...
const startContainer = `set -e
root=$1
shift
mount --make-rprivate /
mount --bind "$root" "$root"
while [ "$1" != -- ]; do
  if [ -d "$1" ]; then
    mkdir -p "$root$2"
  else
    mkdir -p "$(dirname "$root$2")"
    touch "$root$2"
  fi
  mount --rbind "$1" "$root$2"
  [ "$3" = rw ] || mount -o remount,ro,bind "$root$2"
  shift 3
done
shift
[ "$1" = writable ] || mount -o remount,ro,bind "$root"
shift
exec "$@"`

// pod is one of the Deployment.
type pod struct {
	*world

	objects   objects
	spec      corev1.PodSpec
	container corev1.Container
	// dir has the volumes and the log.
	dir, root string
	image     imageConfig
	mounts    []mount
	env       []string

	process *guard.Process
}

// newPod makes what a pod of these manifests has around it; what is not among them is the cluster's.
func (w *world) newPod(all objects) *pod {
	w.t.Helper()
	p := &pod{world: w, objects: all, dir: w.t.TempDir(), spec: w.deployment(all).Spec.Template.Spec}
	w.Expect(p.spec.Containers).To(HaveLen(1))
	w.Expect(p.spec.InitContainers).To(BeEmpty())
	p.container = p.spec.Containers[0]
	p.root, p.image = w.imageOf(p.container.Image)
	for dir := p.dir; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		w.Expect(os.Chmod(dir, 0o755)).To(Succeed())
	}
	p.mountVolumes()
	p.setEnvironment()
	return p
}

// setEnvironment is the image's, the Services of the namespace and that of the API server, and what the specification says.
func (p *pod) setEnvironment() {
	p.t.Helper()
	api, err := url.Parse(p.lab.ControlPlane.URL)
	p.Expect(err).NotTo(HaveOccurred())
	services := &corev1.ServiceList{}
	p.Expect(p.kube.List(p.t.Context(), services, client.InNamespace(namespace))).To(Succeed())
	for _, s := range services.Items {
		name := strings.ToUpper(strings.ReplaceAll(s.Name, "-", "_"))
		p.env = append(p.env, name+"_SERVICE_HOST="+s.Spec.ClusterIP, fmt.Sprintf("%s_SERVICE_PORT=%d", name, s.Spec.Ports[0].Port))
	}
	p.env = append(p.env, p.image.Env...)
	p.env = append(p.env, "KUBERNETES_SERVICE_HOST="+api.Hostname(), "KUBERNETES_SERVICE_PORT="+api.Port())
	for _, from := range p.container.EnvFrom {
		p.Expect(from.ConfigMapRef).NotTo(BeNil(), "%+v", from)
		for name, value := range p.configMap(from.ConfigMapRef.Name).Data {
			p.env = append(p.env, name+"="+value)
		}
	}
	for _, v := range p.container.Env {
		if v.ValueFrom != nil {
			p.Expect(v.ValueFrom.FieldRef).To(HaveField("FieldPath", "metadata.namespace"), v.Name)
			v.Value = namespace
		}
		p.env = append(p.env, v.Name+"="+v.Value)
	}
}

// command is a program of the image as the container runs it: its arguments after those of unshare.
func (p *pod) command(program []string) []string {
	p.t.Helper()
	security, whole := p.container.SecurityContext, p.spec.SecurityContext
	user, group, _ := strings.Cut(p.image.User, ":")
	p.Expect(security).NotTo(BeNil())
	p.Expect(whole).NotTo(BeNil())
	args := []string{"--mount", "bash", "-c", startContainer, "container", p.root}
	for _, m := range p.mounts {
		mode := "rw"
		if m.readOnly {
			mode = "ro"
		}
		args = append(args, m.source, m.target, mode)
	}
	access := "writable"
	if *security.ReadOnlyRootFilesystem {
		access = "read-only"
	}
	args = append(args, "--", access)
	if !*security.AllowPrivilegeEscalation {
		args = append(args, "setpriv", "--no-new-privs")
	}
	args = append(args, "chroot", "--userspec="+id(whole.RunAsUser, user)+":"+id(whole.RunAsGroup, group), "--groups="+strconv.Itoa(p.groupID()), p.root)
	return append(args, program...)
}

// start runs the container until the test ends.
func (p *pod) start() {
	p.t.Helper()
	p.Expect(p.container.Command).To(BeEmpty(), "the image says what is run")
	log, err := os.Create(p.logFile())
	p.Expect(err).NotTo(HaveOccurred())
	defer log.Close()
	p.process, err = guard.Start(guard.Command{
		Path: "unshare", Args: p.command(append(p.image.Entrypoint, p.container.Args...)), Env: append(slices.Clone(p.env), "PATH="+os.Getenv("PATH")), Output: log,
	})
	p.Expect(err).NotTo(HaveOccurred())
	p.t.Cleanup(func() {
		p.process.Kill()
		if p.t.Failed() {
			p.t.Logf("what the pod complained about last:\n%s", complaints(p.log(), 30))
		}
	})
}

// exec runs a program in the pod as `kubectl exec` does, and returns what it prints and its exit code.
func (p *pod) exec(program ...string) (string, int) {
	p.t.Helper()
	command := exec.CommandContext(p.t.Context(), "unshare", p.command(program)...)
	command.Env = append(slices.Clone(p.env), "PATH="+os.Getenv("PATH"))
	out, err := command.CombinedOutput()
	p.Expect(command.ProcessState).NotTo(BeNil(), "%v", err)
	return string(out), command.ProcessState.ExitCode()
}

func (p *pod) logFile() string { return filepath.Join(p.dir, "log") }

func (p *pod) log() string {
	raw, err := os.ReadFile(p.logFile())
	p.Expect(err).NotTo(HaveOccurred())
	return string(raw)
}

// probe asks a probe of the container, and is nil if it succeeds.
func (p *pod) probe(probe *corev1.Probe) error {
	select {
	case <-p.process.Done():
		return StopTrying("the program has ended").Wrap(p.process.Err())
	default:
	}
	port := probe.HTTPGet.Port.String()
	for _, c := range p.container.Ports {
		if c.Name == port {
			port = strconv.Itoa(int(c.ContainerPort))
		}
	}
	asker := http.Client{Timeout: 5 * time.Second}
	answer, err := asker.Get("http://" + net.JoinHostPort(nodeAddress, port) + probe.HTTPGet.Path)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", probe.HTTPGet.Path, answer.Status)
	}
	return nil
}

// status are lines of what the kernel says of the program's process.
func (p *pod) status() map[string]string {
	p.t.Helper()
	list, err := filepath.Glob("/proc/[0-9]*/status")
	p.Expect(err).NotTo(HaveOccurred())
	for _, file := range list {
		raw, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		lines := map[string]string{}
		for line := range strings.Lines(string(raw)) {
			name, value, _ := strings.Cut(line, ":")
			lines[name] = strings.Join(strings.Fields(value), " ")
		}
		if lines["PPid"] == strconv.Itoa(p.process.PID()) {
			return lines
		}
	}
	p.t.Fatal("the program has no process")
	return nil
}

// complaints are the last lines of a log that are more than news.
func complaints(log string, n int) string {
	var lines []string
	for line := range strings.Lines(log) {
		if !strings.Contains(line, `"level":"INFO"`) || strings.Contains(line, `"msg":"failed"`) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines[max(0, len(lines)-n):], "")
}
