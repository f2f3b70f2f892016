package quirks_test

import (
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/quirks"
)

// Machines as reports name them: those that have quirks, and those next to them.
var (
	idrac8     = quirks.Identity{Vendor: "Dell", Model: "PowerEdge R730", Manager: "iDRAC8", Version: "2.70.70.70"}
	idrac8new  = quirks.Identity{Vendor: "Dell", Model: "PowerEdge R730", Manager: "iDRAC8", Version: "2.75.75.75"}
	idrac9old  = quirks.Identity{Vendor: "Dell", Model: "PowerEdge R740", Manager: "iDRAC9", Version: "5.10.50.00"}
	idrac9html = quirks.Identity{Vendor: "Dell", Model: "PowerEdge R740", Manager: "iDRAC9", Version: "4.40.00.00"}
	idrac9     = quirks.Identity{Vendor: "Dell", Model: "PowerEdge R750", Manager: "iDRAC9", Version: "6.10.30.00"}
	idrac10    = quirks.Identity{Vendor: "Dell", Model: "PowerEdge R770", Manager: "iDRAC10", Version: "1.20.50.50"}
	idrac10new = quirks.Identity{Vendor: "Dell", Model: "PowerEdge R470", Manager: "iDRAC10", Version: "1.20.50.50"}
	ilo4       = quirks.Identity{Vendor: "HPE", Model: "ProLiant DL380 Gen9", Manager: "iLO 4", Version: "2.82"}
	ilo5       = quirks.Identity{Vendor: "HPE", Model: "ProLiant DL385 Gen10 Plus v2", Manager: "iLO 5", Version: "2.72"}
	ilo6old    = quirks.Identity{Vendor: "HPE", Model: "ProLiant DL380 Gen11", Manager: "iLO 6", Version: "1.56"}
	ilo6       = quirks.Identity{Vendor: "HPE", Model: "ProLiant DL380 Gen11", Manager: "iLO 6", Version: "1.57"}
	sr650      = quirks.Identity{Vendor: "Lenovo", Model: "ThinkSystem SR650 V2", Manager: "XCC", Version: "2.83"}
	sr675      = quirks.Identity{Vendor: "Lenovo", Model: "ThinkSystem SR675 V3", Manager: "XCC", Version: "3.10"}
	x10        = quirks.Identity{Vendor: "Supermicro", Model: "X10DRi", Manager: "ASPEED", Version: "3.88"}
	x11        = quirks.Identity{Vendor: "Supermicro", Model: "X11DPU", Manager: "ASPEED", Version: "1.73.6"}
	x12        = quirks.Identity{Vendor: "Supermicro", Model: "X12DPG-QT6", Manager: "ASPEED", Version: "1.01.20"}
	x13        = quirks.Identity{Vendor: "Supermicro", Model: "SYS-821GE-TNHR", Manager: "ASPEED", Version: "11.01.01"}
	dgx        = quirks.Identity{Vendor: "AMI", Model: "DGX H100", Manager: "MegaRAC", Version: "23.11.20"}
	amiBoard   = quirks.Identity{Vendor: "AMI", Model: "Board", Version: "13.2"}
	gb200      = quirks.Identity{Vendor: "NVIDIA", Model: "GB200 NVL", Manager: "OpenBMC", Version: "24.12-8"}
	bluefield  = quirks.Identity{Vendor: "NVIDIA", Model: "BlueField-3 DPU", Manager: "OpenBMC", Version: "24.10-10"}
	blueOld    = quirks.Identity{Vendor: "NVIDIA", Model: "BlueField-3 DPU", Manager: "OpenBMC", Version: "24.04-5"}
	openbmc    = quirks.Identity{Vendor: "OpenBMC", Model: "Board", Manager: "OpenBMC", Version: "2.14.0"}
	gigabyte   = quirks.Identity{Vendor: "Giga Computing", Model: "R263-Z32", Version: "13.06.14"}
	zt         = quirks.Identity{Vendor: "ZT Systems", Model: "Triton", Version: "1.0"}
	cisco      = quirks.Identity{Vendor: "Cisco Systems Inc.", Model: "UCSC-C220-M5SX", Manager: "CIMC", Version: "4.1.3"}
	acme       = quirks.Identity{Vendor: "ACME", Model: "One", Manager: "Other", Version: "1.0"}
)

