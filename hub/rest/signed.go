package rest

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ironflow/ironflow/hub/auth"
	"github.com/ironflow/ironflow/hub/envurl"
	"github.com/ironflow/ironflow/hub/protocol"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/wire"
)

// signedTime is how long a signed URL of a cluster's file is good.
const signedTime = 10 * time.Minute

// listEventsID is the operation that lists events.
const listEventsID = "v2ListEvents"

// signable are the operations that a URL opens which was signed for just this path
// and query: those that the protocol opens to signed URLs, and two whose addresses
// it hands out as such.
func signable(op protocol.Operation) bool {
	return op.Accepts(protocol.URLAuth) && !ofInfraEnv(op) || slices.Contains([]string{"V2DownloadClusterCredentials", "v2DownloadClusterManifest"}, op.ID)
}

// ofInfraEnv tells that the path names an infra-env: there, tokens of its images open.
func ofInfraEnv(op protocol.Operation) bool { return strings.Contains(op.Path, "{infra_env_id}") }

func (a Auth) isSigned(r *http.Request, op protocol.Operation) bool {
	return signable(op) && a.Key.CheckURL(r.URL.Path, r.URL.Query(), time.Now()) == nil
}

// byURL is the caller with a token in the URL that opens a cluster: its files, logs and events.
func (a Auth) byURL(r *http.Request, op protocol.Operation, tokens checker) (who caller, opens bool, err error) {
	if !op.Accepts(protocol.URLAuth) || ofInfraEnv(op) {
		return caller{}, false, nil
	}
	claims, err := a.Key.CheckClusterURL(r.URL.Query().Get(auth.URLKey))
	if err != nil {
		return caller{}, false, nil //nolint:nilerr // it is not such a token
	}
	opens, err = isCurrent(r.Context(), tokens, claims)
	return caller{clusterID: claims.ClusterID}, opens, err
}

// imageToken is the token of an infra-env's images that a request brings; empty for
// none, and for operations that such a token does not open. Beside those of the
// infra-env itself these are its events, which people read where they got the image.
func imageToken(r *http.Request, op protocol.Operation) string {
	if !ofInfraEnv(op) && op.ID != listEventsID {
		return ""
	}
	q := r.URL.Query()
	for _, place := range []struct {
		scheme protocol.Scheme
		token  string
	}{
		{protocol.URLAuth, q.Get(auth.URLKey)},
		{protocol.ImageAuth, r.Header.Get("Image-Token")},
		{protocol.ImageURLAuth, q.Get("image_token")},
	} {
		if op.Accepts(place.scheme) && place.token != "" {
			return place.token
		}
	}
	return ""
}

// base is how clients reach this hub.
func (r *request) base() string {
	if r.public != "" {
		return envurl.API(r.public)
	}
	scheme := "https://"
	if r.TLS == nil {
		scheme = "http://"
	}
	return envurl.API(scheme + r.Host)
}

// presign answers with a URL that opens just this path and query for a while.
func (r *request) presign(path string, query url.Values) (any, error) {
	until := time.Now().Add(signedTime)
	signed, err := r.key.SignURL(Base+"/v2"+path, query, until)
	if err != nil {
		return nil, err
	}
	return wire.PresignedURL{URL: r.base() + path + "?" + signed.Encode(), ExpiresAt: wire.At(until)}, nil
}

func presignCredentials(r *request) (any, error) {
	id, err := r.cluster()
	if err != nil {
		return nil, err
	}
	name := r.URL.Query().Get("file_name")
	if _, err := r.hub.CredentialsFile(r.Context(), id, name); err != nil {
		return nil, err
	}
	return r.presign("/clusters/"+id+"/downloads/credentials", url.Values{"file_name": {name}})
}

// withoutManifests is in the signed URL of all logs of a cluster where it was asked for by one
// who only reads: the manifests, which may have secrets, are left out.
const withoutManifests = "without_manifests"

// presignClusterFile answers with the URL of a file, the logs or a manifest, which
// has to be there.
func presignClusterFile(r *request) (any, error) {
	id, err := r.cluster()
	if err != nil {
		return nil, err
	}
	q := r.URL.Query()
	if err := r.mayTake(id, q.Get("file_name")); err != nil {
		return nil, err
	}
	switch name := q.Get("file_name"); name {
	case "logs":
		logs := url.Values{}
		for _, key := range []string{"logs_type", "host_id"} {
			if q.Has(key) {
				logs.Set(key, q.Get(key))
			}
		}
		if r.caller.readOnly {
			logs.Set(withoutManifests, "true")
		}
		answer, err := downloadLogs(r)
		if err != nil {
			return nil, err
		}
		if f, ok := answer.(*file); ok && f.archive != nil { // a bundle opens nothing before it is sent
			if err := f.archive.Close(); err != nil {
				return nil, err
			}
		}
		return r.presign("/clusters/"+id+"/logs", logs)
	case "manifests":
		folder, manifest, _ := strings.Cut(q.Get("additional_name"), "/")
		if _, err := r.hub.Manifest(r.Context(), id, folder, manifest); err != nil {
			return nil, err
		}
		return r.presign("/clusters/"+id+"/manifests/files", url.Values{"folder": {folder}, "file_name": {manifest}})
	default:
		_, err := r.hub.ClusterFile(r.Context(), id, name)
		switch {
		case err != nil && service.Code(err) == http.StatusBadRequest: // it is none of the files
			return nil, bad("%v, or logs, or manifests", err)
		case err != nil:
			return nil, err
		}
		return r.presign("/clusters/"+id+"/downloads/files", url.Values{"file_name": {name}})
	}
}
