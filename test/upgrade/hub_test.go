package upgrade_test

import (
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	_ "modernc.org/sqlite" // as the hub opens it
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/program"
	"github.com/ironflow/ironflow/test/hub/rolefiles"
	"github.com/ironflow/ironflow/test/hub/testhub"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
	"github.com/ironflow/ironflow/test/needs"
	"github.com/ironflow/ironflow/test/postgres"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	postgres.Main(m)
}

const (
	// userToken is that of the one user of each hub.
	userToken = "the-user-of-this-test"
	// records is SQLite's file in the data folder.
	records = "hub.sqlite"
	// answersFile is what a user read of everything before the release stopped, by path.
	answersFile = "answers.json.gz"
)

// hub is the program `ironflow hub` with a user and agents.
type hub struct {
	*WithT
	t       *testing.T
	program *program.Hub
	user    *testhub.Caller
	all     *testhub.Hub
	options program.Options
}

// newHub prepares a hub whose data folder is empty; nothing runs yet.
func newHub(t *testing.T, args ...string) *hub {
	t.Helper()
	h := &hub{WithT: NewWithT(t), t: t}
	plane := labtest.ControlPlane(t, lab.ControlPlaneOptions{})
	h.Expect(lab.InstallCRDs(t.Context(), plane.Config())).To(Succeed())
	dir := t.TempDir()
	h.Expect(rolefiles.Write(filepath.Join(dir, "roles"))).To(Succeed())
	h.options = program.Options{
		Program: needs.Ironflow(t), Kubeconfig: plane.Kubeconfig, Dir: dir, UserToken: userToken,
		Args: append([]string{"--hub-ignition-dir", filepath.Join(dir, "roles")}, args...),
	}
	var err error
	h.program, err = program.New(h.options)
	h.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { h.Expect(h.program.Stop()).To(Succeed()) })
	return h
}

// start starts it, and connects the user.
func (h *hub) start() {
	h.t.Helper()
	h.Expect(h.program.Start(h.t.Context())).To(Succeed())
	raw, err := os.ReadFile(h.program.CA)
	h.Expect(err).NotTo(HaveOccurred())
	pool := x509.NewCertPool()
	h.Expect(pool.AppendCertsFromPEM(raw)).To(BeTrue())
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}
	h.t.Cleanup(client.CloseIdleConnections)
	h.all = testhub.At(h.program.URL, client, userToken)
	h.user = h.all.User()
}

// agent is one of an infra-env, with the token of its live image.
func (h *hub) agent(infraEnv string) *testhub.Caller {
	h.t.Helper()
	token, err := h.program.AgentToken(infraEnv)
	h.Expect(err).NotTo(HaveOccurred())
	return h.all.Agent(token)
}

// do is a user's call, which must succeed.
func (h *hub) do(method, path string, in, out any) {
	h.t.Helper()
	code, raw := h.user.Do(h.t, method, path, in, out)
	h.Expect(code).To(BeNumerically("<", 300), "%s %s: %s", method, path, raw)
}

// answers are what a user reads of everything that a hub has, by path.
func (h *hub) answers() map[string]any {
	h.t.Helper()
	paths := []string{"/clusters?with_hosts=true", "/infra-envs", "/events?order=ascending"}
	var clusters wire.ClusterList
	var envs wire.InfraEnvList
	h.do(http.MethodGet, "/clusters", nil, &clusters)
	h.do(http.MethodGet, "/infra-envs", nil, &envs)
	for _, c := range clusters {
		paths = append(paths, "/clusters/"+c.ID)
	}
	for _, e := range envs {
		paths = append(paths, "/infra-envs/"+e.ID, "/infra-envs/"+e.ID+"/hosts")
		var hosts wire.HostList
		h.do(http.MethodGet, "/infra-envs/"+e.ID+"/hosts", nil, &hosts)
		for _, host := range hosts {
			paths = append(paths, "/infra-envs/"+e.ID+"/hosts/"+host.ID)
		}
	}
	all := map[string]any{}
	for _, path := range paths {
		var answer any
		h.do(http.MethodGet, path, nil, &answer)
		all[path] = answer
	}
	return all
}

// databases are how a release's records are there: as SQLite's file, or in PostgreSQL, into which its backup is put.
var databases = map[string]func(t *testing.T, release string) *hub{
	"sqlite": func(t *testing.T, release string) *hub {
		h := newHub(t)
		h.unpack(release)
		return h
	},
	"postgres": func(t *testing.T, release string) *hub {
		db := postgres.New(t)
		args := []string{"--database", db.URL, "--database-password-file", db.PasswordFile}
		h := newHub(t, args...)
		h.Expect(os.MkdirAll(h.program.Data, 0o700)).To(Succeed())
		command := exec.CommandContext(t.Context(), h.options.Program, append([]string{"hub", "restore", filepath.Join(release, "hub", "backup.tar.gz"), "--data-dir", h.program.Data}, args...)...)
		out, err := command.CombinedOutput()
		h.Expect(err).NotTo(HaveOccurred(), string(out))
		return h
	},
}

