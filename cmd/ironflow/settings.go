package main

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/capacity"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
)

// settings is everything that the operator can set. Each setting is a flag and
// an environment variable; a flag wins.
type settings struct {
	namespace  string
	kubeconfig string
	dataDir    string
	// database is PostgreSQL's address, empty for a file in dataDir.
	database             string
	databasePasswordFile string
	files                fileSettings
	logLevel             string
	leaderElect          bool
	// oneOfMany is for tests that start the program several times in one process.
	oneOfMany bool
	// leaderNamespace is where the lease of the leader is.
	leaderNamespace string
	metricsAddr     string
	// metricsInsecure is plain HTTP without authentication, metricsCertDir a certificate.
	metricsInsecure bool
	metricsCertDir  string
	tls             tlsSettings
	election        electionSettings
	healthAddr      string
	hubAddr         string
	hubPlainAddr    string
	hubURL          string
	hubAuth         string
	checks          hubChecks
	work            hubWork
	api             hubAPI
	nodeZero        nodeZero
	imagesAddr      string
	imagesTLS       string
	imagesURL       string
	baseImage       string
	images          imageSettings
	pprofAddr       string
	ironic          ironicSettings
	ipa             ipaSettings
	live            liveSystemSettings
	hosts           hostSettings
	bmcs            bmcSettings

	// machinesInCluster takes published addresses that only the cluster reaches.
	machinesInCluster bool
}

// imageSettings tell what live images are made of.
type imageSettings struct {
	// list is a file that names base images to download.
	list string
	// programs is the folder of the host programs, agent a container image instead.
	programs, agent string
	// nmstatectl says whether live systems have that program: auto, always or never.
	nmstatectl string
	// perAddress is how many connections one remote address may have; 0 for any number.
	perAddress int
}

// hostSettings tell how hosts are worked on.
type hostSettings struct {
	concurrency int
	limits      capacity.Limits
	claims      bool
	series      bool
	// retries is how many deployments of a host may fail in a row; 0 for any number.
	retries int
	// directBoot and liveISOBoot are Default, Always or Never.
	directBoot, liveISOBoot string
	noNetwork               bool
	externalV6              string
	// What follows is for the controllers alone, without the image server.
	buildImages bool
	iso         string
	kernel      string
	ramdisk     string
	// isoByArch and the like are lists of ARCHITECTURE:URL, byArch what follows from them.
	isoByArch, kernelByArch, ramdiskByArch string
	byArch                                 map[string]nodespec.LiveImageURLs
}

// ironicSettings tell how this program reaches Ironic.
type ironicSettings struct {
	endpoint string
	// endpoints is a file that lists several, in the place of the others.
	endpoints  string
	authRoot   string
	caFile     string
	certFile   string
	keyFile    string
	insecure   bool
	skipNames  bool
	timeout    time.Duration
	heartbeats time.Duration // Ironic's own limit for those of ramdisks; 0: not known
	keystone   keystoneSettings
}

// keystoneSettings tell how this program gets its tokens for Ironic; the password
// is a file of the folder of credentials.
type keystoneSettings struct {
	url, user, domain, project string
}

// ipaSettings tell ironic-python-agent in the live image how it reaches Ironic.
type ipaSettings struct {
	ironicURL  string
	caFile     string
	agentImage string
	sshKey     string
	// moreKey is a key itself.
	moreKey string
	foreign bool
}

// liveSystemSettings are what every live image begins with.
type liveSystemSettings struct {
	agentImageARM string
	imageInsecure bool
	// pullSecret is in base64, the file's content is not.
	pullSecret, pullSecretFile     string
	vlan                           string
	inspectorURL                   string
	registries, caBundle           string // files
	ipOptions                      string
	proxyHTTP, proxyHTTPS, noProxy string
	ntp                            string
}

// setting is one row of the table of settings; docs/configuration.md has the
// same rows, which a test compares.
type setting struct {
	flag, env, value, usage string
	bind                    func(flags *pflag.FlagSet, s setting)
}

// table lists every setting of `ironflow run`, in the order of the documentation.
func (s *settings) table() []setting {
	return slices.Concat(s.common(), s.tls.settings(), s.election.settings(), s.bmcs.settings(), s.services())
}

// controllersTable lists the settings of `ironflow controllers`.
func (s *settings) controllersTable() []setting {
	return slices.Concat(s.common(), s.tls.settings(), s.election.settings(), s.bmcs.settings(), s.liveImages())
}

