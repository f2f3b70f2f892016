package contract

// provision is the call behind most cases.
var provision = []string{"PUT /v1/nodes/{n}/states/provision"}

// Cases is the table of all calls that Ironflow makes to Ironic, and of the
// states of nodes that it meets. Each row of the call table in docs/ironic.md has
// its case here, under the same name; so has each cell of
// [Actions].
var Cases = []Case{
	{"probe", []string{"GET /v1/", "GET /v1/drivers"}, probe},
	{"by id", []string{"GET /v1/nodes/{n}"}, byID},
	{"by name", []string{"GET /v1/nodes/{n}"}, byName},
	{"by MAC", []string{"GET /v1/ports?address={address}"}, byMAC},
	{"many", []string{"GET /v1/nodes", "GET /v1/nodes?sort_key=updated_at", "GET /v1/nodes?provision_state=clean wait"}, many},
	{"health", []string{"GET /v1/nodes"}, health},
	{"enrol", []string{"POST /v1/nodes"}, enrol},
	{"identity", []string{"PATCH /v1/nodes/{n}"}, identity},
	{"ports", []string{"GET /v1/ports?node_uuid={node_uuid}", "POST /v1/ports", "PATCH /v1/ports/{p}", "DELETE /v1/ports/{p}"}, ports},
	{"manage", provision, manage},
	{"configure", []string{"PATCH /v1/nodes/{n}"}, configure},
	{"firmware", []string{"GET /v1/nodes/{n}/firmware"}, firmware},
	{"BIOS", []string{"GET /v1/nodes/{n}/bios"}, bios},
	{"inspect", []string{"PATCH /v1/nodes/{n}", "PUT /v1/nodes/{n}/states/provision"}, inspect},
	{"inventory", []string{"GET /v1/nodes/{n}/inventory"}, inventory},
	{"abort", provision, abort},
	{"RAID", []string{"PATCH /v1/nodes/{n}", "PUT /v1/nodes/{n}/states/raid"}, raid},
	{"clean", provision, clean},
	{"provide", provision, provide},
	{"instance", []string{"PATCH /v1/nodes/{n}"}, instance},
	{"validate", []string{"GET /v1/nodes/{n}/validate"}, validate},
	{"deploy", provision, deploy},
	{"failure text", []string{"GET /v1/nodes/{n}/history"}, failureText},
	{"undeploy", []string{"PATCH /v1/nodes/{n}", "PUT /v1/nodes/{n}/states/provision"}, undeploy},
	{"adopt", provision, adopt},
	{"service", provision, service},
	{"power", []string{"PUT /v1/nodes/{n}/states/power"}, power},
	{"maintenance", []string{"PUT /v1/nodes/{n}/maintenance", "DELETE /v1/nodes/{n}/maintenance"}, maintenance},
	{"delete", []string{"PATCH /v1/nodes/{n}", "DELETE /v1/nodes/{n}"}, remove},
	{"media", []string{"GET /v1/nodes/{n}/vmedia", "POST /v1/nodes/{n}/vmedia", "DELETE /v1/nodes/{n}/vmedia"}, media},
	{"addresses", []string{"POST /v1/nodes", "POST /v1/nodes/{n}/vmedia", "GET /v1/nodes/{n}", "DELETE /v1/nodes/{n}"}, addresses},
	{"subscriptions", []string{"GET /v1/nodes/{n}/vendor_passthru?method=get_all_subscriptions"}, subscriptions},
	{"refusals", nil, refusals},
	{"verifying", provision, verifying},
	{"inspecting", provision, inspecting},
	{"abort inspection", provision, abortInspection},
	{"cleaning", provision, cleaning},
	{"deploying", provision, deploying},
	{"abort deployment", provision, abortDeployment},
	{"deploy failed", provision, deployFailed},
	{"deleting", provision, deleting},
	{"delete in use", []string{"PUT /v1/nodes/{n}/maintenance", "DELETE /v1/nodes/{n}"}, deleteInUse},
	{"error", provision, undeployFailed},
	{"adopting", provision, adopting},
	{"adopt failed", provision, adoptFailed},
	{"servicing", provision, servicing},
	{"abort service", provision, abortService},
	{"undeploy in service", provision, undeployInService},
}

// eventCalls are what cases make besides on targets with events.
var eventCalls = map[string][]string{
	"subscriptions": {
		"POST /v1/nodes/{n}/vendor_passthru?method=create_subscription", "DELETE /v1/nodes/{n}/vendor_passthru?method=delete_subscription",
	},
}
