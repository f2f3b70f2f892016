package lab

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/ironflow/ironflow/test/lab/guard"
	"github.com/ironflow/ironflow/test/lab/pki"
	"github.com/ironflow/ironflow/test/lab/ports"
)

const (
	// administrators is the group that RBAC lets do everything.
	administrators = "system:masters"
	// apiDeadline is how long etcd or kube-apiserver may take to start, on a
	// machine that is busy with other things too. Alone they take 3 s.
	apiDeadline = 90 * time.Second
	// apiGrace is how long etcd and the controllers may take to stop.
	apiGrace = 10 * time.Second
	// serverGrace is that of kube-apiserver. It keeps nothing itself, and while somebody watches,
	// it would wait for a minute.
	serverGrace = time.Second
)

// ControlPlaneOptions choose how the Kubernetes API runs.
type ControlPlaneOptions struct {
	// Port is the API's port on 127.0.0.1; 0 takes a free one.
	Port int
	// Controllers adds garbage collection by owner references and the deletion of
	// namespaces, which kube-apiserver alone does not do.
	Controllers bool
	// Audit writes one line per request, without bodies, to AuditLog.
	Audit bool
	// ExtraArgs are further arguments of kube-apiserver.
	ExtraArgs []string
}

// ControlPlane is a running Kubernetes API with RBAC.
type ControlPlane struct {
	// URL is the API's address.
	URL string
	// Kubeconfig is a file with an administrator's access.
	Kubeconfig string
	// AssetsDir has kubectl, if the lab built the programs itself.
	AssetsDir string
	// AuditLog is the file of the requests, empty without that option.
	AuditLog string
	// Store is the address of etcd's HTTP API, for objects that are to be there as another
	// program of another time has left them.
	Store string

	authority *pki.Authority
	config    *rest.Config
}

// Config is an administrator's access. Each call returns a copy.
func (c *ControlPlane) Config() *rest.Config { return rest.CopyConfig(c.config) }

// ConfigFor is the access of a user in groups, with the rights that RBAC gives them.
func (c *ControlPlane) ConfigFor(user string, groups ...string) (*rest.Config, error) {
	pair, err := c.authority.Client(user, groups...)
	if err != nil {
		return nil, err
	}
	return &rest.Config{
		Host:            c.URL,
		TLSClientConfig: rest.TLSClientConfig{CAData: c.authority.PEM, CertData: pair.Cert, KeyData: pair.Key},
		// The client's own brake would hide how fast the parts are.
		QPS: -1,
	}, nil
}

// StartControlPlane starts etcd, kube-apiserver and, if asked for, the two
// controllers. Their programs are built at the first call.
func (l *Lab) StartControlPlane(ctx context.Context, options ControlPlaneOptions) (*ControlPlane, error) {
	if err := l.check(ctx, Options{ControlPlane: &options}); err != nil {
		return nil, err
	}
	assets, err := Assets(ctx, l.cacheDir, l.progress)
	if err != nil {
		return nil, err
	}
	etcd, plain, err := l.startEtcd(ctx, assets)
	if err != nil {
		return nil, err
	}
	c := &ControlPlane{AssetsDir: assets, authority: l.Authority, Kubeconfig: filepath.Join(l.Dir, "kubeconfig"), Store: plain}
	if err := l.startAPI(ctx, c, etcd, options); err != nil {
		return nil, err
	}
	if options.Controllers {
		if err := l.startControllers(ctx, c); err != nil {
			return nil, err
		}
	}
	l.ControlPlane = c
	return c, nil
}

// startEtcd starts the store and returns its addresses, for gRPC and for HTTP. It is plain HTTP on
// loopback and does not sync to disk: a lab's state is worth nothing after a crash.
func (l *Lab) startEtcd(ctx context.Context, assets string) (client, plain string, err error) {
	var urls [3]string
	for i := range urls {
		port, err := l.ports.Free()
		if err != nil {
			return "", "", err
		}
		urls[i] = "http://" + loopback(port)
	}
	// With gRPC and HTTP on one port, watches starve for seconds while much is read.
	client, plain = urls[0], urls[2]
	peer := urls[1]
	p := &part{
		name: "etcd",
		command: guard.Command{Path: filepath.Join(assets, "etcd"), Args: []string{
			"--name=lab", "--data-dir=" + filepath.Join(l.Dir, "etcd"),
			"--listen-client-urls=" + client, "--listen-client-http-urls=" + plain, "--advertise-client-urls=" + client,
			"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster=lab=" + peer,
			"--unsafe-no-fsync", "--log-level=warn",
		}},
		log:      l.logFile("etcd"),
		ready:    answers(http.DefaultClient, plain+"/health"),
		deadline: apiDeadline,
		grace:    apiGrace,
		next:     "see the log; a full disk is the usual reason",
	}
	return client, plain, l.run(ctx, p, time.Second)
}

