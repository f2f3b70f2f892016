package rules

// Domain is a group of parts that has one row.
type Domain string

// The domains.
const (
	Power     Domain = "Power"
	Cooling   Domain = "Cooling"
	Storage   Domain = "Storage"
	Memory    Domain = "Memory"
	Processor Domain = "Processor"
	Log       Domain = "Log"
	System    Domain = "System"
)

// Domains are all domains, in the order of their rows.
var Domains = []Domain{Power, Cooling, Storage, Memory, Processor, Log, System}

// Kind is what a part is.
type Kind string

// The kinds of parts.
const (
	Supply      Kind = "power supply"
	Fan         Kind = "fan"
	Temperature Kind = "temperature"
	Leak        Kind = "leak detector"
	Drive       Kind = "drive"
	Volume      Kind = "volume"
	Controller  Kind = "controller"
	Module      Kind = "memory module"
	CPU         Kind = "processor"
	// Group sums up the parts of a domain, or some of them.
	Group Kind = "group"
	// Whole is the system itself.
	Whole Kind = "system"
)

// Part is what a BMC shows of one part, as it shows it.
type Part struct {
	Domain Domain
	Kind   Kind
	// ID tells it from others of its domain over the reads: its path, or its name.
	ID string
	// Name is for people, as "Fan 1".
	Name string
	// State, Health and Rollup are of its Status. Empty is not said.
	State, Health, Rollup string
	// Value is a sensor's reading in Unit, nil for none; the limits are nil where none
	// is set.
	Value                       *float64
	Unit                        string
	UpperCritical, UpperCaution *float64
	LowerCritical, LowerCaution *float64
	// FailurePredicted is a drive's own prediction, LifeLeft what is left of it, in
	// percent.
	FailurePredicted bool
	LifeLeft         *float64
	// VendorState is a status of the vendor's own (HPE: PowerSupplyStatus.State).
	VendorState string
}
