package lab

import (
	"bytes"
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/ironflow/ironflow/test/lab/guard"
)

const (
	// ironicDeadline is how long Ironic may take to start, on a machine that is
	// busy with other things too.
	ironicDeadline = 90 * time.Second
	// ironicUsual is how long it takes on an idle machine.
	ironicUsual = 4 * time.Second
	// ironicGrace is how long it may finish what its conductor has begun. It is
	// short: the lab is at its end, and a node's state does not matter any more.
	ironicGrace = 10 * time.Second
	// databaseFile is the database in Ironic's folder.
	databaseFile = "ironic.sqlite"
)

// IronicOptions choose how Ironic runs.
type IronicOptions struct {
	// Port is the API's port on the lab's address; 0 takes a free one.
	Port int
	// User and Password are asked for by HTTP basic authentication. Empty ones
	// are "ironic" and a random password.
	User, Password string
	// TrustedCAs are PEM certificates that Ironic trusts besides the lab's own,
	// for BMCs and image servers.
	TrustedCAs []byte
	// HeartbeatTimeout is how long a ramdisk may be silent (its beats come at
	// about half of it), CallbackTimeout how long Ironic waits for a ramdisk in
	// deployment, cleaning and inspection. Whole seconds; zero is Ironic's own 300 s
	// and 1800 s.
	HeartbeatTimeout, CallbackTimeout time.Duration
	// Keystone, if set, authenticates users in place of User and Password: tokens of
	// users with roles on the whole system, and of the role "service" in the project
	// of services, are good for everything.
	Keystone *Keystone
	// Overrides are further options by section and name; they win over the lab's.
	Overrides map[string]map[string]string
}

// Ironic is a running Ironic, all of it in one program.
type Ironic struct {
	// URL is the API's address, without a version path.
	URL string
	// User and Password are for HTTP basic authentication.
	User, Password string
	// CA is the PEM certificate to trust.
	CA []byte
	// Log is the path of its log.
	Log string
	// Dir is the folder of its state: configuration, database, certificates.
	Dir string

	lab      *Lab
	keystone *Keystone
	part     *part
}

var (
	//go:embed ironic/ironic.conf.tmpl
	ironicConf string
	// ironicLaunch starts Ironic without one waste of time; it says which.
	//
	//go:embed ironic/launch.py
	ironicLaunch []byte
)

var ironicTemplate = template.Must(template.New("ironic.conf").Option("missingkey=error").Parse(ironicConf))

// StartIronic starts Ironic with an empty database.
func (l *Lab) StartIronic(ctx context.Context, options IronicOptions) (*Ironic, error) {
	if err := l.check(ctx, Options{Ironic: &options}); err != nil {
		return nil, err
	}
	python, err := IronicEnvironment(ctx, l.cacheDir, l.progress)
	if err != nil {
		return nil, err
	}
	port, err := l.port(options.Port)
	if err != nil {
		return nil, err
	}
	i := &Ironic{
		URL: "https://" + netip.AddrPortFrom(l.address, uint16(port)).String(), User: options.User, Password: options.Password,
		CA: l.Authority.PEM, Log: l.logFile("ironic"), Dir: filepath.Join(l.Dir, "ironic"), lab: l, keystone: options.Keystone,
	}
	if i.User == "" {
		i.User = "ironic"
	}
	if i.Password == "" {
		i.Password = rand.Text()
	}
	if options.Keystone != nil {
		if err := i.authenticateBy(ctx, options.Keystone, &options); err != nil {
			return nil, err
		}
	}
	if err := i.writeState(python, port, options); err != nil {
		return nil, err
	}
	i.part = i.program(python)
	if err := l.run(ctx, i.part, ironicUsual); err != nil {
		return nil, err
	}
	l.Ironic = i
	return i, nil
}

