package simulator

import (
	"crypto/rand"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// drivers are the hardware types offered.
var drivers = []string{"redfish", "idrac", "ipmi", "fake-hardware"}

func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// versionObject is what the two roots say of the one version.
func (s *Server) versionObject() map[string]any {
	return map[string]any{"id": "v1", "min_version": "1.1", "version": fmt.Sprintf("1.%d", s.opts.MaxMinor), "status": "CURRENT", "links": []any{}}
}

func getVersions(s *Server, _ *http.Request) (int, any, error) {
	v := s.versionObject()
	return http.StatusOK, map[string]any{"name": "OpenStack Ironic API", "default_version": v, "versions": []any{v}}, nil
}

func getRoot(s *Server, _ *http.Request) (int, any, error) {
	return http.StatusOK, map[string]any{"id": "v1", "version": s.versionObject()}, nil
}

func listDrivers(s *Server, r *http.Request) (int, any, error) {
	list := make([]any, 0, len(drivers))
	for _, name := range drivers {
		driver := map[string]any{"name": name, "hosts": []string{conductor}, "type": "dynamic"}
		if r.URL.Query().Get("detail") == "true" {
			driver["enabled_deploy_interfaces"] = s.opts.DeployInterfaces
		}
		list = append(list, driver)
	}
	return http.StatusOK, map[string]any{"drivers": list}, nil
}

// settable are the fields that a client may write, and their setters.
var settable = map[string]func(*node, any) bool{
	"name":              text(func(n *node) *string { return &n.name }),
	"driver":            text(func(n *node) *string { return &n.driver }),
	"instance_uuid":     text(func(n *node) *string { return &n.instanceUUID }),
	"owner":             text(func(n *node) *string { return &n.owner }),
	"conductor_group":   text(func(n *node) *string { return &n.conductorGroup }),
	"description":       text(func(n *node) *string { return &n.description }),
	"resource_class":    text(func(n *node) *string { return &n.resourceClass }),
	"driver_info":       objectField(func(n *node) *map[string]any { return &n.driverInfo }),
	"instance_info":     objectField(func(n *node) *map[string]any { return &n.instanceInfo }),
	"properties":        objectField(func(n *node) *map[string]any { return &n.properties }),
	"extra":             objectField(func(n *node) *map[string]any { return &n.extra }),
	"network_data":      objectField(func(n *node) *map[string]any { return &n.networkData }),
	"disable_power_off": flag(func(n *node) *bool { return &n.disablePowerOff }),
	"automated_clean":   setAutomatedClean,
}

// internalFields can be written by tests only.
var internalFields = map[string]func(*node, any) bool{
	"provision_state":        text(func(n *node) *string { return &n.provision }),
	"target_provision_state": text(func(n *node) *string { return &n.targetProv }),
	"power_state":            text(func(n *node) *string { return &n.power }),
	"target_power_state":     text(func(n *node) *string { return &n.targetPower }),
	"reservation":            text(func(n *node) *string { return &n.reservation }),
	"last_error":             text(func(n *node) *string { return &n.lastError }),
	"fault":                  text(func(n *node) *string { return &n.fault }),
	"health":                 text(func(n *node) *string { return &n.health }),
	"maintenance_reason":     text(func(n *node) *string { return &n.maintenanceReason }),
	"maintenance":            flag(func(n *node) *bool { return &n.maintenance }),
	"driver_internal_info":   objectField(func(n *node) *map[string]any { return &n.internal }),
	"deploy_step":            objectField(func(n *node) *map[string]any { return &n.deployStep }),
	"clean_step":             objectField(func(n *node) *map[string]any { return &n.cleanStep }),
	"service_step":           objectField(func(n *node) *map[string]any { return &n.serviceStep }),
	"raid_config":            objectField(func(n *node) *map[string]any { return &n.raidConfig }),
	"target_raid_config":     objectField(func(n *node) *map[string]any { return &n.targetRAID }),
	"created_at":             moment(func(n *node) *time.Time { return &n.created }),
	"provision_updated_at":   moment(func(n *node) *time.Time { return &n.provUpdated }),
	"inspection_finished_at": moment(func(n *node) *time.Time { return &n.inspected }),
}

// moment is a time as the API shows it.
func moment(at func(*node) *time.Time) func(*node, any) bool {
	return func(n *node, v any) bool {
		text, ok := v.(string)
		t, err := time.Parse(time.RFC3339, text)
		if ok && err == nil {
			*at(n) = t
		}
		return ok && err == nil
	}
}

func text(at func(*node) *string) func(*node, any) bool {
	return func(n *node, v any) bool {
		s, ok := v.(string)
		if ok || v == nil {
			*at(n) = s
		}
		return ok || v == nil
	}
}

func flag(at func(*node) *bool) func(*node, any) bool {
	return func(n *node, v any) bool {
		b, ok := v.(bool)
		if ok {
			*at(n) = b
		}
		return ok
	}
}

func objectField(at func(*node) *map[string]any) func(*node, any) bool {
	return func(n *node, v any) bool {
		m, ok := v.(map[string]any)
		if ok || v == nil {
			*at(n) = m
		}
		return ok || v == nil
	}
}

func setAutomatedClean(n *node, v any) bool {
	b, ok := v.(bool)
	switch {
	case ok:
		n.automatedClean = &b
	case v == nil:
		n.automatedClean = nil
	default:
		return false
	}
	return true
}

// set writes any field, for tests.
func (n *node) set(name string, value any) bool {
	if set, ok := internalFields[name]; ok {
		return set(n, value)
	}
	return n.write(name, value)
}

// write writes a field that clients may write.
func (n *node) write(name string, value any) bool {
	if set, ok := settable[name]; ok {
		return set(n, value)
	}
	if standard, ok := interfaceFields[name]; ok {
		s, isText := value.(string)
		if value == nil {
			s, isText = standard, true
			if name == "deploy_interface" {
				s = n.deployInterface
			}
		}
		n.interfaces[name] = s
		return isText
	}
	return false
}

func createNode(s *Server, r *http.Request) (int, any, error) {
	var body map[string]any
	if err := decode(r, &body); err != nil {
		return 0, nil, err
	}
	n := &node{uuid: newUUID(), provision: "enroll", created: time.Now(), interfaces: map[string]string{}}
	maps.Copy(n.interfaces, interfaceFields)
	n.deployInterface = s.opts.DeployInterface
	n.interfaces["deploy_interface"] = n.deployInterface
	n.bios, n.firmware = copies(s.opts.BIOS), copies(s.opts.Firmware)
	if id, ok := body["uuid"].(string); ok {
		n.uuid = id
		delete(body, "uuid")
	}
	for name, value := range body {
		if !n.write(name, value) {
			return 0, nil, fault(http.StatusBadRequest, "Schema error for node: Additional properties are not allowed ('%s' was unexpected)", name)
		}
	}
	switch {
	case !slices.Contains(drivers, n.driver):
		return 0, nil, fault(http.StatusBadRequest, "No valid host was found. Reason: No conductor service registered which supports driver %s for conductor group ''.", n.driver)
	case s.nodes[n.uuid] != nil:
		return 0, nil, fault(http.StatusConflict, "A node with UUID %s already exists.", n.uuid)
	case n.name != "" && s.names[n.name] != nil:
		return 0, nil, fault(http.StatusConflict, "A node with name %s already exists.", n.name)
	}
	s.add(n)
	return http.StatusCreated, shown(clone(n.whole(minorOf(r))).(map[string]any)), nil
}

// copies copies a list of objects deeply; none for none.
func copies(list []map[string]any) []map[string]any {
	var all []map[string]any
	for _, item := range list {
		all = append(all, clone(item).(map[string]any))
	}
	return all
}

// nodeOf finds the node of a request.
func (s *Server) nodeOf(r *http.Request) (*node, error) {
	ident := r.PathValue("node")
	n := s.find(ident)
	if n == nil {
		return nil, notFound(ident)
	}
	return n, nil
}

func getNode(s *Server, r *http.Request) (int, any, error) {
	n, err := s.nodeOf(r)
	if err != nil {
		return 0, nil, err
	}
	whole := shown(clone(n.whole(minorOf(r))).(map[string]any))
	if wanted := r.URL.Query().Get("fields"); wanted != "" {
		names, err := fieldNames(wanted, minorOf(r))
		if err != nil {
			return 0, nil, err
		}
		whole = pick(n, names)
	}
	return http.StatusOK, whole, nil
}

// updatable are the states, besides those at rest, in which a node can be patched.
var updatable = []string{"deploy failed", "inspect failed", "inspect wait", "clean failed", "error", "verifying", "adopt failed", "service failed"}

// changeable are the states in which the interfaces of a node can be changed.
var changeable = []string{"enroll", "inspecting", "inspect wait", "manageable", "available"}

func patchNode(s *Server, r *http.Request) (int, any, error) {
	n, err := s.nodeOf(r)
	if err != nil {
		return 0, nil, err
	}
	var operations []operation
	if err := decode(r, &operations); err != nil {
		return 0, nil, err
	}
	switch {
	case n.provision == "inspecting":
		return 0, nil, fault(http.StatusConflict, "Cannot update node \"%s\" while it is in state \"%s\".", n.uuid, n.provision)
	case n.targetProv != "" && !slices.Contains(updatable, n.provision):
		return 0, nil, fault(http.StatusConflict, "Node %s can not be updated while a state transition is in progress.", r.PathValue("node"))
	case n.reservation != "":
		return 0, nil, locked(n)
	}
	document := clone(n.whole(s.opts.MaxMinor)).(map[string]any)
	for _, op := range operations {
		if err := op.apply(document); err != nil {
			return 0, nil, err
		}
	}
	for name, had := range n.interfaces {
		if document[name] != had && !n.maintenance && !slices.Contains(changeable, n.provision) {
			return 0, nil, fault(http.StatusConflict, "Node %s can not have %s updated unless it is in one of allowed (%s) states or in maintenance mode. "+
				"Current state is '%s'.", n.uuid, name, strings.Join(changeable, ", "), n.provision)
		}
	}
	if err := s.store(n, operations, document); err != nil {
		return 0, nil, err
	}
	s.changed(n)
	return http.StatusOK, shown(clone(n.whole(minorOf(r))).(map[string]any)), nil
}

// store writes the patched members back.
func (s *Server) store(n *node, operations []operation, document map[string]any) error {
	for _, op := range operations {
		name := op.member()
		value := document[name]
		if name == "name" {
			if other := s.names[fmt.Sprint(value)]; value != nil && other != nil && other != n {
				return fault(http.StatusConflict, "A node with name %v already exists.", value)
			}
		}
		if name == "instance_uuid" && n.instanceUUID != "" && value != nil && value != n.instanceUUID {
			return fault(http.StatusConflict, "Node %s is associated with instance %s.", n.uuid, n.instanceUUID)
		}
		old := n.name
		if !n.write(name, value) {
			return fault(http.StatusBadRequest, "'/%s' is an internal attribute and can not be updated", name)
		}
		if name == "name" {
			delete(s.names, old)
			if n.name != "" {
				s.names[n.name] = n
			}
		}
	}
	return nil
}

// deletable are the states in which a node can be deleted without maintenance.
var deletable = []string{"manageable", "enroll", "adopt failed", "available"}

func deleteNode(s *Server, r *http.Request) (int, any, error) {
	n, err := s.nodeOf(r)
	switch {
	case err != nil:
		return 0, nil, err
	case n.reservation != "":
		return 0, nil, locked(n)
	case !n.maintenance && n.instanceUUID != "":
		return 0, nil, fault(http.StatusConflict, "Node %s is associated with instance %s.", n.uuid, n.instanceUUID)
	case !n.maintenance && !slices.Contains(deletable, n.provision):
		return 0, nil, fault(http.StatusConflict, `Can not delete node "%s" while it is in provision state "%s". Valid provision states to perform deletion are: "%s", or set the node into maintenance mode`,
			n.uuid, n.provision, strings.Join(deletable, ", "))
	}
	s.drop(n)
	return http.StatusNoContent, nil, nil
}

func setMaintenance(s *Server, r *http.Request) (int, any, error) {
	var body struct {
		Reason string `json:"reason"`
	}
	if r.ContentLength > 0 {
		if err := decode(r, &body); err != nil {
			return 0, nil, err
		}
	}
	return s.maintain(r, true, body.Reason)
}

func unsetMaintenance(s *Server, r *http.Request) (int, any, error) { return s.maintain(r, false, "") }

func (s *Server) maintain(r *http.Request, on bool, reason string) (int, any, error) {
	n, err := s.nodeOf(r)
	if err != nil {
		return 0, nil, err
	}
	n.maintenance, n.maintenanceReason = on, reason
	if !on {
		n.fault = ""
	}
	s.changed(n)
	return http.StatusAccepted, nil, nil
}
