package simulator

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

func validateNode(s *Server, r *http.Request) (int, any, error) {
	n, err := s.nodeOf(r)
	if err != nil {
		return 0, nil, err
	}
	ok := map[string]any{"result": true}
	all := map[string]any{
		"bios": ok, "boot": ok, "deploy": ok, "firmware": ok, "inspect": ok, "management": ok, "network": ok, "power": ok,
		"raid": ok, "console": map[string]any{"result": nil, "reason": "not supported"}, "rescue": map[string]any{"result": nil, "reason": "not supported"},
	}
	if n.driver == "redfish" && n.driverInfo["redfish_address"] == nil {
		reason := "Missing required properties: redfish_address"
		for _, name := range []string{"power", "management", "boot"} {
			all[name] = map[string]any{"result": false, "reason": reason}
		}
	}
	if n.interfaces["deploy_interface"] == "direct" && n.instanceInfo["image_source"] == nil {
		all["deploy"] = map[string]any{"result": false, "reason": "Cannot validate image information for node " + n.uuid +
			" because one or more parameters are missing from its instance_info. Missing are: ['image_source']"}
	}
	if outcome := s.behave(n, "validate", ""); outcome.Error != "" {
		all["deploy"] = map[string]any{"result": false, "reason": outcome.Error}
	}
	return http.StatusOK, all, nil
}

func getInventory(s *Server, r *http.Request) (int, any, error) {
	n, err := s.nodeOf(r)
	if err != nil {
		return 0, nil, err
	}
	if n.inventory == nil {
		return 0, nil, fault(http.StatusNotFound, "Node inventory for node %s could not be found.", n.uuid)
	}
	return http.StatusOK, clone(n.inventory), nil
}

func getHistory(s *Server, r *http.Request) (int, any, error) {
	n, err := s.nodeOf(r)
	if err != nil {
		return 0, nil, err
	}
	q := r.URL.Query()
	entries := slices.Clone(n.history)
	if q.Get("sort_dir") == "desc" {
		slices.Reverse(entries)
	}
	if limit, err := strconv.Atoi(q.Get("limit")); err == nil && limit < len(entries) {
		entries = entries[:limit]
	}
	detail := q.Get("detail") == "true" || q.Get("detail") == "True"
	list := make([]any, 0, len(entries))
	for _, e := range entries {
		list = append(list, e.object(detail))
	}
	return http.StatusOK, map[string]any{"history": list}, nil
}

// shortEvent is where lists without detail cut the text.
const shortEvent = 251

func (e event) object(detail bool) map[string]any {
	m := map[string]any{"uuid": e.uuid, "created_at": timeText(e.created), "severity": e.severity, "event": e.text}
	if detail {
		m["event_type"], m["conductor"], m["user"] = e.kind, conductor, nil
	} else if len(e.text) > shortEvent {
		m["event"] = e.text[:shortEvent] + "..."
	}
	return m
}

func getBIOS(s *Server, r *http.Request) (int, any, error) {
	n, err := s.nodeOf(r)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, map[string]any{"bios": listOf(n.bios)}, nil
}

func getFirmware(s *Server, r *http.Request) (int, any, error) {
	n, err := s.nodeOf(r)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, map[string]any{"firmware": listOf(n.firmware)}, nil
}

func listOf(items []map[string]any) []any {
	list := make([]any, 0, len(items))
	for _, item := range items {
		list = append(list, clone(item))
	}
	return list
}

// mediaStatusMinor is the API version that reads virtual media.
const mediaStatusMinor = 93

func getMedia(s *Server, r *http.Request) (int, any, error) {
	n, err := s.nodeOf(r)
	switch {
	case err != nil:
		return 0, nil, err
	case minorOf(r) < mediaStatusMinor:
		return 0, nil, fault(http.StatusNotFound, "The resource could not be found.")
	}
	// A shared lock is enough: also while another request works on the node.
	device := map[string]any{"image": n.media.image, "inserted": n.media.image != "", "media_types": []string{"CD", "DVD"}}
	return http.StatusOK, []any{device}, nil
}