// common are the settings of everything that runs controllers.
func (s *settings) common() []setting {
	return []setting{
		{"namespace", "WATCH_NAMESPACE", "", "comma-separated namespaces to watch; empty for all", text(&s.namespace)},
		{"kubeconfig", "KUBECONFIG", "", "kubeconfig file; empty for the cluster that this runs in", text(&s.kubeconfig)},
		{"log-level", "IRONFLOW_LOG_LEVEL", "info", "debug, info or error", text(&s.logLevel)},
		{"leader-elect", "IRONFLOW_LEADER_ELECT", "false", "elect one active replica by a lease", boolean(&s.leaderElect)},
		{"lease-namespace", "POD_NAMESPACE", "", "namespace of the lease by which a replica is elected; empty for the one that this runs in", text(&s.leaderNamespace)},
		{"metrics-addr", "IRONFLOW_METRICS_ADDR", ":9443", "address of the metrics listener; 0 switches it off", text(&s.metricsAddr)},
		{"metrics-insecure", "IRONFLOW_METRICS_INSECURE", "false", "serve metrics over plain HTTP to everybody, for a laboratory; else over HTTPS, to those whom the Kubernetes API lets read them", boolean(&s.metricsInsecure)},
		{"metrics-cert-dir", "IRONFLOW_METRICS_CERT_DIR", "", "folder with tls.crt and tls.key of the metrics listener; empty for a certificate of Ironflow's own", text(&s.metricsCertDir)},
		{"health-addr", "IRONFLOW_HEALTH_ADDR", ":9440", "address of /healthz and /readyz; 0 switches it off", text(&s.healthAddr)},
		{"pprof-addr", "IRONFLOW_PPROF_ADDR", "0", "address of the Go profiler's listener; 0 switches it off", text(&s.pprofAddr)},
		{"machines-in-cluster", "IRONFLOW_MACHINES_IN_CLUSTER", "false", "machines and BMCs resolve names of this Kubernetes cluster and reach its Services, as virtual machines in it do: take published addresses that only the cluster reaches", boolean(&s.machinesInCluster)},
		{"concurrency", "BMO_CONCURRENCY", "0", "maximum number of hosts that decisions are made for at the same moment; 0 for 100", number(&s.hosts.concurrency)},
		{"host-series", "IRONFLOW_HOST_SERIES", "false", "labels namespace and host on the metrics that baremetal-operator has for each host: a series per host", boolean(&s.hosts.series)},
		{"hostclaims", "IRONFLOW_HOSTCLAIMS", "false", "give hosts to HostClaims, as HostDeployPolicies allow", boolean(&s.hosts.claims)},
		{"limit-hosts", "IRONFLOW_LIMIT_HOSTS", "0", "maximum number of hosts that are inspected, cleaned or deployed concurrently; 0 for no limit", number(&s.hosts.limits.Total)},
		{"limit-network-boot", "PROVISIONING_LIMIT", "20", "maximum number of network-booted (PXE) hosts that are inspected, cleaned or deployed concurrently; those with virtual media do not count; 0 for no limit", number(&s.hosts.limits.Network)},
		{"limit-per-ironic", "IRONFLOW_LIMIT_PER_IRONIC", "0", "maximum number of hosts of one Ironic that are inspected, cleaned or deployed concurrently; 0 for no limit", number(&s.hosts.limits.Ironic)},
		{"limit-per-failure-domain", "IRONFLOW_LIMIT_PER_FAILURE_DOMAIN", "0", "maximum number of hosts of one failure domain that are inspected, cleaned or deployed concurrently; 0 for no limit (label " + names.FailureDomain + ")", number(&s.hosts.limits.Domain)},
		{"max-provisioning-retries", "IRONFLOW_MAX_PROVISIONING_RETRIES", "5", "maximum number of deployments of a host that fail in a row before it waits for a person; 0 for no limit", number(&s.hosts.retries)},
		{"direct-deploy-boot-device", "DIRECT_DEPLOY_FORCE_PERSISTENT_BOOT_DEVICE", "Default", "driver_info force_persistent_boot_device of hosts that are deployed with an image or a custom deploy: Default, Always or Never", text(&s.hosts.directBoot)},
		{"live-iso-boot-device", "LIVE_ISO_FORCE_PERSISTENT_BOOT_DEVICE", "Default", "driver_info force_persistent_boot_device of hosts that are deployed with a live ISO: Default, Always or Never", text(&s.hosts.liveISOBoot)},
		{"provisioning-network-disabled", "PROVISIONING_NETWORK_DISABLED", "false", "refuse BMC addresses whose machines boot the live image over the network", boolean(&s.hosts.noNetwork)},
		{"ironic-external-url-v6", "IRONIC_EXTERNAL_URL_V6", "", "URL by which BMCs with an IPv6 address reach Ironic's image server", text(&s.hosts.externalV6)},
		{"ironic-endpoint", "IRONIC_ENDPOINT", "", "Ironic's URL; /v1 is added", text(&s.ironic.endpoint)},
		{"ironic-endpoints", "IRONFLOW_IRONIC_ENDPOINTS", "", "YAML file that lists several Ironics, used instead of ironic-endpoint and the other settings of one Ironic; see docs/ironic.md", text(&s.ironic.endpoints)},
		{"ironic-auth-root", "METAL3_AUTH_ROOT_DIR", "/opt/metal3/auth", "folder with ironic/username and ironic/password; without these files no authentication", text(&s.ironic.authRoot)},
		{"ironic-ca", "IRONIC_CACERT_FILE", "/opt/metal3/certs/ca/tls.crt", "CA of Ironic; ignored when the file is missing", text(&s.ironic.caFile)},
		{"ironic-client-cert", "IRONIC_CLIENT_CERT_FILE", "/opt/metal3/certs/client/tls.crt", "client certificate for Ironic; ignored when missing", text(&s.ironic.certFile)},
		{"ironic-client-key", "IRONIC_CLIENT_PRIVATE_KEY_FILE", "/opt/metal3/certs/client/tls.key", "key of the client certificate", text(&s.ironic.keyFile)},
		{"ironic-insecure", "IRONIC_INSECURE", "false", "do not verify Ironic's certificate", boolean(&s.ironic.insecure)},
		{"ironic-skip-names", "IRONIC_SKIP_CLIENT_SAN_VERIFY", "false", "verify the chain of Ironic's certificate, but not the names in it", boolean(&s.ironic.skipNames)},
		{"ironic-keystone-url", "OS_AUTH_URL", "", "identity service (v3) that Ironic asks; with keystone/password in ironic-auth-root", text(&s.ironic.keystone.url)},
		{"ironic-keystone-user", "OS_USERNAME", "ironflow", "user at the identity service", text(&s.ironic.keystone.user)},
		{"ironic-keystone-domain", "OS_USER_DOMAIN_NAME", "Default", "domain of the user and of the project", text(&s.ironic.keystone.domain)},
		{"ironic-keystone-project", "OS_PROJECT_NAME", "", "project to act in; empty for the whole system", text(&s.ironic.keystone.project)},
		{"ironic-timeout", "IRONIC_CLIENT_TIMEOUT", "30s", "limit of one request to Ironic", duration(&s.ironic.timeout)},
		{"ironic-heartbeat-timeout", "IRONFLOW_IRONIC_HEARTBEAT_TIMEOUT", "0s", "Ironic's own [api]ramdisk_heartbeat_timeout, from which follows when a ramdisk has fallen silent; 0 learns it from the heartbeats", duration(&s.ironic.heartbeats)},
	}
}