// startAPI starts kube-apiserver and fills in the access to it.
func (l *Lab) startAPI(ctx context.Context, c *ControlPlane, etcd string, options ControlPlaneOptions) error {
	port, err := l.port(options.Port)
	if err != nil {
		return err
	}
	c.URL = "https://" + loopback(port)
	if err := l.giveAccess(c); err != nil {
		return err
	}
	if err := l.writeAPIFiles(); err != nil {
		return err
	}
	dir := filepath.Join(l.Dir, "kubernetes")
	args := []string{
		"--etcd-servers=" + etcd, "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(port), "--service-cluster-ip-range=10.96.0.0/16",
		"--tls-cert-file=" + filepath.Join(dir, "tls.crt"), "--tls-private-key-file=" + filepath.Join(dir, "tls.key"),
		"--client-ca-file=" + l.CAFile, "--authorization-mode=RBAC", "--allow-privileged=true",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + filepath.Join(dir, "service-account.pub"),
		"--service-account-signing-key-file=" + filepath.Join(dir, "service-account.key"),
		"--cert-dir=" + dir,
		// Nobody makes service accounts or runs behind a service here.
		"--disable-admission-plugins=ServiceAccount", "--endpoint-reconciler-type=none",
		// As OpenShift and careful sites have it: who sets owners needs the right to.
		"--enable-admission-plugins=OwnerReferencesPermissionEnforcement",
	}
	if options.Audit {
		c.AuditLog = l.logFile("audit")
		args = append(args, "--audit-log-path="+c.AuditLog, "--audit-policy-file="+filepath.Join(dir, "audit.yaml"))
	}
	client, err := rest.HTTPClientFor(c.config)
	if err != nil {
		return fmt.Errorf("make a client of the API: %w", err)
	}
	return l.run(ctx, &part{
		name:     "kube-apiserver",
		command:  guard.Command{Path: filepath.Join(c.AssetsDir, "kube-apiserver"), Args: append(args, options.ExtraArgs...)},
		log:      l.logFile("kube-apiserver"),
		ready:    answers(client, c.URL+"/readyz"),
		deadline: apiDeadline,
		grace:    serverGrace,
		next:     "see the log; an argument that this version does not know and too little memory are the usual reasons",
	}, 3*time.Second)
}

// giveAccess makes the administrator's certificate and kubeconfig.
func (l *Lab) giveAccess(c *ControlPlane) error {
	config, err := c.ConfigFor("lab-admin", administrators)
	if err != nil {
		return err
	}
	c.config = config
	file := clientcmdapi.NewConfig()
	file.Clusters["lab"] = &clientcmdapi.Cluster{Server: c.URL, CertificateAuthorityData: config.CAData}
	file.AuthInfos["lab-admin"] = &clientcmdapi.AuthInfo{ClientCertificateData: config.CertData, ClientKeyData: config.KeyData}
	file.Contexts["lab"] = &clientcmdapi.Context{Cluster: "lab", AuthInfo: "lab-admin"}
	file.CurrentContext = "lab"
	content, err := clientcmd.Write(*file)
	if err != nil {
		return fmt.Errorf("encode the kubeconfig: %w", err)
	}
	return writeFiles(l.Dir, map[string][]byte{"kubeconfig": content})
}

// auditPolicy records who asked for what and the answer's code, once per request.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: Metadata
`

// writeAPIFiles makes kube-apiserver's certificate and the service accounts' keys.
func (l *Lab) writeAPIFiles() error {
	serving, err := l.Authority.Server("kubernetes", "kubernetes.default", "kubernetes.default.svc", "10.96.0.1")
	if err != nil {
		return err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("make the service accounts' key: %w", err)
	}
	private, errPrivate := x509.MarshalECPrivateKey(key)
	public, errPublic := x509.MarshalPKIXPublicKey(key.Public())
	if err := errors.Join(errPrivate, errPublic); err != nil {
		return fmt.Errorf("encode the service accounts' key: %w", err)
	}
	return writeFiles(filepath.Join(l.Dir, "kubernetes"), map[string][]byte{
		"tls.crt":             serving.Cert,
		"tls.key":             serving.Key,
		"service-account.key": pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private}),
		"service-account.pub": pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}),
		"audit.yaml":          []byte(auditPolicy),
	})
}

// startControllers starts garbage collection and namespace deletion. They are
// in the lab's own program only.
func (l *Lab) startControllers(ctx context.Context, c *ControlPlane) error {
	assets, err := controllers(ctx, l.cacheDir, l.progress)
	if err != nil {
		return err
	}
	return l.run(ctx, &part{
		name:     "lab-controllers",
		command:  guard.Command{Path: filepath.Join(assets, "lab-controllers"), Args: []string{"--kubeconfig=" + c.Kubeconfig}},
		log:      l.logFile("lab-controllers"),
		ready:    func(context.Context) error { return nil },
		deadline: apiDeadline,
		grace:    apiGrace,
		next:     "see the log",
	}, 0)
}

// port reserves a free port for 0 and checks any other.
func (l *Lab) port(fixed int) (int, error) {
	if fixed == 0 {
		return l.ports.Free()
	}
	return fixed, ports.Check(fixed)
}

// answers is a ready function: the address answers 200.
func answers(client *http.Client, url string) func(context.Context) error {
	return func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		// The look at a part leaves no connection behind.
		request.Close = true
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("GET %s: %s", url, response.Status)
		}
		return nil
	}
}

// loopback is host:port on 127.0.0.1.
func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
