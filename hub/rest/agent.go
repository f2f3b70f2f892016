package rest

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

const (
	// maxAttempt bounds the header that tells attempts apart.
	maxAttempt = 128
	// maxAgentVersion bounds the reference of an agent's image in its header.
	maxAgentVersion = 512
)

func registerHost(r *request) (any, error) {
	env, err := r.infraEnv()
	if err != nil {
		return nil, err
	}
	if err := r.hub.Admit(r.hasWaited()); err != nil {
		return nil, err // before the body is read
	}
	var p wire.HostCreateParams
	if err := r.body(&p); err != nil {
		return nil, err
	}
	id, err := asID("host_id", p.HostID) // in the form by which the agent is found again
	if err != nil {
		return nil, err
	}
	key := store.HostKey{InfraEnvID: env, HostID: id}
	if err := r.spendOnRegistration(key); err != nil {
		return nil, err
	}
	if err := r.proves(key); err != nil {
		return nil, err
	}
	attempt := r.Header.Get(wire.HeaderAttempt)
	if len(attempt) > maxAttempt {
		return nil, bad("header %s is longer than %d characters", wire.HeaderAttempt, maxAttempt)
	}
	version := p.DiscoveryAgentVersion
	if version == "" {
		version = r.Header.Get(wire.HeaderAgentVersion)
	}
	answer, err := r.hub.RegisterHost(r.Context(), service.Registration{
		InfraEnvID: env, HostID: id, AgentVersion: version, Attempt: attempt, By: r.caller.agent, From: r.from(), WantsToken: r.wantsToken(),
	})
	if err != nil {
		return nil, err
	}
	return answer, r.giveToken(store.HostKey{InfraEnvID: env, HostID: answer.ID})
}

// hasWaited tells that the host says to have come at the moment that it was given.
func (r *request) hasWaited() bool { return r.Header.Get(wire.HeaderWaited) != "" }

func nextSteps(r *request) (any, error) {
	key, err := r.host()
	if err != nil {
		return nil, err
	}
	timestamp, err := r.number("timestamp")
	if err != nil {
		return nil, err
	}
	version := r.Header.Get(wire.HeaderAgentVersion)
	if len(version) > maxAgentVersion {
		return nil, bad("header %s is longer than %d characters", wire.HeaderAgentVersion, maxAgentVersion)
	}
	steps, err := r.hub.Instructions(r.Context(), key, service.Poll{Timestamp: timestamp, AgentVersion: version})
	if err != nil {
		return nil, err
	}
	pause, gap := r.hub.Pause(key, time.Duration(steps.NextInstructionSeconds)*time.Second)
	r.w.Header().Set(wire.HeaderPollGap, strconv.FormatInt(int64(gap/time.Second), 10))
	steps.NextInstructionSeconds = int64(pause / time.Second)
	return steps, nil
}

func stepReply(r *request) (any, error) {
	key, err := r.host()
	if err != nil {
		return nil, err
	}
	if err := r.spend(key); err != nil {
		return nil, err
	}
	if !r.hasWaited() && r.hub.BehindFor(r.Context(), key) {
		return nil, r.hub.Later() // before the body is read
	}
	var reply wire.StepReply
	if err := r.body(&reply); err != nil {
		return nil, err
	}
	if r.caller.scope() != "" {
		r.limits.budgets.charge(key, len(reply.Output)/budgetBytes)
	}
	return nil, r.hub.Reply(r.Context(), key, reply)
}

func hostProgress(r *request) (any, error) {
	key, err := r.host()
	if err != nil {
		return nil, err
	}
	if err := r.spend(key); err != nil {
		return nil, err
	}
	var p wire.HostProgress
	if err := r.body(&p); err != nil {
		return nil, err
	}
	return nil, r.hub.Progress(r.Context(), key, p)
}

func hostLogsProgress(r *request) (any, error) {
	key, err := r.host()
	if err != nil {
		return nil, err
	}
	if err := r.spend(key); err != nil {
		return nil, err
	}
	var p wire.LogsProgressParams
	if err := r.body(&p); err != nil {
		return nil, err
	}
	return nil, r.hub.LogsProgress(r.Context(), key, p.LogsState)
}

func clusterLogsProgress(r *request) (any, error) {
	id, err := r.reportingCluster()
	if err != nil {
		return nil, err
	}
	var p wire.LogsProgressParams
	if err := r.body(&p); err != nil {
		return nil, err
	}
	return nil, r.hub.ClusterLogsProgress(r.Context(), id, p.LogsState)
}

// uploadTime is how long an archive may take to arrive.
const uploadTime = 15 * time.Minute

