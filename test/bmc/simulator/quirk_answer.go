package simulator

import (
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// The quirks of how answers look, whatever they are about.
const (
	VendorHidden       Quirk = "vendor-hidden"
	RootLinksVanish    Quirk = "root-links-vanish"
	ForeignSystem      Quirk = "foreign-system"
	RAIDChassis        Quirk = "raid-chassis-kills"
	NoManagedBy        Quirk = "no-managed-by"
	Sparse             Quirk = "sparse"
	URICase            Quirk = "uri-case"
	OddTimes           Quirk = "odd-times"
	OddTypes           Quirk = "odd-types"
	SeverityNormal     Quirk = "severity-normal"
	UUIDEmpty          Quirk = "uuid-empty"
	MembersBare        Quirk = "members-bare"
	MembersNull        Quirk = "members-null"
	ExtendedInfoObject Quirk = "extended-info-object"
	ExpandSparse       Quirk = "expand-sparse"
	Paged              Quirk = "paged"
	NextLinkLoops      Quirk = "next-link-loops"
	HostNameRefused    Quirk = "host-name-refused"
	SourcesUnavailable Quirk = "sources-unavailable"
	ParallelBreaks     Quirk = "parallel-breaks"
	ReusedCut          Quirk = "reused-connection-cut"
	AbsoluteLocations  Quirk = "absolute-locations"
	HTMLAnswer         Quirk = "html-answer"
	TruncatedBody      Quirk = "truncated-body"
)

// The resources of quirks that systems do not have.
const (
	foreignSystemID = "Baseboard_0"
	raidChassisID   = "Enclosure.Internal.0-1:RAID.Slot.1-1"
)

// pageSize is how many members a page has.
const pageSize = 2

// anywhere is every read. Unless it is narrowed ([Server.SetQuirkAt]), a quirk of
// answers leaves alone what a client needs to get in.
func anywhere(q Quirk) func(c *call) bool {
	return func(c *call) bool {
		_, narrowed := c.of.scopes[q]
		return narrowed || (matches("GET /redfish/v1/*", c.pattern) && !matches("GET /redfish/v1/SessionService*", c.pattern))
	}
}

// shapes is a quirk that changes every answer.
func shapes(q Quirk, text string, reshape func(c *call, body object)) oddity {
	return oddity{Info{q, text, true}, trait{at: []string{"GET *"}, when: anywhere(q), reshape: reshape}}
}

// writes is a quirk that takes the writing of answers over.
func writes(q Quirk, text string, write func(w http.ResponseWriter, r *http.Request, raw []byte)) oddity {
	return oddity{Info{q, text, false}, trait{at: []string{"GET *"}, when: anywhere(q), write: write}}
}

var answerOddities = []oddity{
	{Info{VendorHidden, "The service root says nothing of the vendor.", true}, trait{at: []string{"GET /redfish/v1"}, reshape: removed("Vendor", "Product", "Oem")}},
	{Info{RootLinksVanish, "The service root has no Systems and Managers until the manager is reset.", true}, trait{
		at: []string{"GET /redfish/v1"}, reshape: removed("Systems", "Managers", "Chassis"),
	}},
	{Info{ForeignSystem, "There is a second system, without Boot, before the right one.", true}, trait{
		at: []string{"GET /redfish/v1/Systems"}, reshape: extraMember("Systems", foreignSystemID),
	}},
	{Info{RAIDChassis, "There is a chassis of a RAID controller; a read of it restarts the BMC.", true}, trait{
		at: []string{"GET /redfish/v1/Chassis", systemGet}, reshape: raidChassis,
	}},
	{Info{NoManagedBy, "The system does not name its manager.", true}, trait{at: []string{systemGet}, reshape: func(_ *call, body object) {
		if links, ok := body["Links"].(object); ok {
			body["Links"] = object{"Chassis": links["Chassis"]}
		}
	}}},
	{Info{Sparse, "The manager has no PowerState, drives no State, accounts no AccountTypes.", true}, trait{
		at: []string{"GET /redfish/v1/Managers/{system}", "GET */Drives/{drive}", "GET " + accountsPattern + "/{account}"}, reshape: func(_ *call, body object) {
			delete(body, "PowerState")
			delete(body, "AccountTypes")
			if strings.Contains(body["@odata.type"].(string), "Drive.") {
				body["Status"] = object{"Health": "OK"}
			}
		},
	}},
	{Info{URICase, "Links of collections are in lower case; addresses are taken in either.", true}, trait{
		at: []string{"GET /redfish/v1/Systems", "GET /redfish/v1/Managers"}, reshape: eachMember(func(address string) any {
			for _, home := range []string{"Systems", "Managers"} {
				address = strings.Replace(address, "/"+home+"/", "/"+strings.ToLower(home)+"/", 1)
			}
			return object{"@odata.id": address}
		}),
	}},
	{Info{OddTimes, "Times are without a zone's colon, of the year 0, or of no day.", true}, trait{
		at: []string{systemGet, "GET /redfish/v1/Managers/{system}", "GET */FirmwareInventory/{firmware}", "GET */Entries*"}, reshape: oddTimes,
	}},
	{Info{OddTypes, "Socket, MemberId and Id are numbers, PartLocation is a list, LocationIndicatorActive a text.", true}, trait{
		at: []string{"GET *"}, reshape: oddTypes,
	}},
	{Info{SeverityNormal, "Severity of a log entry or event is Normal for OK.", true}, trait{
		at: []string{"GET */Entries*"}, reshape: func(_ *call, body object) {
			members, _ := body["Members"].([]object)
			for _, entry := range append([]object{body}, members...) {
				if entry["Severity"] != nil {
					entry["Severity"] = normal(entry["Severity"])
				}
			}
		},
	}},
	{Info{UUIDEmpty, "UUID of the system is empty.", true}, trait{at: []string{systemGet}, reshape: func(_ *call, body object) { body["UUID"] = "" }}},
	shapes(MembersBare, "Members of collections are addresses, not objects.", eachMember(func(address string) any { return address })),
	shapes(MembersNull, "Members of collections are null.", func(_ *call, body object) {
		if body["Members"] != nil {
			body["Members"] = nil
		}
	}),
	{Info{ExtendedInfoObject, "@Message.ExtendedInfo of an error is one object.", true}, trait{}},
	{Info{ExpandSparse, "A collection that is asked for with $expand has members that lack most of their properties.", true}, trait{
		at: []string{"GET *"}, when: func(c *call) bool { return c.r.URL.Query().Has("$expand") },
		reshape: eachMember(func(address string) any {
			return object{"@odata.id": address, "Id": address[strings.LastIndex(address, "/")+1:]}
		}),
	}},
	shapes(Paged, "Collections come in pages of two, by @odata.nextLink with $skip.", func(c *call, body object) { page(c, body, false) }),
	shapes(NextLinkLoops, "The pages of a collection end in the first one: $skip is ignored.", func(c *call, body object) { page(c, body, true) }),
	{Info{HostNameRefused, "Requests whose Host is a name instead of an address are refused.", true}, trait{
		at: []string{"* *"}, when: func(c *call) bool {
			host, _, err := net.SplitHostPort(c.r.Host)
			if err != nil {
				host = c.r.Host
			}
			return net.ParseIP(host) == nil
		},
		refuse: func(*call) error { return fault(http.StatusBadRequest, generalError, "The header Host is not known.") },
	}},
	{Info{SourcesUnavailable, "A request is answered with 503 and SYS518: data sources are not available yet.", false}, trait{
		at: []string{"* /redfish/v1/*"}, refuse: func(*call) error {
			return oem(http.StatusServiceUnavailable, "IDRAC.2.8.SYS518", "iDRAC is currently unable to display any information because data sources are unavailable.")
		},
	}},
	{Info{ParallelBreaks, "Of requests at the same time all but one are answered with 500.", true}, trait{
		at: []string{"* *"}, when: func(c *call) bool { return c.of.busy > 1 },
		refuse: func(*call) error { return fault(http.StatusInternalServerError, generalError, "Too much at a time.") },
	}},
	{Info{ReusedCut, "A connection is cut when it is used a second time.", true}, trait{}},
	{Info{AbsoluteLocations, "Location headers have scheme and host.", true}, trait{}},
	writes(HTMLAnswer, "An answer is a web page with the status 200.", webPage),
	writes(TruncatedBody, "An answer ends in mid body, shorter than its Content-Length.", truncated),
}

// extraMember puts a member before the others.
func extraMember(home, id string) func(c *call, body object) {
	return func(_ *call, body object) {
		members, _ := body["Members"].([]object)
		body["Members"], body["Members@odata.count"] = append([]object{link(home, id)}, members...), len(members)+1
	}
}

// raidChassis puts the chassis of the RAID controller before the others, in the list of
// all and in that of the system.
func raidChassis(c *call, body object) {
	links, is := body["Links"].(object)
	if !is {
		extraMember("Chassis", raidChassisID)(c, body)
		return
	}
	own, _ := links["Chassis"].([]object)
	body["Links"] = object{"ManagedBy": links["ManagedBy"], "Chassis": append([]object{link("Chassis", raidChassisID)}, own...)}
}

// eachMember replaces the links of a collection.
func eachMember(change func(address string) any) func(c *call, body object) {
	return func(_ *call, body object) {
		members, ok := body["Members"].([]object)
		if !ok {
			return
		}
		list := make([]any, 0, len(members))
		for _, member := range members {
			address, _ := member["@odata.id"].(string)
			list = append(list, change(address))
		}
		body["Members"] = list
	}
}

func skip(u *url.URL) int {
	n, err := strconv.Atoi(u.Query().Get("$skip"))
	if err != nil {
		return 0
	}
	return max(n, 0)
}

// page cuts a collection into pages; those of a loop lead back.
func page(c *call, body object, loops bool) {
	members, ok := body["Members"].([]object)
	if !ok || len(members) <= pageSize {
		return
	}
	from := min(skip(c.r.URL), len(members))
	if loops {
		from = 0
	}
	end := min(from+pageSize, len(members))
	body["Members"] = members[from:end]
	if loops || end < len(members) {
		body["Members@odata.nextLink"] = c.r.URL.Path + "?$skip=" + strconv.Itoa(end)
	}
}

func oddTimes(_ *call, body object) {
	kind, _ := body["@odata.type"].(string)
	switch {
	case strings.Contains(kind, "ComputerSystem"):
		body["LastResetTime"] = "0000-00-00T00:00:00Z"
	case strings.Contains(kind, "SoftwareInventory"):
		body["ReleaseDate"] = "00:00:00Z"
	}
	members, _ := body["Members"].([]object)
	for _, entry := range append([]object{body}, members...) {
		for _, name := range []string{"DateTime", "Created"} {
			if text, ok := entry[name].(string); ok {
				entry[name] = strings.TrimSuffix(text, "Z") + "-0600"
			}
		}
	}
}

func oddTypes(_ *call, body object) {
	kind, _ := body["@odata.type"].(string)
	switch {
	case strings.Contains(kind, "Processor."):
		body["Socket"], body["Id"] = 0, 1
	case strings.Contains(kind, "Drive."):
		body["PhysicalLocation"] = []object{{"PartLocation": []object{{"LocationOrdinalValue": 1}}}}
	case strings.Contains(kind, "Thermal."):
		body["Controls"] = object{}
		for _, list := range []string{"Fans", "Temperatures"} {
			entries, _ := body[list].([]object)
			for i, entry := range entries {
				entry["MemberId"] = i
			}
		}
	case strings.Contains(kind, "ComputerSystem."):
		body["LocationIndicatorActive"] = "false"
	}
}

// webPage sends a web page, as something that is no BMC does.
func webPage(w http.ResponseWriter, _ *http.Request, _ []byte) {
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write([]byte("<!DOCTYPE html><html><head><title>Login</title></head><body>Please log in.</body></html>")) // a client that went away is its own affair
}

// truncated sends half of the body that it announces, and closes the connection.
func truncated(w http.ResponseWriter, _ *http.Request, raw []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(raw)))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(raw[:len(raw)/2])
	_ = http.NewResponseController(w).Flush() // what was sent arrives before the end
	panic(http.ErrAbortHandler)               //nolint:forbidigo // the way in which net/http lets a handler drop a connection
}
