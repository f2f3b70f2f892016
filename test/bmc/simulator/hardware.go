package simulator

import (
	"fmt"
	"slices"
)

func listNICs(c *call) (reply, error) {
	ids := make([]string, 0, len(c.sys.NICs))
	for _, nic := range c.sys.NICs {
		ids = append(ids, nic.MAC)
	}
	return ok(collection("EthernetInterface", "Ethernet Interfaces", path("Systems", c.sys.ID, "EthernetInterfaces"),
		links(ids, "Systems", c.sys.ID, "EthernetInterfaces")))
}

func getNIC(c *call) (reply, error) {
	id := c.r.PathValue("nic")
	i := slices.IndexFunc(c.sys.NICs, func(nic NIC) bool { return nic.MAC == id })
	if i < 0 {
		return reply{}, notFound(c.r.URL.Path)
	}
	nic := c.sys.NICs[i]
	return ok(resource("EthernetInterface.v1_12_1.EthernetInterface", id, "NIC "+id, path("Systems", c.sys.ID, "EthernetInterfaces", id), object{
		"MACAddress": nic.MAC, "PermanentMACAddress": nic.MAC, "SpeedMbps": nic.SpeedMbps, "LinkStatus": "LinkUp",
		"InterfaceEnabled": true, "Status": status("OK"),
	}))
}

// processorModel is what all processors are called.
const processorModel = "Simulated CPU"

func listProcessors(c *call) (reply, error) {
	ids := make([]string, 0, c.sys.Processors)
	for i := range c.sys.Processors {
		ids = append(ids, processorID(i))
	}
	return ok(collection("Processor", "Processors", path("Systems", c.sys.ID, "Processors"), links(ids, "Systems", c.sys.ID, "Processors")))
}

func processorID(i int) string { return fmt.Sprintf("CPU%d", i+1) }

func getProcessor(c *call) (reply, error) {
	id := c.r.PathValue("processor")
	for i := range c.sys.Processors {
		if processorID(i) != id {
			continue
		}
		return ok(resource("Processor.v1_19_0.Processor", id, "Processor "+id, path("Systems", c.sys.ID, "Processors", id), object{
			"ProcessorType": "CPU", "ProcessorArchitecture": "x86", "InstructionSet": "x86-64", "Model": processorModel,
			"Manufacturer": "ACME", "MaxSpeedMHz": 2100, "TotalCores": 8, "TotalThreads": 16, "Socket": id, "Status": status("OK"),
		}))
	}
	return reply{}, notFound(c.r.URL.Path)
}
