package simulator

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/ironflow/ironflow/test/bmc/simulator/raid"
)

// applyTimeKey asks for a time in the body of a request.
const applyTimeKey = "@Redfish.OperationApplyTime"

func listVolumes(c *call) (reply, error) {
	s, err := c.storage()
	if err != nil {
		return reply{}, err
	}
	members := make([]object, 0, len(s.Volumes))
	for _, v := range s.Volumes {
		members = append(members, object{"@odata.id": c.storagePath(s, "Volumes", v.ID)})
	}
	body := collection("Volume", "Volumes", c.storagePath(s, "Volumes"), members)
	body["@Redfish.OperationApplyTimeSupport"] = object{
		"@odata.type": "#Settings.v1_4_0.OperationApplyTimeSupport", "SupportedValues": s.ApplyTimes,
	}
	return ok(body)
}

func getVolume(c *call) (reply, error) {
	s, err := c.storage()
	if err != nil {
		return reply{}, err
	}
	id := c.r.PathValue("volume")
	i := s.volume(id)
	if i < 0 {
		return reply{}, notFound(c.r.URL.Path)
	}
	return ok(c.volumeObject(s, s.Volumes[i]))
}

func (s *storage) volume(id string) int {
	return slices.IndexFunc(s.Volumes, func(v Volume) bool { return v.ID == id })
}

func (c *call) volumeObject(s *storage, v Volume) object {
	drives := make([]object, 0, len(v.Drives))
	for _, id := range v.Drives {
		drives = append(drives, object{"@odata.id": c.storagePath(s, "Drives", id)})
	}
	body := resource("Volume.v1_10_0.Volume", v.ID, cmp.Or(v.Name, v.ID), c.storagePath(s, "Volumes", v.ID), object{
		"DisplayName": cmp.Or(v.Name, v.ID), "CapacityBytes": v.CapacityBytes, "BlockSizeBytes": 512, "Encrypted": false, "Status": status("OK"),
		"Links": object{"Drives": drives, "Drives@odata.count": len(drives)},
	})
	if v.RAIDType != "" && !c.sys.has(NoRAIDType) {
		body["RAIDType"] = v.RAIDType
	}
	return body
}

// applyTime is when the request wants its work to be done: as it says, or at the
// first time that the storage supports.
func (c *call) applyTime(s *storage) (ApplyTime, error) {
	wish, given := c.body[applyTimeKey].(string)
	switch {
	case !given && len(s.ApplyTimes) == 0:
		return Immediate, nil
	case !given:
		return s.ApplyTimes[0], nil
	case !slices.Contains(s.ApplyTimes, ApplyTime(wish)):
		return "", faultAt(applyTimeKey, wrongValue, "The value '%s' for %s is not in the list of acceptable values.", wish, applyTimeKey)
	}
	return ApplyTime(wish), nil
}

func createVolume(c *call) (reply, error) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	s, err := c.storage()
	if err != nil {
		return reply{}, err
	}
	v, err := c.wanted(s)
	if err != nil {
		return reply{}, err
	}
	when, err := c.applyTime(s)
	if err != nil {
		return reply{}, err
	}
	v.ID = "Volume." + strconv.Itoa(c.s.next())
	if when == Immediate && !s.Tasks {
		s.Volumes = append(s.Volumes, v)
		return reply{status: http.StatusCreated, location: c.storagePath(s, "Volumes", v.ID), body: c.volumeObject(s, v)}, nil
	}
	for _, id := range v.Drives {
		s.claimed[id] = true
	}
	t := c.s.begin(c.sys, job{
		name: "Creation of volume " + v.ID, waits: waiting(when),
		run: func() error {
			s.Volumes = append(s.Volumes, v)
			return nil
		},
		end: func() {
			for _, id := range v.Drives {
				delete(s.claimed, id)
			}
		},
	})
	return c.accepted(t), nil
}

// waiting is the state of a task that waits for its time.
func waiting(when ApplyTime) string {
	if when == OnReset {
		return taskPending
	}
	return ""
}

// wanted reads the volume that the request asks for and checks that the storage
// can make it; the lock is held.
func (c *call) wanted(s *storage) (Volume, error) {
	v := Volume{}
	v.Name, _ = c.body["Name"].(string)
	if v.Name == "" {
		v.Name, _ = c.body["DisplayName"].(string)
	}
	v.RAIDType, _ = c.body["RAIDType"].(string)
	if !raid.Known(v.RAIDType) || !slices.Contains(s.RAIDTypes, v.RAIDType) {
		return v, faultAt("RAIDType", wrongValue, "The value '%v' for the property RAIDType is not in the list of acceptable values.", c.body["RAIDType"])
	}
	smallest := int64(0)
	drives, _ := c.body["Links"].(object)
	list, _ := drives["Drives"].([]any)
	for _, entry := range list {
		drive, err := c.freeDrive(s, entry)
		if err != nil {
			return v, err
		}
		v.Drives = append(v.Drives, drive.ID)
		if smallest == 0 || drive.CapacityBytes < smallest {
			smallest = drive.CapacityBytes
		}
	}
	usable, err := raid.Usable(v.RAIDType, len(v.Drives))
	if err != nil {
		return v, faultAt("Links/Drives", wrongValue, "%s %s.", v.RAIDType, err)
	}
	v.CapacityBytes = smallest * int64(usable)
	if size, given := c.body["CapacityBytes"].(float64); given {
		if size <= 0 || int64(size) > v.CapacityBytes {
			return v, faultAt("CapacityBytes", wrongValue, "The volume can have up to %d bytes, not %.0f.", v.CapacityBytes, size)
		}
		v.CapacityBytes = int64(size)
	}
	return v, nil
}

// freeDrive finds the drive of a link that no volume has.
func (c *call) freeDrive(s *storage, entry any) (Drive, error) {
	reference, _ := entry.(object)
	address, _ := reference["@odata.id"].(string)
	id := strings.TrimPrefix(address, c.storagePath(s, "Drives")+"/")
	i := slices.IndexFunc(s.Drives, func(d Drive) bool { return d.ID == id })
	if i < 0 {
		return Drive{}, faultAt("Links/Drives", wrongValue, "The storage %s has no drive %q.", s.ID, address)
	}
	used := s.claimed[id] || slices.ContainsFunc(s.Volumes, func(v Volume) bool { return slices.Contains(v.Drives, id) })
	if used {
		return Drive{}, fault(http.StatusConflict, inUse, "The drive %s belongs to a volume already.", id)
	}
	if state := s.Drives[i].RAIDStatus; state == "Foreign" || state == "NonRAID" {
		return Drive{}, fault(http.StatusBadRequest, notAllowed, "The drive %s is %s: it cannot be part of a volume.", id, state)
	}
	return s.Drives[i], nil
}

func deleteVolume(c *call) (reply, error) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	s, err := c.storage()
	if err != nil {
		return reply{}, err
	}
	id := c.r.PathValue("volume")
	if s.volume(id) < 0 {
		return reply{}, notFound(c.r.URL.Path)
	}
	when, err := c.applyTime(s)
	if err != nil {
		return reply{}, err
	}
	remove := func() error {
		i := s.volume(id)
		if i < 0 {
			return fmt.Errorf("the volume %s is gone already", id)
		}
		s.Volumes = slices.Delete(s.Volumes, i, i+1)
		return nil
	}
	if when == Immediate && !s.Tasks {
		return reply{status: http.StatusNoContent}, remove()
	}
	return c.accepted(c.s.begin(c.sys, job{name: "Deletion of volume " + id, waits: waiting(when), run: remove})), nil
}
