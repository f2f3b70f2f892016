package releases

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ironflow/ironflow/hub/wire"
)

const (
	// askEvery is how often the update service is asked, and repeat how soon again after
	// it did not answer.
	askEvery, repeat = 3 * time.Hour, time.Minute
	// askTime bounds one question.
	askTime = 30 * time.Second
	// maxGraph bounds an answer, in bytes.
	maxGraph = 32 << 20
)

// Service is a server of the update protocol of OpenShift: it knows the releases of a
// channel. The zero value asks nobody.
type Service struct {
	// URL is that of its graphs, such as https://api.openshift.com/api/upgrades_info/v1/graph.
	URL string
	// Client may be nil.
	Client *http.Client
}

// graph is the part of an answer that is read.
type graph struct {
	Nodes []struct {
		Version string `json:"version"`
		Payload string `json:"payload"`
	} `json:"nodes"`
}

// goArchitectures are the protocol's names of architectures.
var goArchitectures = map[string]string{
	wire.ReleaseImageCPUArchitectureX8664: "amd64", wire.ReleaseImageCPUArchitectureAarch64: "arm64",
}

// Images asks for the releases of all sources. What could be had is returned also with an error.
func (s Service) Images(ctx context.Context, sources wire.ReleaseSources) (wire.ReleaseImages, error) {
	found := map[string]wire.ReleaseImage{}
	var problems []error
	for _, source := range sources {
		for _, c := range source.UpgradeChannels {
			for _, channel := range c.Channels {
				nodes, err := s.ask(ctx, string(channel)+"-"+source.OpenshiftVersion, c.CPUArchitecture)
				if err != nil {
					problems = append(problems, err)
					continue
				}
				for _, n := range nodes.Nodes {
					if stream(n.Version) != source.OpenshiftVersion || n.Payload == "" {
						continue // a channel has what can be updated to it as well
					}
					add(found, image(source, c.CPUArchitecture, channel, n.Version, n.Payload))
				}
			}
		}
	}
	all := wire.ReleaseImages{}
	for _, image := range found {
		all = append(all, image)
	}
	slices.SortFunc(all, func(a, b wire.ReleaseImage) int {
		switch {
		case before(a.Version, b.Version):
			return -1
		case before(b.Version, a.Version):
			return 1
		}
		return strings.Compare(a.CPUArchitecture, b.CPUArchitecture)
	})
	return all, errors.Join(problems...)
}

// add keeps the better level of a release that is in several channels.
func add(found map[string]wire.ReleaseImage, image wire.ReleaseImage) {
	key := image.Version + " " + image.CPUArchitecture
	if have, ok := found[key]; ok && have.SupportLevel != wire.OpenshiftVersionSupportLevelBeta {
		return
	}
	found[key] = image
}

func image(source wire.ReleaseSource, architecture string, channel wire.ReleaseChannel, version, payload string) wire.ReleaseImage {
	out := wire.ReleaseImage{
		OpenshiftVersion: source.OpenshiftVersion, Version: version, URL: payload, CPUArchitecture: architecture,
		CPUArchitectures: []string{architecture}, SupportLevel: levelOf(version),
	}
	if channel == wire.ReleaseChannelCandidate {
		out.SupportLevel = wire.OpenshiftVersionSupportLevelBeta
	}
	if architecture == wire.ClusterCPUArchitectureMulti {
		out.CPUArchitectures = source.MultiCPUArchitectures
	}
	return out
}

// ask gets the graph of a channel.
func (s Service) ask(ctx context.Context, channel, architecture string) (g graph, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	if name, ok := goArchitectures[architecture]; ok {
		architecture = name
	}
	fail := func(err error) (graph, error) {
		return graph{}, fmt.Errorf("releases of channel %s for %s: %w", channel, architecture, err)
	}
	address, err := url.Parse(s.URL)
	if err != nil {
		return fail(err)
	}
	query := address.Query()
	query.Set("channel", channel)
	query.Set("arch", architecture)
	address.RawQuery = query.Encode()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), http.NoBody)
	if err != nil {
		return fail(err)
	}
	r.Header.Set("Accept", "application/json")
	client := s.Client
	if client == nil {
		client = http.DefaultClient
	}
	answer, err := client.Do(r)
	if err != nil {
		return fail(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fail(fmt.Errorf("the update service answered %s", answer.Status))
	}
	raw, err := io.ReadAll(io.LimitReader(answer.Body, maxGraph+1))
	switch {
	case err != nil:
		return fail(err)
	case len(raw) > maxGraph:
		return fail(fmt.Errorf("the answer is larger than %d MiB", maxGraph>>20))
	}
	if err := json.Unmarshal(raw, &g); err != nil {
		return fail(err)
	}
	return g, nil
}

// Run asks the update service for the releases of the file's sources, again and again
// until the context ends. What it said last stays while it does not answer.
func (f *File) Run(ctx context.Context, log func(error)) {
	if f == nil || f.Service.URL == "" {
		return
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		next := askEvery
		if err := f.Refresh(ctx); err != nil && ctx.Err() == nil {
			log(err)
			next = repeat
		}
		timer.Reset(next)
	}
}

// Refresh asks once. Where some of the answers are missing, what was known of all
// stays, and what is new is added.
func (f *File) Refresh(ctx context.Context) error {
	own, err := f.own()
	if err != nil || len(own.Sources) == 0 {
		return err
	}
	images, err := f.Service.Images(ctx, own.Sources)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		images = joined(images, f.asked)
	}
	f.asked = images
	return err
}

// joined has the images of both lists; the first one wins.
func joined(first, second wire.ReleaseImages) wire.ReleaseImages {
	out := slices.Clone(first)
	for _, image := range second {
		if !slices.ContainsFunc(first, func(have wire.ReleaseImage) bool {
			return have.Version == image.Version && have.CPUArchitecture == image.CPUArchitecture
		}) {
			out = append(out, image)
		}
	}
	return out
}
