package images

import (
	"context"
	"errors"
	"time"

	"github.com/ironflow/ironflow/imagecustomization/cpio"
	"github.com/ironflow/ironflow/imagecustomization/media"
	"github.com/ironflow/ironflow/imagecustomization/overlay"
)

// Formats of a live image, as in a PreprovisioningImage.
const (
	FormatISO    = "iso"
	FormatInitrd = "initrd"
	// FormatMinimalISO is ours: an ISO that fetches its root file system.
	FormatMinimalISO = "minimal-iso"
)

// Errors that callers decide on.
var (
	// ErrBadSpec means that the image cannot be built from this spec; another
	// attempt gives the same answer.
	ErrBadSpec = errors.New("the live image cannot be built")
	// ErrUnsupported means that the format or architecture is not available here.
	ErrUnsupported = errors.New("not supported")
)

// Media is where media come from; *media.Registry implements it.
type Media interface {
	// Select returns the medium for an architecture and version; see media.Registry.
	Select(ctx context.Context, arch, version string) (*media.Medium, error)
	// List returns all media.
	List() []*media.Medium
}

// Options configure a [Store].
type Options struct {
	// Media are what images are composed over.
	Media Media
	// BaseURL is the server's address as BMCs see it, e.g. "http://192.0.2.1:8080".
	BaseURL string
	// SigningKey signs addresses, at least 32 bytes. The same key gives the same
	// addresses after a restart and in every replica.
	SigningKey []byte
	// StateDir keeps the specs over a restart; empty keeps nothing. The files are
	// private, as configs hold secrets.
	StateDir string
	// Programs returns the archives with the host programs of an architecture, which
	// every image has behind its own; nil for none.
	Programs func(arch string) []overlay.Source
	// SyncTimeout is how long after the start an unknown address may still become
	// known, unless MarkSynced says otherwise; default 2 minutes.
	SyncTimeout time.Duration
	// BootsDisk tells that the host should start its disk instead of what it is
	// offered over the network by [Store.RedirectURL]; nil for never.
	BootsDisk func(key string) bool
	// Grace is how long an old revision stays after it was last read or replaced;
	// default 30 minutes.
	Grace time.Duration
	// Longest is how long an old revision stays after it was replaced, however often
	// it is read: secrets that were replaced must end; default 4 hours.
	Longest time.Duration
}

// Spec describes a live image.
type Spec struct {
	// Key is the host's key, "namespace/name".
	Key string
	// UID is the resource's UID: a host that is made anew gets a new address.
	UID string
	// Arch is the architecture in any spelling; Version picks a medium, empty the newest.
	Arch, Version string
	// Format is one of the formats above; default "iso".
	Format string
	// Ignition is the rendered config. Without one there must be keyfiles.
	Ignition []byte
	// Kind is HostImage or InfraEnvImage.
	Kind Kind `json:"-"`
	// NetworkKeyfiles are NetworkManager keyfiles for the initrd, by file name.
	NetworkKeyfiles map[string][]byte
	// InitrdFiles are further files of the initrd that have to do with its network.
	InitrdFiles []cpio.Entry
	// MACs are the addresses of the cards that the host may boot from over the
	// network; see [Store.RedirectURL].
	MACs []string
	// NotAfter is when the addresses end, whoever knows them; zero for as long as the
	// image is there. Another time gives other addresses.
	NotAfter time.Time `json:",omitzero"`
	// Kargs edits the kernel arguments of an ISO. For an initrd the additions
	// become extra kernel parameters.
	Kargs overlay.KargsEdit
	// Lacks says what the image is made without although it was asked for, nil for
	// nothing. It is no part of the image: whoever made the spec wants it told.
	Lacks error `json:"-"`
}

// Built says where an image is.
type Built struct {
	// URL is the image's address: the ISO, or the initrd.
	URL string
	// KernelURL is set for an initrd, RootfsURL also for a minimal ISO.
	KernelURL, RootfsURL string
	// ScriptURL is the iPXE script that boots an initrd.
	ScriptURL string
	// AddrSizeURL and InsURL are what an s390x machine needs beside kernel and
	// initrd: 16 bytes with the initrd's place, and the list of what goes where.
	AddrSizeURL, InsURL string
	// ExtraKernelParams are what an initrd's kernel needs.
	ExtraKernelParams string
	// Hash is the image's identity: equal hashes mean equal bytes.
	Hash string
	// SizeBytes is the image's length; MemoryBytes what it costs in memory.
	SizeBytes, MemoryBytes int64
	// Arch and MediumVersion name the medium that was taken.
	Arch, MediumVersion string
	// Changed tells that the content differs from what the key had before.
	Changed bool
}

// ReadProgress says how far an image was read.
type ReadProgress struct {
	// Percent is the share of the image that was read at least once, 0 to 100.
	Percent float64
	// Bytes were read at least once, out of Size.
	Bytes, Size int64
	// LastRead is the time of the last read, zero before the first.
	LastRead time.Time
	// Readers is how many connections read it now.
	Readers int
}
