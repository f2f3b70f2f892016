package kubeapi

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ServeHTTP makes the server one for programs that take a kubeconfig: it also says
// which kinds there are, which clients that have no mapper ask for.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if told := s.discovery(strings.Trim(r.URL.Path, "/")); told != nil {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.Copy(w, bytes.NewReader(encode(told))) // who hangs up needs no answer
		return
	}
	answer, err := s.RoundTrip(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer answer.Body.Close()
	maps.Copy(w.Header(), answer.Header)
	w.WriteHeader(answer.StatusCode)
	_ = http.NewResponseController(w).Flush()                              // whoever watches hears that it has begun, before anything happens
	_, _ = io.Copy(flushed{w, http.NewResponseController(w)}, answer.Body) // as above
}

// flushed shows each line of a watch when it is written.
type flushed struct {
	io.Writer

	control *http.ResponseController
}

// Write implements io.Writer.
func (f flushed) Write(p []byte) (int, error) {
	n, err := f.Writer.Write(p)
	if err == nil {
		err = f.control.Flush()
	}
	return n, err
}

// discovery answers the questions for groups and kinds; nil for another path.
func (s *Server) discovery(path string) any {
	var group, version string
	switch parts := strings.Split(path, "/"); {
	case path == "api":
		return metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}}
	case path == "apis":
		return s.groups()
	case len(parts) == 2 && parts[0] == "apis":
		list := s.groups().Groups
		if i := slices.IndexFunc(list, func(g metav1.APIGroup) bool { return g.Name == parts[1] }); i >= 0 {
			list[i].TypeMeta = metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}
			return list[i]
		}
		return nil
	case len(parts) == 2 && parts[0] == "api":
		version = parts[1]
	case len(parts) == 3 && parts[0] == "apis":
		group, version = parts[1], parts[2]
	default:
		return nil
	}
	gv := schema.GroupVersion{Group: group, Version: version}
	list := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: gv.String()}
	for resource, k := range s.kinds {
		if resource.GroupVersion() == gv {
			list.APIResources = append(list.APIResources, metav1.APIResource{
				Name: resource.Resource, Kind: k.gvk.Kind, Namespaced: !rooted[k.gvk.Kind], Verbs: []string{"get", "list", "watch", "create", "update", "patch", "delete"},
			})
		}
	}
	return list
}

// groups are the groups of all kinds but the core ones.
func (s *Server) groups() metav1.APIGroupList {
	list := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
	for resource := range s.kinds {
		if resource.Group == "" || slices.ContainsFunc(list.Groups, func(g metav1.APIGroup) bool { return g.Name == resource.Group }) {
			continue
		}
		version := metav1.GroupVersionForDiscovery{GroupVersion: resource.GroupVersion().String(), Version: resource.Version}
		list.Groups = append(list.Groups, metav1.APIGroup{Name: resource.Group, Versions: []metav1.GroupVersionForDiscovery{version}, PreferredVersion: version})
	}
	return list
}
