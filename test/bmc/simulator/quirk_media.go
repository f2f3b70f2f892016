package simulator

import (
	"net/http"
	"slices"
	"strings"
)

// The quirks of virtual media.
const (
	NoVirtualMedia            Quirk = "no-virtual-media"
	MediaOnSystem             Quirk = "media-on-system"
	MediaFirstSlotOnly        Quirk = "media-first-slot-only"
	MediaEjectLate            Quirk = "media-eject-late"
	MediaInsertFails          Quirk = "media-insert-fails"
	MediaDetached             Quirk = "media-detached"
	MediaUnreachable          Quirk = "media-unreachable"
	MediaExtrasRefused        Quirk = "media-extras-refused"
	MediaPlainURL             Quirk = "media-plain-url"
	MediaNoEjectWhileEmpty    Quirk = "media-no-eject-while-empty"
	MediaPatchNeedsInserted   Quirk = "media-patch-needs-inserted"
	MediaPatchRefusesInserted Quirk = "media-patch-refuses-inserted"
	EjectNeedsBody            Quirk = "eject-needs-body"
	MediaHTTPSOnly            Quirk = "media-https-only"
	MediaNeedsCredentials     Quirk = "media-needs-credentials"
	MediaNeedsMethod          Quirk = "media-needs-method"
	MediaNeedsLicence         Quirk = "media-needs-licence"
)

const mediaGet = "GET */VirtualMedia/{slot}"

// inserts are the requests that put a medium in.
var inserts = []string{"POST */VirtualMedia.InsertMedia", "PATCH */VirtualMedia/{slot}"}

// inserting narrows them to those that do, and to a further condition.
func inserting(more func(c *call) bool) func(c *call) bool {
	return func(c *call) bool { return c.body["Image"] != nil && (more == nil || more(c)) }
}

func (c *call) gives(name string) bool { return c.body[name] != nil }

// lacks refuses an insert for want of a parameter.
func lacks(name string) func(*call) error {
	return func(*call) error {
		return faultAt(name, missingParameter, "The action InsertMedia requires the parameter %s.", name)
	}
}

// unknownParameter refuses what the BMC does not know.
func unknownParameter(name string) func(*call) error {
	return func(*call) error {
		return faultAt(name, unknownProperty, "The property %s is not in the list of valid properties.", name)
	}
}

func removed(names ...string) func(c *call, body object) {
	return func(_ *call, body object) {
		for _, name := range names {
			delete(body, name)
		}
	}
}