// services are the settings of the hub and of the image server.
func (s *settings) services() []setting {
	rows := []setting{
		{"data-dir", "IRONFLOW_DATA_DIR", "/var/lib/ironflow", "folder for the hub's store, certificates, keys and, unless files names another place, collected logs", text(&s.dataDir)},
		{"database", "IRONFLOW_DATABASE", "", "PostgreSQL database of the hub's records, postgres://USER@HOST:5432/DATABASE without a password, for several replicas; empty for the file hub.sqlite in data-dir", text(&s.database)},
		{"database-password-file", "IRONFLOW_DATABASE_PASSWORD_FILE", "", "file with the password of database, read for each connection; empty for the variables PGPASSWORD or PGPASSFILE", text(&s.databasePasswordFile)},
	}
	rows = append(rows, s.files.settings()...)
	rows = append(rows, []setting{
		{"hub-addr", "IRONFLOW_HUB_ADDR", ":8090", "address of the hub's REST API (TLS)", text(&s.hubAddr)},
		{"hub-plain-addr", "IRONFLOW_HUB_PLAIN_ADDR", "", "address of the hub's REST API without TLS, beside hub-addr, for a proxy that ends TLS; keep it from other networks, such as by 127.0.0.1:8091 for a proxy in the same pod; empty for none", text(&s.hubPlainAddr)},
		{"hub-publish-url", "IRONFLOW_HUB_PUBLISH_URL", "", "URL by which machines reach the hub; empty for https://127.0.0.1 and the port of hub-addr", text(&s.hubURL)},
		{"hub-auth", "IRONFLOW_HUB_AUTH", "token", "how agents authenticate: token or none", text(&s.hubAuth)},
	}...)
	rows = append(rows, s.api.settings()...)
	rows = append(rows, s.checks.settings()...)
	rows = append(rows, s.work.settings()...)
	rows = append(rows, []setting{
		{"images-addr", "IRONFLOW_IMAGES_ADDR", ":8080", "address of the image server (HTTP); 0 switches it off", text(&s.imagesAddr)},
		{"images-tls-addr", "IRONFLOW_IMAGES_TLS_ADDR", ":8443", "address of the image server (HTTPS); 0 switches it off", text(&s.imagesTLS)},
		{"images-publish-url", "IRONFLOW_IMAGES_PUBLISH_URL", "", "URL by which BMCs reach the image server; empty for http://127.0.0.1 and the port of images-addr", text(&s.imagesURL)},
		{"images-per-address", "IRONFLOW_IMAGES_PER_ADDRESS", "1024", "maximum number of open connections to the image server from one address, such as that of a proxy or NAT with many BMCs behind it; 0 for no limit", number(&s.images.perAddress)},
		{"base-image", "DEPLOY_ISO", "", "live ISO that images are made from, or a folder of them (NAME.ARCH.iso); empty with base-image-list for a folder below data-dir", text(&s.baseImage)},
		{"base-image-list", "IRONFLOW_BASE_IMAGE_LIST", "", "YAML file with base images to download into the folder of base-image, read again every minute", text(&s.images.list)},
		{"host-programs", "IRONFLOW_HOST_PROGRAMS", "", "folder with the programs ironflow-agent and ironflow-step that are put into every live image; empty for the folder of this program, none for no programs", text(&s.images.programs)},
		{"live-nmstatectl", "IRONFLOW_LIVE_NMSTATECTL", nmstatectlAuto, "whether live systems have nmstatectl, which gets the nmstate documents that cannot be translated: auto (what is known of the base image), always or never", text(&s.images.nmstatectl)},
		{"agent-image", "IRONFLOW_AGENT_IMAGE", "", "container image that the host agent is taken from, for a hub with an agent of its own; empty for Ironflow's agent", text(&s.images.agent)},
		{"ironic-base-url", "IRONIC_BASE_URL", "", "comma-separated URLs by which machines reach Ironic; empty for ironic-endpoint", text(&s.ipa.ironicURL)},
		{"ironic-agent-ca", "IRONFLOW_IRONIC_AGENT_CA_FILE", "", "CA that machines trust for Ironic; empty for ironic-ca", text(&s.ipa.caFile)},
		{"ironic-agent-image", "IRONIC_AGENT_IMAGE", "", "container image of ironic-python-agent", text(&s.ipa.agentImage)},
		{"ironic-agent-foreign", "IRONFLOW_IRONIC_AGENT_FOREIGN", "false", "say that ironic-agent-image lacks Ironflow's plugin for ironic-python-agent: the condition for the agent's start (gate) is left out", boolean(&s.ipa.foreign)},
		{"ssh-key-file", "IRONFLOW_SSH_KEY_FILE", "", "file with SSH public keys for user core in the live image", text(&s.ipa.sshKey)},
		{"ssh-key", "IRONIC_RAMDISK_SSH_KEY", "", "an SSH public key for user core in the live image, besides those of ssh-key-file", text(&s.ipa.moreKey)},
	}...)
	return slices.Concat(rows, s.liveSystem())
}