// TestRecordsOfAReleaseAreServed: the tables are brought up to date, every answer is as it was, agents go on with their tokens, and
// what was sealed is opened.
func TestRecordsOfAReleaseAreServed(t *testing.T) {
	for _, release := range releases(t) {
		for name, of := range databases {
			t.Run(filepath.Base(release)+" "+name, func(t *testing.T) {
				h := of(t, release)
				h.start()
				var want map[string]any
				h.Expect(json.Unmarshal(unpacked(t, filepath.Join(release, "hub", answersFile)), &want)).To(Succeed())
				h.Expect(len(want)).To(BeNumerically(">", 20))
				got := h.answers()
				for path, answer := range want {
					h.Expect(differences(path, answer, got[path])).To(BeEmpty())
				}
				h.goesOn()
			})
		}
	}
}

// goesOn has an installation end whose host was at work when the release stopped, and begin another.
func (h *hub) goesOn() {
	h.t.Helper()
	at := h.hostOf("installing")
	agent := h.agent(at.InfraEnvID)
	agent.Progress(h.t, at, wire.HostStageRebooting, "")
	var host wire.Host
	h.do(http.MethodGet, "/infra-envs/"+at.InfraEnvID+"/hosts/"+at.HostID, nil, &host)
	h.Expect(host.Progress.CurrentStage).To(Equal(wire.HostStageRebooting))

	ready := h.hostOf("ready")
	var clusters wire.ClusterList
	h.do(http.MethodGet, "/clusters", nil, &clusters)
	for _, c := range clusters {
		if c.Name == "ready" {
			h.do(http.MethodPost, "/clusters/"+c.ID+"/actions/install", nil, nil)
		}
	}
	order := h.agent(ready.InfraEnvID).UntilInstall(h.t, ready, testhub.Inventory(seeds["ready"]))
	h.Expect(order.Args).NotTo(BeEmpty())
}

// hostOf is the host of the infra-env of that name.
func (h *hub) hostOf(name string) store.HostKey {
	h.t.Helper()
	var envs wire.InfraEnvList
	h.do(http.MethodGet, "/infra-envs", nil, &envs)
	for _, e := range envs {
		if e.Name == name {
			var hosts wire.HostList
			h.do(http.MethodGet, "/infra-envs/"+e.ID+"/hosts", nil, &hosts)
			h.Expect(hosts).To(HaveLen(1), name)
			return store.HostKey{InfraEnvID: e.ID, HostID: hosts[0].ID}
		}
	}
	h.t.Fatal("no infra-env " + name)
	return store.HostKey{}
}

// TestAnOlderProgramLeavesNewerRecordsAlone: it ends and says what to do, nothing is changed, and the newer program works on them again.
func TestAnOlderProgramLeavesNewerRecordsAlone(t *testing.T) {
	newest := releases(t)
	h := newHub(t)
	h.unpack(newest[len(newest)-1])
	file := filepath.Join(h.program.Data, records)
	db, err := sql.Open("sqlite", "file:"+file)
	h.Expect(err).NotTo(HaveOccurred())
	h.t.Cleanup(func() { _ = db.Close() })
	_, err = db.ExecContext(t.Context(), `INSERT INTO schema_version (version) VALUES (999)`) // that of a release to come
	h.Expect(err).NotTo(HaveOccurred())
	before := h.rows(db)
	h.Expect(h.program.Start(t.Context())).To(MatchError(ContainSubstring("the hub has ended")))
	h.Expect(h.program.Tail()).To(And(ContainSubstring("its tables have version 999"), ContainSubstring("start the newer program, or restore a backup")))
	h.Expect(h.rows(db)).To(Equal(before))

	_, err = db.ExecContext(t.Context(), `DELETE FROM schema_version WHERE version = 999`) // the newer program
	h.Expect(err).NotTo(HaveOccurred())
	h.start()
	h.Expect(h.answers()).NotTo(BeEmpty())
}

// rows are how many rows each table has, with the version of the tables.
func (h *hub) rows(db *sql.DB) map[string]int {
	h.t.Helper()
	names, err := db.QueryContext(h.t.Context(), `SELECT name FROM sqlite_master WHERE type = 'table'`)
	h.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = names.Close() }() // read to its end
	all := map[string]int{}
	for names.Next() {
		var name string
		h.Expect(names.Scan(&name)).To(Succeed())
		all[name] = 0
	}
	h.Expect(names.Err()).NotTo(HaveOccurred())
	for name := range all {
		var n int
		h.Expect(db.QueryRowContext(h.t.Context(), `SELECT COUNT(*) FROM "`+name+`"`).Scan(&n)).To(Succeed())
		all[name] = n
	}
	var version int
	h.Expect(db.QueryRowContext(h.t.Context(), `SELECT MAX(version) FROM schema_version`).Scan(&version)).To(Succeed())
	all["the tables' version"] = version
	return all
}
