package service

import (
	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/clusters"
	"github.com/ironflow/ironflow/hub/evaluate"
	"github.com/ironflow/ironflow/hub/files"
	"github.com/ironflow/ironflow/hub/fleet"
	"github.com/ironflow/ironflow/hub/infraenvs"
	"github.com/ironflow/ironflow/hub/polls"
	"github.com/ironflow/ironflow/hub/store"
)

// What the methods of [Hub] take and return.
type (
	// Checks change the validations of hosts and clusters.
	Checks = evaluate.Checks
	// NodeZero is where a hub runs that is one of the hosts it installs.
	NodeZero = evaluate.NodeZero
	// Timers are the hub's patience. The zero value of each means the protocol's.
	Timers = evaluate.Timers
	// InfraEnvSpec is what a controller wants of an infra-env.
	InfraEnvSpec = infraenvs.Spec
	// ImageURLs are where the live image of an infra-env is served.
	ImageURLs = infraenvs.ImageURLs
	// ClusterSpec is what a controller wants of a cluster.
	ClusterSpec = clusters.Spec
	// TooLate is the error of a spec of which something cannot change any more.
	TooLate = clusters.TooLate //nolint:errname // what it says, as in refusal
	// Registration is an agent's announcement of its host.
	Registration = fleet.Registration
	// Record names a record of the hub.
	Record = fleet.Record
	// LostHost is what a controller still knows of a host without a record.
	LostHost = fleet.LostHost
	// ImageParts are what a live image has beside what the API shows of its infra-env.
	ImageParts = infraenvs.ImageParts
	// HostSettings are what an object in Kubernetes asks of a host.
	HostSettings = store.HostSettings
	// HostView is what a controller shows of a host.
	HostView = fleet.HostView
	// Poll is what an agent says when it asks for instructions.
	Poll = polls.Poll
	// File is a file that a client downloads.
	File = files.File
	// Error is a refusal with the status code of the protocol.
	Error = apierror.Error
	// BusyError refuses what the hub would not get through in time.
	BusyError = apierror.BusyError
	// Event announces a stored change, of this program or of another one over the
	// same store. It says where to look, not what to find.
	Event = store.Change
)

// Changes that are announced; [store.What] has all.
const (
	ChangedDeleted = store.ChangedDeleted
	// ChangedAll says that events may be missing: look everywhere.
	ChangedAll = store.ChangedAll
)

// ErrUnavailable means that the same call may work in a moment.
var ErrUnavailable = apierror.ErrUnavailable

// Code is the HTTP status that an error of the hub means; see [apierror.Code].
func Code(err error) int { return apierror.Code(err) }

// IsNotFound reports whether the error means that there is no such record.
func IsNotFound(err error) bool { return apierror.IsNotFound(err) }