// liveSystem are the settings that every live image begins with; an InfraEnv's are
// put on top. Files are read anew for each image.
func (s *settings) liveSystem() []setting {
	return []setting{
		{"ironic-agent-image-arm", "IRONIC_AGENT_IMAGE_ARM", "", "container image of ironic-python-agent for hosts of aarch64; empty for ironic-agent-image", text(&s.live.agentImageARM)},
		{"ironic-agent-image-insecure", "IRONFLOW_IRONIC_AGENT_IMAGE_INSECURE", "false", "pull the container image of ironic-python-agent from a registry without a valid certificate", boolean(&s.live.imageInsecure)},
		{"ironic-agent-pull-secret", "IRONIC_AGENT_PULL_SECRET", "", "pull secret of live images, in base64; empty for ironic-agent-pull-secret-file", secret(&s.live.pullSecret)},
		{"ironic-agent-pull-secret-file", "IRONFLOW_IRONIC_AGENT_PULL_SECRET_FILE", "/run/secrets/pull-secret", "file with the pull secret of live images; ignored when missing", text(&s.live.pullSecretFile)},
		{"ironic-agent-vlan-interfaces", "IRONIC_AGENT_VLAN_INTERFACES", "", "whether ironic-python-agent makes the VLAN interfaces that it hears of: always or never; empty: on hosts without network data", text(&s.live.vlan)},
		{"ironic-inspector-base-url", "IRONIC_INSPECTOR_BASE_URL", "", "comma-separated URLs of a separate ironic-inspector; empty when Ironic itself inspects", text(&s.live.inspectorURL)},
		{"registries-conf", "REGISTRIES_CONF_PATH", "", "file with registries.conf for live images", text(&s.live.registries)},
		{"ca-bundle", "CA_BUNDLE", "", "file with certificates that live systems trust", text(&s.live.caBundle)},
		{"ip-options", "IP_OPTIONS", "", "kernel arguments about the network of installed systems, such as ip=dhcp6", text(&s.live.ipOptions)},
		{"http-proxy", "HTTP_PROXY", "", "proxy of live systems for http URLs", text(&s.live.proxyHTTP)},
		{"https-proxy", "HTTPS_PROXY", "", "proxy of live systems for https URLs", text(&s.live.proxyHTTPS)},
		{"no-proxy", "NO_PROXY", "", "names and networks that live systems reach without a proxy", text(&s.live.noProxy)},
		{"additional-ntp-servers", "ADDITIONAL_NTP_SERVERS", "", "comma-separated time servers of live systems", text(&s.live.ntp)},
	}
}

