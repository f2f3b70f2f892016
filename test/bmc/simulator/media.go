package simulator

import (
	"net/http"
	"slices"
	"strings"
)

var mediaRoutes = map[string]handler{
	"GET /redfish/v1/Systems/{system}/VirtualMedia":                                           listMedia,
	"GET /redfish/v1/Systems/{system}/VirtualMedia/{slot}":                                    getMedia,
	"PATCH /redfish/v1/Systems/{system}/VirtualMedia/{slot}":                                  patchMedia,
	"POST /redfish/v1/Systems/{system}/VirtualMedia/{slot}/Actions/VirtualMedia.InsertMedia":  insertMedia,
	"POST /redfish/v1/Systems/{system}/VirtualMedia/{slot}/Actions/VirtualMedia.EjectMedia":   ejectMedia,
	"GET /redfish/v1/Managers/{system}/VirtualMedia":                                          listMedia,
	"GET /redfish/v1/Managers/{system}/VirtualMedia/{slot}":                                   getMedia,
	"PATCH /redfish/v1/Managers/{system}/VirtualMedia/{slot}":                                 patchMedia,
	"POST /redfish/v1/Managers/{system}/VirtualMedia/{slot}/Actions/VirtualMedia.InsertMedia": insertMedia,
	"POST /redfish/v1/Managers/{system}/VirtualMedia/{slot}/Actions/VirtualMedia.EjectMedia":  ejectMedia,
}

// DefaultSlots are the virtual media of systems that bring none.
func DefaultSlots() []Slot {
	return []Slot{{ID: "Cd", Types: []string{"CD", "DVD"}}, {ID: "Floppy", Types: []string{"Floppy", "USBStick"}}}
}

// slotIDs are the Ids of the slots.
func (sys *system) slotIDs() []string {
	ids := make([]string, 0, len(sys.Slots))
	for _, slot := range sys.Slots {
		ids = append(ids, slot.ID)
	}
	return ids
}

// slot is what a slot can hold, nil if there is no such slot.
func (sys *system) slot(id string) []string {
	for _, slot := range sys.Slots {
		if slot.ID == id {
			return slot.Types
		}
	}
	return nil
}

// schemes are those of images that a BMC can read.
var schemes = []string{"http", "https", "nfs", "cifs", "smb"}

// mediaHome is where the request found the media: Systems or Managers. The media
// of the two are the same.
func (c *call) mediaHome() (string, error) {
	home := "Managers"
	if strings.HasPrefix(c.r.URL.Path, path("Systems")) {
		home = "Systems"
	}
	if home == "Systems" && c.sys.has(MediaOnManager) {
		return "", notFound(c.r.URL.Path)
	}
	if slot := c.r.PathValue("slot"); slot != "" && c.sys.slot(slot) == nil {
		return "", notFound(c.r.URL.Path)
	}
	return home, nil
}

func listMedia(c *call) (reply, error) {
	home, err := c.mediaHome()
	if err != nil {
		return reply{}, err
	}
	return ok(collection("VirtualMedia", "Virtual Media", path(home, c.sys.idIn(home), "VirtualMedia"), links(c.sys.slotIDs(), home, c.sys.idIn(home), "VirtualMedia")))
}

func getMedia(c *call) (reply, error) {
	home, err := c.mediaHome()
	if err != nil {
		return reply{}, err
	}
	slot := c.r.PathValue("slot")
	address := path(home, c.sys.idIn(home), "VirtualMedia", slot)
	medium, inserted := c.sys.state.Media[slot]
	body := resource("VirtualMedia.v1_6_3.VirtualMedia", slot, "Virtual "+slot, address, object{
		"MediaTypes": c.sys.slot(slot), "Inserted": inserted, "Image": nil, "ImageName": nil, "ConnectedVia": "NotConnected",
		"WriteProtected": true, "TransferMethod": "Stream", "VerifyCertificate": false, "UserName": nil, "Password": nil, "Status": status("OK"),
	})
	if inserted {
		body["Image"], body["ImageName"] = medium.Image, medium.Image[strings.LastIndex(medium.Image, "/")+1:]
		body["ConnectedVia"], body["WriteProtected"] = "URI", medium.WriteProtected
	}
	if !c.sys.has(MediaByPatch) {
		body["Actions"] = object{
			"#VirtualMedia.InsertMedia": object{"target": address + "/Actions/VirtualMedia.InsertMedia"},
			"#VirtualMedia.EjectMedia":  object{"target": address + "/Actions/VirtualMedia.EjectMedia"},
		}
	}
	return ok(body)
}