// program describes how Ironic is run.
func (i *Ironic) program(python string) *part {
	return &part{
		name: "ironic",
		command: guard.Command{
			Path: filepath.Join(python, "bin", "python"),
			Args: []string{
				filepath.Join(i.Dir, "launch.py"),
				"--config-file", filepath.Join(i.Dir, "ironic.conf"), "--config-file", filepath.Join(i.Dir, "overrides.conf"),
			},
			Dir: i.Dir,
			Env: pythonEnvironment(),
		},
		log:      i.lab.logFile("ironic-output"),
		logs:     []string{i.Log},
		doomed:   "Forking too fast",
		ready:    i.answering(),
		deadline: ironicDeadline,
		grace:    ironicGrace,
		next:     "look for the first ERROR in the log; after a change of options, compare them with `ironic --help` of this version",
	}
}

// writeState makes the folders, certificates, configuration and database.
func (i *Ironic) writeState(python string, port int, options IronicOptions) error {
	for _, name := range []string{"state", "tmp", "http", "master", "images", "certs", "deploy-logs", "lock"} {
		if err := os.MkdirAll(filepath.Join(i.Dir, name), 0o700); err != nil {
			return fmt.Errorf("make Ironic's folders: %w", err)
		}
	}
	serving, err := i.lab.Authority.Server(i.lab.address.String())
	if err != nil {
		return err
	}
	password, err := passwordFile(i.User, i.Password)
	if err != nil {
		return err
	}
	conf, err := i.configuration(port, options)
	if err != nil {
		return err
	}
	database, err := os.ReadFile(filepath.Join(python, schemaFile))
	if err != nil {
		return fmt.Errorf("copy the empty database: %w", err)
	}
	return writeFiles(i.Dir, map[string][]byte{
		"tls.crt":        serving.Cert,
		"tls.key":        serving.Key,
		"htpasswd":       password,
		"trusted.crt":    slices.Concat(i.CA, []byte("\n"), options.TrustedCAs),
		"ironic.conf":    conf,
		"overrides.conf": overrides(options.Overrides),
		databaseFile:     database,
		"launch.py":      ironicLaunch,
	})
}

// ironicUser is Ironic's own user in Keystone, as whom it validates tokens.
const ironicUser = "ironic-service"

// authenticateBy has Ironic ask Keystone who its callers are.
func (i *Ironic) authenticateBy(ctx context.Context, k *Keystone, options *IronicOptions) error {
	password := rand.Text()
	if err := k.User(ctx, ironicUser, password, "", "service"); err != nil {
		return err
	}
	if err := k.Service(ctx, "baremetal", "ironic", i.URL); err != nil {
		return err
	}
	sections := map[string]map[string]string{
		"DEFAULT": {"auth_strategy": "keystone", "rbac_service_role_elevated_access": "true"},
		"keystone_authtoken": {
			"auth_type": "password", "auth_url": k.URL, "www_authenticate_uri": k.URL, "cafile": filepath.Join(i.Dir, "trusted.crt"),
			"username": ironicUser, "password": password, "user_domain_name": "Default",
			"project_name": ServiceProject, "project_domain_name": "Default",
			// Each token is validated each time, so that a revoked one is refused at once.
			"token_cache_time": "-1", "service_token_roles_required": "true",
		},
	}
	for section, given := range options.Overrides {
		if sections[section] == nil {
			sections[section] = map[string]string{}
		}
		maps.Copy(sections[section], given)
	}
	options.Overrides = sections
	return nil
}

// configuration renders ironic.conf.
func (i *Ironic) configuration(port int, options IronicOptions) ([]byte, error) {
	var conf bytes.Buffer
	err := ironicTemplate.Execute(&conf, struct {
		Dir, LogFile, URL, Address        string
		Port                              int
		HeartbeatTimeout, CallbackTimeout int
	}{
		Dir: i.Dir, LogFile: i.Log, URL: i.URL, Address: i.lab.address.String(), Port: port,
		HeartbeatTimeout: int(options.HeartbeatTimeout.Seconds()),
		CallbackTimeout:  int(options.CallbackTimeout.Seconds()),
	})
	if err != nil {
		return nil, fmt.Errorf("render ironic.conf: %w", err)
	}
	return conf.Bytes(), nil
}