// liveImages are the settings of the live image where no image server of ours is.
func (s *settings) liveImages() []setting {
	return []setting{
		{"build-preprov-image", "IRONFLOW_BUILD_PREPROV_IMAGE", "false", "create a PreprovisioningImage for each host, whose live image another program makes", boolean(&s.hosts.buildImages)},
		{"deploy-iso-url", "DEPLOY_ISO_URL", "", "URL of the live ISO of all hosts whose BMC boots one", text(&s.hosts.iso)},
		{"deploy-kernel-url", "DEPLOY_KERNEL_URL", "", "kernel of the live image of all hosts whose BMC boots no ISO, together with deploy-ramdisk-url", text(&s.hosts.kernel)},
		{"deploy-ramdisk-url", "DEPLOY_RAMDISK_URL", "", "ramdisk of the live image of all hosts whose BMC boots no ISO, together with deploy-kernel-url", text(&s.hosts.ramdisk)},
		{"deploy-iso-by-arch", "DEPLOY_ISO_BY_ARCH", "", "comma-separated ARCHITECTURE:URL, used instead of deploy-iso-url for hosts of these architectures", text(&s.hosts.isoByArch)},
		{"deploy-kernel-by-arch", "DEPLOY_KERNEL_BY_ARCH", "", "comma-separated ARCHITECTURE:URL, used instead of deploy-kernel-url for hosts of these architectures", text(&s.hosts.kernelByArch)},
		{"deploy-ramdisk-by-arch", "DEPLOY_RAMDISK_BY_ARCH", "", "comma-separated ARCHITECTURE:URL, used instead of deploy-ramdisk-url for hosts of these architectures", text(&s.hosts.ramdiskByArch)},
	}
}

// addSettings gives the command a flag per row. The command refuses an environment
// that it cannot read.
func addSettings(cmd *cobra.Command, table []setting) {
	cmd.Flags().SortFlags = false // in the order of the documentation, where what belongs together is together
	bad := bind(cmd.Flags(), table)
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error { return bad.of(cmd.Flags()) }
}

// unreadable are the values of the environment that cannot be read, by their flags.
type unreadable map[string]error

// of is what is wrong with the environment, but for flags that were given.
func (u unreadable) of(flags *pflag.FlagSet) error {
	var problems []error
	for _, flag := range slices.Sorted(maps.Keys(u)) {
		if !flags.Changed(flag) {
			problems = append(problems, u[flag])
		}
	}
	return errors.Join(problems...)
}