func insertMedia(c *call) (reply, error) {
	return c.byAction(func() error { return c.insert() })
}

func ejectMedia(c *call) (reply, error) {
	return c.byAction(func() error { return c.eject() })
}

// byAction runs an action, unless the system has none.
func (c *call) byAction(do func() error) (reply, error) {
	c.s.mu.Lock()
	_, err := c.mediaHome()
	if err == nil && c.sys.has(MediaByPatch) {
		err = fault(http.StatusNotFound, unsupportedAction, "The action is not supported by the resource.")
	}
	c.s.mu.Unlock()
	if err == nil {
		err = do()
	}
	if err != nil {
		return reply{}, err
	}
	return done()
}

// patchMedia inserts and ejects on systems without actions.
func patchMedia(c *call) (reply, error) {
	c.s.mu.Lock()
	_, err := c.mediaHome()
	byPatch := c.sys.has(MediaByPatch)
	c.s.mu.Unlock()
	image, given := c.body["Image"]
	switch {
	case err != nil:
	case !byPatch && given:
		err = faultAt("Image", readOnlyProperty, "The property Image is read-only: use the action InsertMedia.")
	case given && image != nil:
		err = c.insert()
	case given || c.body["Inserted"] == false:
		err = c.eject()
	}
	if err != nil {
		return reply{}, err
	}
	return done()
}

// insert puts the medium of the request into its slot.
func (c *call) insert() error {
	slot := c.r.PathValue("slot")
	image, _ := c.body["Image"].(string)
	scheme, _, hasScheme := strings.Cut(image, "://")
	c.s.mu.Lock()
	_, transfer := c.body["TransferProtocolType"]
	missing := !transfer && c.sys.has(MediaNeedsTransfer)
	_, occupied := c.sys.state.Media[slot]
	lost := c.sys.strikes(MediaNotInserted)
	c.s.mu.Unlock()
	switch {
	case image == "":
		return faultAt("Image", missingParameter, "The action InsertMedia requires the parameter Image.")
	case !hasScheme || !slices.Contains(schemes, strings.ToLower(scheme)):
		return faultAt("Image", wrongParameter, "The image '%s' has a scheme that is not supported.", image)
	case missing:
		return faultAt("TransferProtocolType", missingParameter, "The action InsertMedia requires the parameter TransferProtocolType.")
	case occupied:
		return fault(http.StatusConflict, inUse, "The slot %s holds a medium: eject it first.", slot)
	case lost:
		return nil
	}
	if c.s.opts.Fetch != nil {
		if err := c.s.opts.Fetch(c.r.Context(), image); err != nil {
			return fault(http.StatusInternalServerError, generalError, "The image could not be read: %s", err)
		}
	}
	protected, given := c.body["WriteProtected"].(bool)
	return c.setMedium(slot, &Medium{Image: image, WriteProtected: protected || !given})
}

// eject empties the slot of the request.
func (c *call) eject() error {
	c.s.mu.Lock()
	stays := c.sys.strikes(MediaNotEjected)
	c.s.mu.Unlock()
	if stays {
		return nil
	}
	return c.setMedium(c.r.PathValue("slot"), nil)
}

// setMedium fills or empties a slot once the machine agrees.
func (c *call) setMedium(slot string, medium *Medium) error {
	c.s.mu.Lock()
	last := c.sys.state.Media[slot].Image
	c.s.mu.Unlock()
	err := c.s.change(c.r.Context(), c.sys, func(state *State) error {
		delete(state.Media, slot)
		if medium != nil {
			state.Media[slot] = *medium
		}
		return nil
	}, func(m Machine, state State) error { return m.MediaChanged(c.r.Context(), state, slot) })
	if err != nil {
		return err
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	text := "ejected from"
	if c.sys.ejected == nil {
		c.sys.ejected = map[string]string{}
	}
	c.sys.ejected[slot] = last
	if medium != nil {
		text = "inserted into"
		delete(c.sys.ejected, slot)
	}
	c.s.note(c.sys, Event{
		Type: "ResourceUpdated", MessageID: "ResourceEvent.1.3.ResourceChanged", Severity: "OK",
		Message: "A virtual medium was " + text + " " + slot + " of system " + c.sys.Name + ".",
	})
	return nil
}