// uploadLogs streams the archive into the file store; it is never in memory as a whole.
func uploadLogs(r *request) (any, error) {
	cluster, err := r.cluster()
	if err != nil {
		return nil, err
	}
	logsType := wire.LogsType(r.URL.Query().Get("logs_type"))
	key, err := logsOwner(r, logsType)
	if err != nil {
		return nil, err
	}
	end, err := r.beginUpload(cluster, key)
	if err != nil {
		return nil, err
	}
	defer end()
	// Without support for deadlines (in a test's recorder), the server's own one holds.
	if err := http.NewResponseController(r.w).SetReadDeadline(time.Now().Add(uploadTime)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return nil, err
	}
	r.Body = http.MaxBytesReader(r.w, r.Body, maxUpload)
	archive, err := upfile(r)
	if err != nil {
		return nil, err
	}
	if logsType == wire.LogsTypeHost {
		return nil, readError(r.hub.StoreHostLogs(r.Context(), cluster, key, archive))
	}
	return nil, readError(r.hub.StoreClusterLogs(r.Context(), cluster, archive))
}

// logsOwner reads whose logs they are.
func logsOwner(r *request, logsType wire.LogsType) (store.HostKey, error) {
	switch logsType {
	case wire.LogsTypeController:
		return store.HostKey{}, nil
	case wire.LogsTypeHost:
		if r.caller.clusterID != "" {
			return store.HostKey{}, bad("logs_type %s is for hosts: the program inside a cluster sends those of the controller", logsType)
		}
	default:
		return store.HostKey{}, bad("logs_type %q: want host or controller", clip(string(logsType)))
	}
	env, err := r.optionalID("infra_env_id")
	if err != nil {
		return store.HostKey{}, err
	}
	host, err := r.optionalID("host_id")
	switch {
	case err != nil:
		return store.HostKey{}, err
	case env == "" || host == "":
		return store.HostKey{}, bad("infra_env_id and host_id are required for logs of a host")
	case r.caller.infraEnvID != "" && r.caller.infraEnvID != env:
		return store.HostKey{}, notFound("there is no infra-env %s", env)
	}
	key := store.HostKey{InfraEnvID: env, HostID: host}
	return key, r.speaksFor(key)
}

// upfile finds the archive in the multipart body.
func upfile(r *request) (io.Reader, error) {
	parts, err := r.MultipartReader()
	if err != nil {
		return nil, bad("want a multipart body with the part upfile: %v", err)
	}
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return nil, bad("the body has no part upfile")
		}
		if err != nil {
			return nil, bodyError(err)
		}
		if part.FormName() == "upfile" {
			return part, nil
		}
	}
}

// readError blames an archive that breaks off or does not arrive on the client.
func readError(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, os.ErrDeadlineExceeded) {
		return bodyError(err)
	}
	return err
}

func hostIgnition(r *request) (any, error) {
	key, err := r.host()
	if err != nil {
		return nil, err
	}
	if err := r.changes("the Ignition of a host"); err != nil {
		return nil, err
	}
	f, err := r.hub.HostIgnition(r.Context(), key)
	return &file{name: f.Name, raw: f.Content}, err
}

func clusterFile(r *request) (any, error) {
	id, err := r.cluster()
	if err != nil {
		return nil, err
	}
	name := r.URL.Query().Get("file_name")
	if err := r.mayTake(id, name); err != nil {
		return nil, err
	}
	if name == "kubeconfig" || name == "kubeconfig-noingress" { // older clients ask here
		return r.credentialsFile(id, name)
	}
	f, err := r.hub.ClusterFile(r.Context(), id, name)
	return &file{name: f.Name, raw: f.Content}, err
}

func triggerEvent(r *request) (any, error) {
	var e wire.Event
	if err := r.body(&e); err != nil {
		return nil, err
	}
	if tellsOfSigning(e) && r.caller.user == anybody || r.caller.clusterID != "" {
		return nil, r.signing(e)
	}
	if err := r.tells(&e); err != nil {
		return nil, err
	}
	if err := r.spend(store.HostKey{InfraEnvID: r.caller.infraEnvID, HostID: cmp.Or(wire.Value(e.HostID), r.caller.one())}); err != nil {
		return nil, err
	}
	return nil, r.hub.AddEvent(r.Context(), e)
}

// tells keeps an agent to its own infra-env, its hosts and their clusters: what it says
// of others would stand on a timeline that is not its.
func (r *request) tells(e *wire.Event) error {
	env := r.caller.infraEnvID
	if env == "" {
		return nil
	}
	for _, id := range []*string{e.InfraEnvID, e.ClusterID, e.HostID} {
		if id != nil {
			*id = strings.ToLower(*id)
		}
	}
	if e.InfraEnvID != nil && *e.InfraEnvID != env {
		return notFound("there is no infra-env %s", clip(*e.InfraEnvID))
	}
	e.InfraEnvID = &env
	if e.ClusterID != nil {
		if err := r.reaches(*e.ClusterID); err != nil {
			return err
		}
	}
	if e.HostID == nil {
		return nil
	}
	key := store.HostKey{InfraEnvID: env, HostID: *e.HostID}
	if err := r.speaksFor(key); err != nil {
		return err
	}
	host, err := r.hub.Host(r.Context(), key)
	if err == nil && e.ClusterID == nil {
		e.ClusterID = host.ClusterID // who follows the cluster reads it, too
	}
	return err
}