// bind adds a flag per row, with the environment's value as the default.
func bind(flags *pflag.FlagSet, table []setting) unreadable {
	bad := unreadable{}
	for _, row := range table {
		row.usage += fmt.Sprintf(" ($%s)", row.env)
		row.bind(flags, row)
		v, ok := os.LookupEnv(row.env)
		f := flags.Lookup(row.flag)
		if !ok || v == "" && f.Value.Type() != "string" {
			continue
		}
		if f.Value.Type() == "duration" && isNumber(v) {
			v += "s" // plain numbers are seconds elsewhere
		}
		if err := f.Value.Set(v); err != nil {
			bad[row.flag] = fmt.Errorf("$%s is %q, which is no %s: set it to a value such as %s, or give --%s", row.env, v, kinds[f.Value.Type()], f.DefValue, row.flag)
			continue
		}
		if _, hidden := f.Annotations[secretFlag]; !hidden {
			f.DefValue = f.Value.String()
		}
	}
	return bad
}

// kinds are the words for the types of flags.
var kinds = map[string]string{"bool": "truth value", "int": "number", "duration": "duration"}

func isNumber(v string) bool {
	_, err := strconv.ParseUint(v, 10, 32)
	return err == nil
}

// secretFlag marks flags whose values the help does not show.
const secretFlag = "ironflow-secret"

// complete fills in what follows from other settings, and refuses what cannot work.
func (s *settings) complete() error {
	if err := errors.Join(s.completeIronic(), s.completeHosts(), s.bmcs.checkEvents(true), s.work.check()); err != nil {
		return err
	}
	if s.ipa.ironicURL == "" {
		s.ipa.ironicURL = s.ironic.endpoint
	}
	if s.ipa.caFile == "" {
		s.ipa.caFile = s.ironic.caFile
	}
	return s.completeImages()
}

// completeAddresses refuses addresses that cannot work.
func (s *settings) completeAddresses() error {
	for _, u := range []struct{ flag, value string }{
		{"ironic-endpoint", s.ironic.endpoint}, {"hub-publish-url", s.hubURL}, {"images-publish-url", s.imagesURL},
	} {
		if u.value == "" {
			continue
		}
		if parsed, err := url.Parse(u.value); err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" {
			return fmt.Errorf("--%s %q is not a URL such as https://host:port", u.flag, u.value)
		}
	}
	if err := s.checkPublished(); err != nil {
		return err
	}
	if s.database != "" {
		if err := store.CheckPostgresURL(s.database); err != nil {
			return fmt.Errorf("--database: %w", err)
		}
	}
	if err := s.files.check(); err != nil {
		return err
	}
	if s.hubAuth != "token" && s.hubAuth != "none" {
		return fmt.Errorf("--hub-auth %q is neither token nor none", s.hubAuth)
	}
	return s.checks.apply(&service.Options{})
}

// completeIronic checks what every command needs.
func (s *settings) completeIronic() error {
	if s.ironic.endpoint == "" && s.ironic.endpoints == "" {
		return fmt.Errorf("no Ironic: set --ironic-endpoint or IRONIC_ENDPOINT to its URL, such as https://ironic.example:6385")
	}
	return nil
}

// completeControllers refuses what cannot work without an image server.
func (s *settings) completeControllers() error {
	return errors.Join(s.completeLiveImages(), s.completeHosts(), s.bmcs.checkEvents(false), s.completeIronic(), s.checkPublished())
}

func text(p *string) func(*pflag.FlagSet, setting) {
	return func(flags *pflag.FlagSet, s setting) { flags.StringVar(p, s.flag, s.value, s.usage) }
}

// secret is a text that the help does not show when the environment has it.
func secret(p *string) func(*pflag.FlagSet, setting) {
	return func(flags *pflag.FlagSet, s setting) {
		flags.StringVar(p, s.flag, "", s.usage)
		flags.Lookup(s.flag).Annotations = map[string][]string{secretFlag: nil}
	}
}

// boolean, number and duration have defaults of the table that can be read, which a test sees to.
func boolean(p *bool) func(*pflag.FlagSet, setting) {
	return func(flags *pflag.FlagSet, s setting) { flags.BoolVar(p, s.flag, s.value == "true", s.usage) }
}

func number(p *int) func(*pflag.FlagSet, setting) {
	return func(flags *pflag.FlagSet, s setting) {
		v, _ := strconv.Atoi(s.value)
		flags.IntVar(p, s.flag, v, s.usage)
	}
}

func duration(p *time.Duration) func(*pflag.FlagSet, setting) {
	return func(flags *pflag.FlagSet, s setting) {
		v, _ := time.ParseDuration(s.value)
		flags.DurationVar(p, s.flag, v, s.usage)
	}
}
