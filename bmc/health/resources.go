package health

import (
	"strings"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/health/rules"
	"github.com/ironflow/ironflow/bmc/lenient"
)

// status is Redfish's Status object.
type status struct {
	State  lenient.String `json:"State"`
	Health lenient.String `json:"Health"`
	Rollup lenient.String `json:"HealthRollup"`
}

// into puts a status into a part.
func (s status) into(p rules.Part) rules.Part {
	p.State, p.Health, p.Rollup = clip(string(s.State)), clip(string(s.Health)), clip(string(s.Rollup))
	return p
}

type number = lenient.Optional[lenient.Float]

func value(n number) *float64 {
	if !n.Set {
		return nil
	}
	v := float64(n.Value)
	return &v
}

// system is a ComputerSystem, as far as it is needed.
type system struct {
	Name             lenient.String `json:"Name"`
	PowerState       lenient.String `json:"PowerState"`
	Status           status         `json:"Status"`
	MemorySummary    *summary       `json:"MemorySummary"`
	ProcessorSummary *summary       `json:"ProcessorSummary"`
	Memory           lenient.Link   `json:"Memory"`
	Processors       lenient.Link   `json:"Processors"`
	Storage          lenient.Link   `json:"Storage"`
	LogServices      lenient.Link   `json:"LogServices"`
	Links            struct {
		Chassis   lenient.List[lenient.Link] `json:"Chassis"`
		ManagedBy lenient.List[lenient.Link] `json:"ManagedBy"`
	} `json:"Links"`
}

type summary struct {
	Status status `json:"Status"`
}

type manager struct {
	LogServices lenient.Link `json:"LogServices"`
}

type chassis struct {
	Thermal          lenient.Link `json:"Thermal"`
	ThermalSubsystem lenient.Link `json:"ThermalSubsystem"`
	Power            lenient.Link `json:"Power"`
	PowerSubsystem   lenient.Link `json:"PowerSubsystem"`
	Sensors          lenient.Link `json:"Sensors"`
}

// common is what every resource has.
type common struct {
	ODataID  lenient.String `json:"@odata.id"`
	ID       lenient.String `json:"Id"`
	MemberID lenient.String `json:"MemberId"`
	Name     lenient.String `json:"Name"`
	Status   status         `json:"Status"`
}

// part makes a part of it. Where the BMC gives no path, as in arrays it may not, the
// member's number and name are the ID.
func (c *common) part(domain rules.Domain, kind rules.Kind, path string) rules.Part {
	id := path
	if id == "" {
		id = string(kind) + " " + string(c.MemberID) + " " + string(c.Name)
	}
	name := string(c.Name)
	if name == "" {
		name = string(kind) + " " + string(c.ID) + string(c.MemberID)
	}
	return c.Status.into(rules.Part{Domain: domain, Kind: kind, ID: clip(id), Name: clip(name)})
}

// thermal is the older resource with all fans and temperatures.
type thermal struct {
	Temperatures lenient.List[limited] `json:"Temperatures"`
	Fans         lenient.List[limited] `json:"Fans"`
}

// limited is a fan or temperature in a list.
type limited struct {
	common

	FanName        lenient.String `json:"FanName"`
	Reading        number         `json:"Reading"`
	ReadingCelsius number         `json:"ReadingCelsius"`
	ReadingUnits   lenient.String `json:"ReadingUnits"`
	UpperCritical  number         `json:"UpperThresholdCritical"`
	UpperCaution   number         `json:"UpperThresholdNonCritical"`
	LowerCritical  number         `json:"LowerThresholdCritical"`
	LowerCaution   number         `json:"LowerThresholdNonCritical"`
}

func (l *limited) part(kind rules.Kind) rules.Part {
	if l.Name == "" {
		l.Name = l.FanName
	}
	p := l.common.part(rules.Cooling, kind, "")
	p.Value, p.Unit = value(l.Reading), clip(string(l.ReadingUnits))
	if kind == rules.Temperature {
		p.Value, p.Unit = value(l.ReadingCelsius), "Cel"
	}
	p.UpperCritical, p.UpperCaution = value(l.UpperCritical), value(l.UpperCaution)
	p.LowerCritical, p.LowerCaution = value(l.LowerCritical), value(l.LowerCaution)
	return p
}

// power is the older resource with all supplies.
type power struct {
	PowerSupplies lenient.List[supply] `json:"PowerSupplies"`
}

type supply struct {
	common

	Oem struct {
		Hpe hpeSupply `json:"Hpe"`
		Hp  hpeSupply `json:"Hp"`
	} `json:"Oem"`
}

type hpeSupply struct {
	PowerSupplyStatus struct {
		State lenient.String `json:"State"`
	} `json:"PowerSupplyStatus"`
}