// mediaSchemes are the schemes of images that a BMC can fetch.
var mediaSchemes = []string{"http", "https", "nfs", "cifs"}

func attachMedia(s *Server, r *http.Request) (int, any, error) {
	n, err := s.nodeOf(r)
	if err != nil {
		return 0, nil, err
	}
	var body struct {
		Device string `json:"device_type"`
		Image  string `json:"image_url"`
	}
	if err := decode(r, &body); err != nil {
		return 0, nil, err
	}
	u, err := url.Parse(body.Image)
	if err != nil || !slices.Contains(mediaSchemes, u.Scheme) {
		return 0, nil, fault(http.StatusBadRequest, "Unsupported or missing URL scheme: %s", body.Image)
	}
	if n.reservation != "" {
		return 0, nil, locked(n)
	}
	s.moveMedia(n, "attach", media{image: "http://ironic.test/redfish/cdrom-" + n.uuid + ".iso", source: body.Image})
	return http.StatusNoContent, nil, nil
}

// moveMedia changes the virtual media in the background, with the node's lock. An
// image is handed to the BMC under a name of Ironic's own.
func (s *Server) moveMedia(n *node, verb string, m media) {
	n.reservation, n.lastError = conductor, ""
	s.changed(n)
	outcome := s.behave(n, "media", strings.TrimSpace(verb+" "+m.source))
	delay := s.opts.Delays.Work
	if outcome.Delay != 0 {
		delay = outcome.Delay
	}
	s.after(n, delay, func() {
		n.reservation = ""
		if outcome.Error != "" {
			n.lastError = "Could not " + verb + " device cdrom to node " + n.uuid + ": " + outcome.Error
			s.record(n, "ERROR", "media", n.lastError)
		} else {
			n.media = m
		}
		s.changed(n)
	})
}

func detachMedia(s *Server, r *http.Request) (int, any, error) {
	n, err := s.nodeOf(r)
	switch {
	case err != nil:
		return 0, nil, err
	case n.reservation != "":
		return 0, nil, locked(n)
	}
	s.moveMedia(n, "detach", media{})
	return http.StatusNoContent, nil, nil
}

// subscriptionBase is the resource below which subscriptions are listed.
const subscriptionBase = "/redfish/v1/EventService/Subscriptions/"

func passthru(s *Server, r *http.Request) (int, any, error) {
	n, err := s.nodeOf(r)
	if err != nil {
		return 0, nil, err
	}
	var body map[string]any
	if r.ContentLength > 0 {
		if err := decode(r, &body); err != nil {
			return 0, nil, err
		}
	}
	id, _ := body["id"].(string)
	switch method := r.Method + " " + r.URL.Query().Get("method"); method {
	case "GET get_all_subscriptions":
		members := []any{}
		for _, key := range slices.Sorted(mapKeys(n.subs)) {
			members = append(members, map[string]any{"@odata.id": subscriptionBase + key})
		}
		return http.StatusOK, map[string]any{"Members": members, "Members@odata.count": len(members)}, nil
	case "GET get_subscription":
		if n.subs[id] == nil {
			return 0, nil, fault(http.StatusInternalServerError, "Redfish exception occurred. Error: the subscription %s was not found", id)
		}
		return http.StatusOK, clone(n.subs[id]), nil
	case "POST create_subscription":
		if n.subs == nil {
			n.subs = map[string]map[string]any{}
		}
		body["Id"] = newUUID()
		delete(body, "HttpHeaders")
		n.subs[body["Id"].(string)] = body
		return http.StatusOK, clone(body), nil
	case "DELETE delete_subscription":
		if n.subs[id] == nil {
			return 0, nil, fault(http.StatusNotFound, "Redfish exception occurred. Error: Redfish delete_subscription failed for subscription %s on node %s."+
				" Error: Resource %s not found", id, n.uuid, subscriptionBase+id)
		}
		delete(n.subs, id)
		return http.StatusNoContent, nil, nil
	}
	return 0, nil, fault(http.StatusBadRequest, "The method %s is not supported", r.URL.Query().Get("method"))
}

func mapKeys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}
