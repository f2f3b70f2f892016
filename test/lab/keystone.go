package lab

import (
	"bytes"
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"text/template"
	"time"

	"github.com/ironflow/ironflow/test/lab/guard"
	"github.com/ironflow/ironflow/test/lab/progress"
)

const (
	// keystoneDeadline is how long Keystone may take to start.
	keystoneDeadline = 90 * time.Second
	// keystoneUsual is how long it takes on an idle machine.
	keystoneUsual = 3 * time.Second
	// keystoneGrace is how long it may take to stop.
	keystoneGrace = 3 * time.Second
	// keystoneRegion is the one region of the catalog.
	keystoneRegion = "lab"
	// keystoneAdmin is the administrator's name.
	keystoneAdmin = "admin"
	// ServiceProject is the project of OpenStack's services.
	ServiceProject = "service"
	// fernetKeySize is 16 bytes to sign with and 16 to encrypt with.
	fernetKeySize = 32
	// defaultTokenLife is Keystone's own.
	defaultTokenLife = time.Hour
)

var (
	//go:embed keystone/keystone.conf.tmpl
	keystoneConf string
	//go:embed keystone/gunicorn.conf.py.tmpl
	gunicornConf string
	//go:embed keystone/requirements.txt
	keystoneRequirements []byte
)

// keystoneFiles are its configuration and its server's, by the names that both
// look for.
var keystoneFiles = map[string]*template.Template{
	"keystone.conf":    template.Must(template.New("keystone.conf").Option("missingkey=error").Parse(keystoneConf)),
	"gunicorn.conf.py": template.Must(template.New("gunicorn.conf.py").Option("missingkey=error").Parse(gunicornConf)),
}

// KeystoneOptions choose how Keystone runs.
type KeystoneOptions struct {
	// Port is the port on 127.0.0.1; 0 takes a free one.
	Port int
	// TokenLife is how long a token is good, whole seconds; 0 is one hour.
	TokenLife time.Duration
}

// Keystone is a running identity service with an administrator, a project for
// services, and a catalog.
type Keystone struct {
	// URL is its address with the version: https://host:port/v3.
	URL string
	// Region is the catalog's region.
	Region string
	// Dir is the folder of its state.
	Dir string

	password string // the administrator's
	lab      *Lab
	python   string
	part     *part
}

// KeystoneEnvironment returns the folder of the Python environment with Keystone
// and its server.
func KeystoneEnvironment(ctx context.Context, cacheDir string, report progress.Func) (string, error) {
	return environment(ctx, "keystone", cacheDir, keystoneRequirements, report, schemaBy("keystone-manage", "db_sync"))
}

// StartKeystone starts Keystone with an empty database.
func (l *Lab) StartKeystone(ctx context.Context, options KeystoneOptions) (*Keystone, error) {
	if err := l.check(ctx, Options{Ironic: &IronicOptions{Port: options.Port}}); err != nil { // the needs are the same
		return nil, err
	}
	python, err := KeystoneEnvironment(ctx, l.cacheDir, l.progress)
	if err != nil {
		return nil, err
	}
	port, err := l.port(options.Port)
	if err != nil {
		return nil, err
	}
	k := &Keystone{
		URL: "https://" + loopback(port) + "/v3", Region: keystoneRegion, Dir: filepath.Join(l.Dir, "keystone"),
		password: rand.Text(), lab: l, python: python,
	}
	if err := k.writeState(ctx, port, options); err != nil {
		return nil, err
	}
	k.part = k.program()
	if err := l.run(ctx, k.part, keystoneUsual); err != nil {
		return nil, err
	}
	if err := k.create(ctx, "projects", "project", map[string]any{"name": ServiceProject, "domain_id": "default"}, nil); err != nil {
		return nil, err
	}
	return k, nil
}

// writeState makes the folders, certificates, configuration, keys and database.
func (k *Keystone) writeState(ctx context.Context, port int, options KeystoneOptions) error {
	if options.TokenLife == 0 {
		options.TokenLife = defaultTokenLife
	}
	serving, err := k.lab.Authority.Server()
	if err != nil {
		return err
	}
	database, err := os.ReadFile(filepath.Join(k.python, schemaFile))
	if err != nil {
		return fmt.Errorf("copy the empty database: %w", err)
	}
	files := map[string][]byte{"tls.crt": serving.Cert, "tls.key": serving.Key, "keystone.sqlite": database}
	// Each repository has a key in use, 1, and the next one, 0.
	for _, name := range []string{"fernet-keys/0", "fernet-keys/1", "credential-keys/0", "credential-keys/1"} {
		files[name] = fernetKey()
	}
	for name, content := range keystoneFiles {
		var file bytes.Buffer
		err = content.Execute(&file, map[string]any{
			"Dir": k.Dir, "LogFile": k.lab.logFile("keystone"), "TokenLife": int(options.TokenLife.Seconds()), "Address": loopback(port),
		})
		if err != nil {
			return fmt.Errorf("render %s: %w", name, err)
		}
		files[name] = file.Bytes()
	}
	if err := writeFiles(k.Dir, files); err != nil {
		return err
	}
	return k.manage(ctx, "bootstrap", "--bootstrap-username", keystoneAdmin, "--bootstrap-region-id", keystoneRegion,
		"--bootstrap-public-url", k.URL, "--bootstrap-internal-url", k.URL)
}

// fernetKey is a new key in the form of its file: 32 random bytes.
func fernetKey() []byte {
	key := make([]byte, fernetKeySize)
	_, _ = rand.Read(key) // never fails
	return base64.URLEncoding.AppendEncode(nil, key)
}

// manage runs keystone-manage.
func (k *Keystone) manage(ctx context.Context, args ...string) error {
	// Not by argument, which every user of the machine could read.
	env := append(pythonEnvironment(), "OS_BOOTSTRAP_PASSWORD="+k.password)
	return runToolIn(ctx, env, filepath.Join(k.python, "bin", "keystone-manage"), append([]string{"--config-file", filepath.Join(k.Dir, "keystone.conf")}, args...)...)
}

// program describes how Keystone is served.
func (k *Keystone) program() *part {
	return &part{
		name: "keystone",
		command: guard.Command{
			Path: filepath.Join(k.python, "bin", "gunicorn"),
			Dir:  k.Dir,
			Env:  append(pythonEnvironment(), "OS_KEYSTONE_CONFIG_FILES="+filepath.Join(k.Dir, "keystone.conf")),
		},
		log:      k.lab.logFile("keystone-output"),
		logs:     []string{k.lab.logFile("keystone")},
		ready:    answers(k.lab.client("", ""), k.URL),
		deadline: keystoneDeadline,
		grace:    keystoneGrace,
		next:     "look for the first ERROR in the log",
	}
}