var mediaOddities = []oddity{
	{Info{NoVirtualMedia, "There are no virtual media but for the vendor's own.", true}, trait{
		at: []string{"GET /redfish/v1/Systems/{system}", "GET /redfish/v1/Managers/{system}", "* */VirtualMedia*"},
		refuse: func(c *call) error {
			if strings.Contains(c.pattern, "VirtualMedia") {
				return notFound(c.r.URL.Path)
			}
			return nil
		},
		reshape: removed("VirtualMedia"),
	}},
	{Info{MediaOnSystem, "Virtual media are found below the system only.", true}, gone("VirtualMedia", "GET /redfish/v1/Managers/{system}", "* /redfish/v1/Managers/{system}/VirtualMedia*")},
	{Info{MediaFirstSlotOnly, "Only the first slot takes a medium.", true}, trait{
		at: inserts, when: inserting(func(c *call) bool { return c.r.PathValue("slot") != c.sys.Slots[0].ID }),
		refuse: func(c *call) error {
			return fault(http.StatusBadRequest, notAllowed, "The slot %s does not take this medium.", c.r.PathValue("slot"))
		},
	}},
	{Info{MediaEjectLate, "A read shows the medium that was just ejected as inserted.", false}, trait{
		at: []string{mediaGet}, when: func(c *call) bool { return c.sys.ejected[c.r.PathValue("slot")] != "" },
		reshape: func(c *call, body object) {
			body["Inserted"], body["ConnectedVia"], body["Image"] = true, "URI", c.sys.ejected[c.r.PathValue("slot")]
		},
	}},
	{Info{MediaInsertFails, "InsertMedia is answered with 500: an eject still runs.", false}, trait{
		at: inserts, when: inserting(nil),
		refuse: func(*call) error {
			return fault(http.StatusInternalServerError, generalError, "The operation failed due to an internal service error.")
		},
	}},
	{Info{MediaDetached, "InsertMedia is refused with VRM0021: virtual media are detached.", true}, trait{
		at: inserts, when: inserting(nil),
		refuse: func(*call) error {
			return oem(http.StatusInternalServerError, "IDRAC.2.8.VRM0021", "Virtual Media is detached or Virtual Media redirection for the selected virtual disk is already in use.")
		},
	}},
	{Info{MediaUnreachable, "InsertMedia is refused with RAC0904: the image cannot be reached.", false}, trait{
		at: inserts, when: inserting(nil),
		refuse: func(*call) error {
			return oem(http.StatusInternalServerError, "IDRAC.2.8.RAC0904", "Unable to access the remote file share: the location cannot be reached.")
		},
	}},
	{Info{MediaExtrasRefused, "InsertMedia is refused with Inserted or WriteProtected in its body.", true}, trait{
		at: inserts, when: inserting(func(c *call) bool { return c.gives("Inserted") || c.gives("WriteProtected") }), refuse: unknownParameter("Inserted"),
	}},
	{Info{MediaPlainURL, "An image whose URL has ? or =, or does not end in .iso, is refused.", true}, trait{
		at: inserts, when: inserting(func(c *call) bool {
			image, _ := c.body["Image"].(string)
			return strings.ContainsAny(image, "?=") || !strings.HasSuffix(image, ".iso")
		}),
		refuse: func(*call) error {
			return faultAt("Image", wrongFormat, "The value for the parameter Image is of a different format than the parameter can accept.")
		},
	}},
	{Info{MediaNoEjectWhileEmpty, "An empty slot has no action EjectMedia, and keeps the name of its last image.", true}, trait{
		at: []string{mediaGet}, when: func(c *call) bool { _, full := c.sys.state.Media[c.r.PathValue("slot")]; return !full },
		reshape: func(c *call, body object) {
			if actions, ok := body["Actions"].(object); ok {
				body["Actions"] = object{"#VirtualMedia.InsertMedia": actions["#VirtualMedia.InsertMedia"]}
			}
			if last := c.sys.ejected[c.r.PathValue("slot")]; last != "" {
				body["ImageName"] = last[strings.LastIndex(last, "/")+1:]
			}
		},
	}},
	{Info{MediaPatchNeedsInserted, "A PATCH that inserts a medium is refused without Inserted: true.", true}, trait{
		at: inserts[1:], when: inserting(func(c *call) bool { return c.body["Inserted"] != true }), refuse: lacks("Inserted"),
	}},
	{Info{MediaPatchRefusesInserted, "A PATCH that inserts a medium is refused with Inserted.", true}, trait{
		at: inserts[1:], when: func(c *call) bool { return c.gives("Inserted") }, refuse: unknownParameter("Inserted"),
	}},
	{Info{EjectNeedsBody, "EjectMedia without a body is refused with 415; an empty object will do.", true}, trait{
		at: []string{"POST */VirtualMedia.EjectMedia"}, when: func(c *call) bool { return c.bodiless },
		refuse: func(*call) error {
			return fault(http.StatusUnsupportedMediaType, malformedJSON, "The request has no body.")
		},
	}},
	{Info{MediaHTTPSOnly, "Images are read over https and smb only.", true}, trait{
		at: append([]string{mediaGet}, inserts...), when: func(c *call) bool {
			image, _ := c.body["Image"].(string)
			scheme, _, _ := strings.Cut(image, "://")
			return c.r.Method == http.MethodGet || (image != "" && !slices.Contains([]string{"https", "smb"}, scheme))
		},
		refuse: func(c *call) error {
			if c.r.Method == http.MethodGet {
				return nil
			}
			return faultAt("Image", wrongParameter, "The image has a scheme that is not supported.")
		},
		reshape: func(c *call, body object) {
			actions, _ := body["Actions"].(object)
			insert, _ := actions["#VirtualMedia.InsertMedia"].(object)
			if insert == nil {
				return
			}
			body["Actions"] = object{"#VirtualMedia.EjectMedia": actions["#VirtualMedia.EjectMedia"], "#VirtualMedia.InsertMedia": object{
				"target": insert["target"], "TransferProtocolType@Redfish.AllowableValues": []string{"CIFS", "HTTPS"},
			}}
		},
	}},
	{Info{MediaNeedsCredentials, "InsertMedia is refused without UserName and Password.", true}, trait{
		at: inserts, when: inserting(func(c *call) bool { return !c.gives("UserName") || !c.gives("Password") }), refuse: lacks("UserName"),
	}},
	{Info{MediaNeedsMethod, "InsertMedia is refused without TransferMethod.", true}, trait{
		at: inserts, when: inserting(func(c *call) bool { return !c.gives("TransferMethod") }), refuse: lacks("TransferMethod"),
	}},
	{Info{MediaNeedsLicence, "InsertMedia is refused in the vendor's words while no licence is in force.", true}, trait{
		at: inserts, when: inserting(func(c *call) bool { return !c.sys.licensed() }), refuse: func(c *call) error { return c.unlicensed() },
	}},
}

// unlicensed refuses for want of a licence, as the vendor does; the lock is held.
func (c *call) unlicensed() error {
	switch c.of.Vendor {
	case HPE:
		return oem(http.StatusBadRequest, "iLO.2.23.LicenseKeyRequired", "A license key is required to use this operation or feature.")
	case Dell:
		return oem(http.StatusBadRequest, "IDRAC.2.8.LIC501", "A required license is missing or expired.")
	case Supermicro:
		return oem(http.StatusForbidden, "SMC.1.0.OemLicenseNotPassed", "Not licensed to perform this request. The following licenses SFT-DCMS-SINGLE were needed.")
	default:
		return fault(http.StatusForbidden, notAllowed, "A required license is not installed.")
	}
}
