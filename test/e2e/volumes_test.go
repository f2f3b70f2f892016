//go:build e2e

package e2e_test

import (
	"os"
	"path/filepath"
	"strconv"

	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// tokenFolder is where a program finds who it is.
const tokenFolder = "/var/run/secrets/kubernetes.io/serviceaccount"

// mount is a file or folder of the node that a container sees.
type mount struct {
	source, target string
	readOnly       bool
}

// mountVolumes makes the pod's volumes, and where its container has them.
func (p *pod) mountVolumes() {
	p.t.Helper()
	sources := map[string]string{}
	for _, v := range p.spec.Volumes {
		sources[v.Name] = p.volume(v)
	}
	for _, m := range p.container.VolumeMounts {
		p.Expect(sources).To(HaveKey(m.Name), "%s: a mount of no volume", m.MountPath)
		p.Expect(m.SubPath+m.SubPathExpr).To(BeEmpty(), "%s: not done here", m.MountPath)
		p.mounts = append(p.mounts, mount{sources[m.Name], m.MountPath, m.ReadOnly})
	}
	p.mounts = append(p.mounts, mount{p.token(), tokenFolder, true})
	for _, path := range []string{"/etc/hosts", "/proc", "/dev"} {
		p.mounts = append(p.mounts, mount{path, path, false})
	}
}

// volume is the folder of a volume.
func (p *pod) volume(v corev1.Volume) string {
	p.t.Helper()
	dir := filepath.Join(p.dir, "volumes", v.Name)
	switch {
	case v.EmptyDir != nil:
		p.folder(dir, 0o777, p.groupID())
		return dir
	case v.PersistentVolumeClaim != nil:
		return p.claim(v.PersistentVolumeClaim.ClaimName)
	case v.ConfigMap != nil:
		files := map[string][]byte{}
		for name, text := range p.configMap(v.ConfigMap.Name).Data {
			files[name] = []byte(text)
		}
		p.files(dir, files)
		return dir
	case v.Secret != nil:
		secret := &corev1.Secret{}
		err := p.kube.Get(p.t.Context(), client.ObjectKey{Namespace: namespace, Name: v.Secret.SecretName}, secret)
		if !apierrors.IsNotFound(err) || v.Secret.Optional == nil || !*v.Secret.Optional {
			p.Expect(err).NotTo(HaveOccurred(), "Secret %s", v.Secret.SecretName)
		}
		p.files(dir, secret.Data)
		return dir
	case v.HostPath != nil:
		return v.HostPath.Path
	}
	p.t.Fatalf("volume %s is of a kind that nobody mounts here: %+v", v.Name, v.VolumeSource)
	return ""
}

// claim is the volume of a claim, which outlives pods. Its provisioner lets the group of the pod write to it, but to one that is foreign.
func (p *pod) claim(name string) string {
	p.t.Helper()
	claim := &corev1.PersistentVolumeClaim{}
	p.Expect(p.kube.Get(p.t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, claim)).To(Succeed(), "claim %s", name)
	dir := p.claimFolder(name)
	if _, foreign := claim.Annotations[foreignVolume]; foreign {
		p.folder(dir, 0o755, 0)
		return dir
	}
	p.folder(dir, 0o775, p.groupID())
	return dir
}

// foreignVolume is the annotation of a claim whose volume knows nothing of fsGroup, such as one of NFS.
const foreignVolume = "ironflow.test/foreign"

func (w *world) claimFolder(name string) string { return filepath.Join(w.dir, "claims", name) }

// groupID is fsGroup, by which volumes belong to the pod.
func (p *pod) groupID() int {
	if s := p.spec.SecurityContext; s != nil && s.FSGroup != nil {
		return int(*s.FSGroup)
	}
	return 0
}

// folder makes one of root and a group.
func (p *pod) folder(dir string, mode os.FileMode, group int) {
	p.t.Helper()
	p.Expect(os.MkdirAll(dir, 0o755)).To(Succeed())
	p.Expect(os.Chown(dir, 0, group)).To(Succeed())
	p.Expect(os.Chmod(dir, mode|os.ModeSetgid)).To(Succeed())
}

// files are those of a ConfigMap or Secret: everybody in the pod reads them.
func (p *pod) files(dir string, files map[string][]byte) {
	p.t.Helper()
	p.folder(dir, 0o755, p.groupID())
	for name, content := range files {
		path := filepath.Join(dir, name)
		p.Expect(os.WriteFile(path, content, 0o644)).To(Succeed())
		p.Expect(os.Chown(path, 0, p.groupID())).To(Succeed())
	}
}

// token is the folder by which the program is its service account.
func (p *pod) token() string {
	p.t.Helper()
	dir := filepath.Join(p.dir, "token")
	access := p.lab.ControlPlane.Config()
	api, err := kubernetes.NewForConfig(access)
	p.Expect(err).NotTo(HaveOccurred())
	made, err := api.CoreV1().ServiceAccounts(namespace).CreateToken(p.t.Context(), p.spec.ServiceAccountName, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	p.Expect(err).NotTo(HaveOccurred(), "service account %s", p.spec.ServiceAccountName)
	p.files(dir, map[string][]byte{"token": []byte(made.Status.Token), "ca.crt": access.CAData, "namespace": []byte(namespace)})
	return dir
}

// id is a user or a group as a number, or what the image says.
func id(given *int64, image string) string {
	if given != nil {
		return strconv.FormatInt(*given, 10)
	}
	return image
}