// overrides renders sections and options in a stable order.
func overrides(sections map[string]map[string]string) []byte {
	var conf bytes.Buffer
	for _, section := range sortedKeys(sections) {
		fmt.Fprintf(&conf, "[%s]\n", section)
		for _, option := range sortedKeys(sections[section]) {
			fmt.Fprintf(&conf, "%s = %s\n", option, sections[section][option])
		}
	}
	return conf.Bytes()
}

// answering says that the API answers with its drivers, which it does once the
// conductor is up.
func (i *Ironic) answering() func(context.Context) error {
	client := i.HTTPClient()
	return answers(client, i.URL+"/v1/drivers")
}

// HTTPClient is a client that trusts the lab and authenticates itself.
func (i *Ironic) HTTPClient() *http.Client {
	if i.keystone != nil {
		client := i.lab.client("", "")
		client.Transport = tokens{client.Transport, i.keystone}
		return client
	}
	return i.lab.client(i.User, i.Password)
}

// Stop ends Ironic and keeps its state. Its nodes stay as they are.
func (i *Ironic) Stop(ctx context.Context) { i.part.stop(ctx) }

// Kill ends Ironic as a crash does, with SIGKILL to all its processes.
func (i *Ironic) Kill() { i.part.kill() }

// Start starts Ironic again, with the state and at the address that it had.
func (i *Ironic) Start(ctx context.Context) error { return i.part.start(ctx) }

// LoseDatabase ends Ironic as a crash does, and starts it again with an empty
// database: it knows no node any more. What runs on the machines runs on.
func (i *Ironic) LoseDatabase(ctx context.Context) error {
	i.Kill()
	python, err := IronicEnvironment(ctx, i.lab.cacheDir, nil)
	if err != nil {
		return err
	}
	empty, err := os.ReadFile(filepath.Join(python, schemaFile))
	if err != nil {
		return fmt.Errorf("read the empty database: %w", err)
	}
	for _, name := range []string{databaseFile + "-wal", databaseFile + "-shm"} {
		if err := os.Remove(filepath.Join(i.Dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("lose the database: %w", err)
		}
	}
	if err := writeFiles(i.Dir, map[string][]byte{databaseFile: empty}); err != nil {
		return err
	}
	return i.Start(ctx)
}

// Restart is Stop and Start.
func (i *Ironic) Restart(ctx context.Context) error {
	i.Stop(ctx)
	return i.Start(ctx)
}

// passwordFile is one line of a user file as Ironic and sushy-tools read it.
// The hash is the cheapest that bcrypt has: the emulator computes it at each
// request, and nothing here is secret from the machine's user.
func passwordFile(user, password string) ([]byte, error) {
	if strings.ContainsAny(user, ":\n") {
		return nil, errors.New("a user's name must not have a colon or a line feed")
	}
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		return nil, fmt.Errorf("hash the password of %s: %w", user, err)
	}
	return fmt.Appendf(nil, "%s:%s\n", user, hash), nil
}

// pythonEnvironment is the environment of a Python part: the user's without
// what would lead it to other packages, to other certificates than configured
// (a bundle in the environment wins over a BMC's own setting) or through a
// proxy to loopback.
func pythonEnvironment() []string {
	env := slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return strings.HasPrefix(name, "PYTHON") || strings.HasPrefix(name, "OS_") ||
			strings.HasSuffix(name, "_CA_BUNDLE") || strings.HasSuffix(strings.ToLower(name), "_proxy")
	})
	return append(env, "PYTHONNOUSERSITE=1", "PYTHONUNBUFFERED=1", "PYTHONDONTWRITEBYTECODE=1", "PYTHONWARNINGS=ignore")
}