// having are, for each row, a machine that has the quirk and one that has not, as near
// as there is one. Rows about all BMCs have none: no report lists them.
var having = map[string][2]quirks.Identity{
	"dell-no-etag-on-actions":             {idrac10, idrac9},
	"dell-idrac10-etag-once":              {idrac10new, idrac9},
	"dell-idrac10-gzip-etag":              {idrac10, idrac9},
	"weak-etag-refused":                   {},
	"odd-etags":                           {},
	"lenovo-xcc-etag-required":            {sr650, idrac9},
	"ami-etag-required":                   {dgx, gb200},
	"gigabyte-bios-not-settable":          {gigabyte, amiBoard},
	"dell-idrac9-media-at-system":         {idrac9, idrac9old},
	"dell-idrac10-slot-1":                 {idrac10new, idrac9},
	"dell-idrac9-inserted-after-eject":    {idrac9, idrac10},
	"dell-insert-while-ejecting":          {idrac9, ilo6},
	"dell-idrac10-boot-in-settings":       {idrac10, idrac9},
	"settings-without-boot":               {},
	"dell-idrac-oem-media":                {idrac9old, idrac9},
	"dell-idrac10-oem-media":              {idrac10, idrac9},
	"dell-idrac9-idrac-scheme":            {idrac9, idrac9old},
	"dell-idrac8-media-boot":              {idrac8, idrac8new},
	"dell-idrac9-media-boot":              {idrac9old, idrac9},
	"dell-idrac9-html5-console":           {idrac9html, idrac9old},
	"dell-media-detached":                 {idrac9, sr650},
	"dell-idrac9-iso-not-reachable":       {idrac9, idrac10},
	"supermicro-media-image-only":         {x11, x13},
	"supermicro-plain-media-url":          {x12, x11},
	"supermicro-usbcd":                    {x13, amiBoard},
	"supermicro-override-enabled":         {x11, sr650},
	"supermicro-x13-no-eject-while-empty": {x13, x12},
	"supermicro-x10-no-boot-mode":         {x10, x11},
	"supermicro-iso-config":               {x10, x11},
	"supermicro-pxe-becomes-next":         {x12, amiBoard},
	"lenovo-media-by-patch":               {sr650, idrac9},
	"lenovo-no-lasting-override":          {sr650, x13},
	"lenovo-boot-restoration":             {sr650, x13},
	"lenovo-sr675-restart":                {sr675, sr650},
	"hpe-eject-needs-body":                {ilo5, idrac9},
	"hpe-ilo4-media-without-inserted":     {ilo4, ilo5},
	"openbmc-media-schemes":               {openbmc, dgx},
	"ami-full-boot-override":              {amiBoard, gb200},
	"nvidia-dgx-media-credentials":        {dgx, gb200},
	"media-needs-transfer":                {},
	"no-lasting-override":                 {},
	"hpe-no-changes-during-post":          {ilo6, idrac9},
	"hpe-busy-after-power":                {ilo6, idrac9},
	"dell-idrac10-power-conflict":         {idrac10, idrac9},
	"hpe-gen9-boot-mode":                  {ilo4, ilo5},
	"hpe-missing-members":                 {ilo5, idrac9},
	"hpe-ilo5-no-raid":                    {ilo5, ilo6},
	"hpe-ilo6-raid":                       {ilo6old, ilo6},
	"hpe-ilo6-volume-form":                {ilo6, ilo5},
	"hpe-adapters-after-boot":             {ilo6, idrac9},
	"dell-raid-busy":                      {idrac9, ilo6},
	"dell-pending-jobs":                   {idrac9, sr650},
	"nvidia-registry-bounds":              {gb200, openbmc},
	"nvidia-no-simple-update":             {gb200, bluefield},
	"openbmc-bios-reset-only":             {openbmc, dgx},
	"dell-raid-chassis-restarts":          {idrac8, idrac9},
	"dell-job-not-there-yet":              {idrac9, sr650},
	"dell-task-states":                    {idrac9, sr650},
	"dell-times":                          {idrac9, sr650},
	"dell-host-header":                    {idrac9, idrac8},
	"dell-answer-forms":                   {idrac9, sr650},
	"lenovo-empty-log":                    {sr650, x13},
	"lenovo-task-to-job":                  {sr650, x13},
	"hpe-reset-on-reuse":                  {ilo5, x13},
	"hpe-passing-401":                     {ilo5, x13},
	"nvidia-bluefield-forms":              {bluefield, gb200},
	"nvidia-bluefield-bios":               {blueOld, bluefield},
	"nvidia-stream-members":               {gb200, dgx},
	"ami-no-expand":                       {dgx, gb200},
	"ami-foreign-systems":                 {dgx, amiBoard},
	"offset-refused":                      {},
	"bare-members":                        {cisco, acme},
	"wrong-types":                         {},
	"zt-one-at-a-time":                    {zt, acme},
	"paging-by-skip":                      {},
	"hpe-no-delivery-policy":              {ilo5, idrac9},
	"openbmc-no-event-types":              {gb200, dgx},
	"openbmc-subscription-bounds":         {openbmc, dgx},
	"hpe-insert-answers-early":            {ilo5, idrac9},
	"media-need-licence":                  {},
	"http-boot-without-uri":               {},
	"graceful-ignored":                    {},
	"dell-no-graceful-restart":            {idrac9, idrac10},
	"supermicro-needs-licence":            {x12, idrac9},
	"dell-settings-need-apply-time":       {idrac9, ilo6},
	"pending-settings-forms":              {},
	"registry-names":                      {},
	"accepted-and-not-done":               {},
	"storage-forms":                       {},
	"firmware-entries":                    {},
	"optional-parts":                      {},
	"lists-left-out":                      {},
	"vendor-not-named":                    {},
	"supermicro-boot-progress-ends":       {x13, x11},
	"older-chassis":                       {},
	"ami-supplies-without-health":         {dgx, gb200},
	"log-order":                           {},
	"web-page-answers":                    {},
	"absolute-locations":                  {},
	"lost-answers":                        {},
	"busy-service":                        {},
	"ways-to-log-in":                      {},
	"sessions-end":                        {},
	"dell-sessions-full":                  {idrac9, ilo5},
	"account-lock-out":                    {},
	"factory-password":                    {gb200, ilo5},
	"dell-account-slots":                  {idrac9, idrac10},
	"hpe-new-account-message":             {ilo5, idrac9},
	"nvidia-accounts-not-listed":          {gb200, dgx},
	"new-passwords":                       {},
	"sessions-outlive-passwords":          {},
	"dell-certificate-after-restart":      {idrac9old, idrac9},
	"dell-alerts-off":                     {idrac9, sr650},
	"subscriptions-twice":                 {},
	"subscriptions-lost":                  {},
	"subscription-answers":                {},
	"event-forms":                         {},
	"hpe-events-dropped":                  {ilo5, idrac9},
	"streams-end":                         {},
}

// TestEachRowHasItsBMC: the row is found for the BMC that it is about, and not for the
// one next to it. Without the row this fails.
func TestEachRowHasItsBMC(t *testing.T) {
	table := quirks.New()
	for id, machines := range having {
		t.Run(id, func(t *testing.T) {
			g := NewWithT(t)
			i := slices.IndexFunc(table.Rows(), func(r quirks.Row) bool { return r.ID == id })
			g.Expect(i).To(BeNumerically(">=", 0), "there is no such row")
			if row := table.Rows()[i]; machines[0] == (quirks.Identity{}) {
				g.Expect(row.General()).To(BeTrue(), "no machine is named that has it")
				return
			}
			g.Expect(ids(table, machines[0])).To(ContainElement(id))
			g.Expect(ids(table, machines[1])).NotTo(ContainElement(id))
		})
	}
	for _, row := range table.Rows() {
		NewWithT(t).Expect(having).To(HaveKey(row.ID), "no machine is named that has it")
	}
}