func (s *supply) part(path string) rules.Part {
	p := s.common.part(rules.Power, rules.Supply, path)
	p.VendorState = clip(string(s.Oem.Hpe.PowerSupplyStatus.State + s.Oem.Hp.PowerSupplyStatus.State))
	return p
}

// subsystem is a PowerSubsystem or ThermalSubsystem.
type subsystem struct {
	common

	PowerSupplies lenient.Link `json:"PowerSupplies"`
	Fans          lenient.Link `json:"Fans"`
	Metrics       lenient.Link `json:"ThermalMetrics"`
	LeakDetection lenient.Link `json:"LeakDetection"`
}

// leaks is a LeakDetection.
type leaks struct {
	common

	Detectors lenient.Link `json:"LeakDetectors"`
}

// sensor is a Sensor.
type sensor struct {
	common

	Reading    number         `json:"Reading"`
	Type       lenient.String `json:"ReadingType"`
	Units      lenient.String `json:"ReadingUnits"`
	Context    lenient.String `json:"PhysicalContext"`
	Thresholds struct {
		UpperCritical threshold `json:"UpperCritical"`
		UpperCaution  threshold `json:"UpperCaution"`
		LowerCritical threshold `json:"LowerCritical"`
		LowerCaution  threshold `json:"LowerCaution"`
	} `json:"Thresholds"`
}

type threshold struct {
	Reading number `json:"Reading"`
}

// part is the sensor as a part that cools, or shows whether it is cool; others do not
// count.
func (s *sensor) part(path string) (p rules.Part, counts bool) {
	kind := rules.Temperature
	switch {
	case strings.EqualFold(string(s.Type), "Rotational"), strings.EqualFold(string(s.Context), "Fan"):
		kind = rules.Fan
	case !strings.EqualFold(string(s.Type), "Temperature"):
		return p, false
	}
	p = s.common.part(rules.Cooling, kind, path)
	t := s.Thresholds
	p.Value, p.Unit = value(s.Reading), clip(string(s.Units))
	p.UpperCritical, p.UpperCaution = value(t.UpperCritical.Reading), value(t.UpperCaution.Reading)
	p.LowerCritical, p.LowerCaution = value(t.LowerCritical.Reading), value(t.LowerCaution.Reading)
	return p, true
}

// storage is a Storage with links to its drives, as is a Volumes collection.
type storage struct {
	common

	Drives      lenient.List[lenient.Link] `json:"Drives"`
	Volumes     lenient.Link               `json:"Volumes"`
	Controllers lenient.List[common]       `json:"StorageControllers"`
	// Apart are the controllers of newer services, each with a resource of its own.
	Apart lenient.Link `json:"Controllers"`
}

// member is any part that has a resource of its own.
type member struct {
	common

	DeviceLocator    lenient.String `json:"DeviceLocator"`
	Socket           lenient.String `json:"Socket"`
	FailurePredicted lenient.Bool   `json:"FailurePredicted"`
	LifeLeft         number         `json:"PredictedMediaLifeLeftPercent"`
	MediaType        lenient.String `json:"MediaType"`
	Oem              struct {
		Dell struct {
			PhysicalDisk struct {
				Spare number `json:"AvailableSparePercent"`
			} `json:"DellPhysicalDisk"`
		} `json:"Dell"`
	} `json:"Oem"`
}

func (m *member) part(domain rules.Domain, kind rules.Kind, path string) rules.Part {
	p := m.common.part(domain, kind, path)
	if name := string(m.DeviceLocator + m.Socket); name != "" && kind != rules.Drive {
		p.Name = clip(name)
	}
	p.FailurePredicted, p.LifeLeft = bool(m.FailurePredicted), value(m.LifeLeft)
	switch {
	case strings.EqualFold(string(m.MediaType), "HDD"): // it has no wear, and some BMCs write 0
		p.LifeLeft = nil
	case p.LifeLeft != nil && *p.LifeLeft == 0 && atBOSS(path) && rules.State(p.Health) == v1alpha1.HealthOK:
		p.LifeLeft = nil
		if spare := value(m.Oem.Dell.PhysicalDisk.Spare); spare != nil && *spare > 0 {
			p.LifeLeft = spare
		}
	}
	return p
}

// atBOSS tells that a drive is at one of Dell's cards to boot from: its iDRAC writes 0 for
// drives whose wear it does not know, and calls them well. What is left of their spare
// blocks it may know.
func atBOSS(path string) bool {
	return strings.Contains(path, "AHCI.") || strings.Contains(path, "BOSS.")
}

// longest is the most that is kept of a text, in bytes.
const longest = 256

// clip is a text that a BMC chose in one line, cut, without what would command a
// terminal or turn what it shows.
func clip(text string) string {
	if len(text) > 4*longest {
		text = text[:4*longest]
	}
	text = lenient.Printable(text)
	if len(text) > longest {
		text = text[:longest]
	}
	return strings.Clone(strings.ToValidUTF8(text, ""))
}
