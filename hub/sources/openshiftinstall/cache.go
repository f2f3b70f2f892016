package openshiftinstall

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ironflow/ironflow/hub/sources"
)

// Members of [sources.Made.Secrets].
const (
	inputsMark  = "openshift-install-inputs"
	madeMark    = "openshift-install-made"
	inPlaceMark = "openshift-install-in-place"
)

// maxKept is how many clusters' results are kept in memory, for preparations that are
// repeated before the first one's was stored.
const maxKept = 16

// kept are results by the hash of their inputs, oldest first.
type kept struct {
	mu  sync.Mutex
	all []keptOne
}

type keptOne struct {
	inputs string
	made   *sources.Made
}

func (k *kept) get(inputs string) *sources.Made {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, one := range k.all {
		if one.inputs == inputs {
			return one.made
		}
	}
	return nil
}

func (k *kept) put(inputs string, made *sources.Made) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all = slices.DeleteFunc(k.all, func(one keptOne) bool { return one.inputs == inputs })
	k.all = append(k.all, keptOne{inputs, made})
	if extra := len(k.all) - maxKept; extra > 0 {
		k.all = slices.Delete(k.all, 0, extra)
	}
}

// earlier is what was made from the same inputs and still counts; nil for nothing.
func (s *Source) earlier(j *job, o *sources.Order) *sources.Made {
	inputs := j.inputs()
	for _, made := range []*sources.Made{o.Earlier, s.kept.get(inputs)} {
		if made == nil || string(made.Secrets[inputsMark]) != inputs {
			continue
		}
		at, err := time.Parse(time.RFC3339, string(made.Secrets[madeMark]))
		if age := o.Now.Sub(at); err == nil && age >= 0 && age < s.Fresh {
			return made
		}
	}
	return nil
}

// stamp marks what was made and keeps it.
func (s *Source) stamp(j *job, o *sources.Order, made *sources.Made) {
	made.Secrets = map[string][]byte{inputsMark: []byte(j.inputs()), madeMark: []byte(o.Now.UTC().Format(time.RFC3339))}
	if j.inPlace {
		made.Secrets[inPlaceMark] = []byte("true")
	}
	s.kept.put(j.inputs(), made)
}

// inputs is a hash of all that the results depend on. The cluster's ID is part of it:
// two clusters never share keys, however equal they are.
func (j *job) inputs() string {
	sum := sha256.New()
	part := func(name string, content []byte) {
		fmt.Fprintf(sum, "%d:%s=%d:%s;", len(name), name, len(content), content)
	}
	part("cluster", []byte(j.cluster))
	part("program", []byte(j.program))
	part("release", []byte(j.release))
	part("install-config", j.config)
	part("shape", fmt.Appendf(nil, "in place %t, arbiters %t", j.inPlace, j.arbiters))
	if j.resets > 0 {
		part("resets", fmt.Append(nil, j.resets))
	}
	for _, name := range slices.Sorted(maps.Keys(j.certificates)) {
		part("certificate "+name, j.certificates[name])
	}
	for _, m := range slices.SortedFunc(slices.Values(j.manifests), func(a, b sources.Manifest) int {
		return strings.Compare(a.Folder+"/"+a.Name, b.Folder+"/"+b.Name)
	}) {
		part(m.Folder+"/"+m.Name, m.Content)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// identity hashes a program once for each state of its file: it is hundreds of MiB.
type identity struct {
	mu    sync.Mutex
	state fileState
	hash  string
}

type fileState struct {
	path         string
	inode        uint64
	size         int64
	changed, mod syscall.Timespec
}

func (i *identity) of(path string) (string, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	hash, err := i.hashed(path)
	if err != nil {
		return "", fmt.Errorf("read the program openshift-install: %w", err)
	}
	return hash, nil
}

func (i *identity) hashed(path string) (_ string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	state := fileState{path: path, size: info.Size()}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		state.inode, state.changed, state.mod = sys.Ino, sys.Ctim, sys.Mtim
	}
	if i.hash != "" && state == i.state {
		return i.hash, nil
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	i.state, i.hash = state, hex.EncodeToString(sum.Sum(nil))
	return i.hash, nil
}
