package contract

import (
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"time"

	. "github.com/onsi/gomega" //nolint:staticcheck // these are tests: matchers read as sentences

	"github.com/ironflow/ironflow/test/bmc/simulator"
	"github.com/ironflow/ironflow/test/bmc/simulator/certificate"
)

func (w *World) storagePath() string { return w.systemPath() + "/Storage/RAID.1" }

// begins starts an update that takes an hour, and returns the answer's Location.
func (w *World) begins() string {
	w.T.Helper()
	answer := w.accepted(http.MethodPost, "/redfish/v1/UpdateService/Actions/UpdateService.SimpleUpdate", map[string]any{"ImageURI": bmcImage})
	return answer.header.Get("Location")
}

// storageQuirks are the cases of storage, tasks and updates.
var storageQuirks = map[simulator.Quirk]func(w *World){
	simulator.VolumesReadOnly: func(w *World) {
		w.Quirk(simulator.VolumesReadOnly, simulator.Always)
		w.Expect(w.Do(http.MethodGet, w.storagePath()+"/Volumes", nil).header.Get("Allow")).NotTo(ContainSubstring("POST"))
		w.refusal(http.StatusMethodNotAllowed, http.MethodPost, w.storagePath()+"/Volumes", map[string]any{})
	},
	simulator.NoVolumes: func(w *World) {
		w.missing(simulator.NoVolumes, w.storagePath(), "Volumes", w.storagePath()+"/Volumes")
	},
	simulator.VolumeLinksOnly: func(w *World) {
		w.Quirk(simulator.VolumeLinksOnly, simulator.Always)
		links := w.drives(2)
		w.Expect(w.create(map[string]any{"RAIDType": "RAID1", "Links": links, "VolumeType": "Mirrored"}).status).To(Equal(refused))
		w.Expect(w.create(map[string]any{"RAIDType": "RAID1", "Drives": links["Drives"]}).status).To(Equal(refused))
		w.Expect(w.create(map[string]any{"RAIDType": "RAID1", "Links": links}).status).To(Equal(http.StatusCreated))
	},
	simulator.NoVolumeApplyTimes: func(w *World) {
		w.Quirk(simulator.NoVolumeApplyTimes, simulator.Always)
		w.Expect(w.get(w.storagePath() + "/Volumes")).NotTo(HaveKey("@Redfish.OperationApplyTimeSupport"))
	},
	simulator.ControllersInline: func(w *World) {
		w.missing(simulator.ControllersInline, w.storagePath(), "Controllers", w.storagePath()+"/Controllers", w.storagePath()+"/Controllers/0")
		w.Expect(w.get(w.storagePath())).To(HaveKeyWithValue("StorageControllers", HaveLen(1)))
	},
	simulator.ControllersApart: func(w *World) {
		w.missing(simulator.ControllersApart, w.storagePath(), "StorageControllers")
		w.get(w.storagePath() + "/Controllers/0")
	},
	simulator.StorageAfterPOST: func(w *World) {
		w.made(simulator.HPE)
		w.Quirk(simulator.StorageAfterPOST, simulator.Always)
		discovery := func() any {
			return at(w.get(w.systemPath()), "Oem", "Hpe", "DeviceDiscoveryComplete", "DeviceDiscovery")
		}
		w.Expect(w.members(w.systemPath() + "/Storage")).To(BeEmpty())
		w.Expect(discovery()).NotTo(Equal("vMainDeviceDiscoveryComplete"))
		w.Boots()
		w.Expect(w.members(w.systemPath() + "/Storage")).To(HaveLen(1))
		w.Expect(discovery()).To(Equal("vMainDeviceDiscoveryComplete"))
	},
	simulator.AdaptersAfterPOST: func(w *World) {
		w.Quirk(simulator.AdaptersAfterPOST, simulator.Always)
		w.refusal(refused, http.MethodGet, w.chassisPath()+"/NetworkAdapters", nil)
		w.Boots()
		w.get(w.chassisPath() + "/NetworkAdapters")
	},
	simulator.TaskStateNew: func(w *World) {
		w.slowSystem(simulator.Delays{Task: time.Hour})
		w.Quirk(simulator.TaskStateNew, simulator.Always)
		w.Expect(w.get(w.begins())).To(HaveKeyWithValue("TaskState", "New"))
	},
	simulator.TaskLate: func(w *World) {
		w.Quirk(simulator.TaskLate, 2)
		task := w.begins()
		for range 2 {
			w.refusal(http.StatusNotFound, http.MethodGet, task, nil)
		}
		w.Expect(w.get(task)).To(HaveKeyWithValue("TaskState", "Completed"))
	},
	simulator.TaskGoneAfterRead: func(w *World) {
		w.Quirk(simulator.TaskGoneAfterRead, simulator.Always)
		task := w.begins()
		w.Expect(w.get(task)).To(HaveKeyWithValue("TaskState", "Completed"))
		w.refusal(http.StatusNotFound, http.MethodGet, task, nil)
	},
	simulator.TaskMovesToJob: func(w *World) {
		w.slowSystem(simulator.Delays{Task: time.Hour})
		w.Quirk(simulator.TaskMovesToJob, simulator.Always)
		task := w.get(w.begins())
		w.Expect(task).To(HaveKeyWithValue("TaskState", "Completed"))
		w.Expect(at(task, "Messages", 0, "MessageId")).To(HaveSuffix(".OperationTransitionedToJob"))
		job, _ := at(task, "Messages", 0, "MessageArgs", 0).(string)
		w.Expect(w.get(job)).To(HaveKeyWithValue("JobState", "Running"))
	},
	simulator.TaskMonitorPath: func(w *World) {
		w.Quirk(simulator.TaskMonitorPath, simulator.Always)
		task := w.begins()
		w.Expect(task).To(MatchRegexp(`/TaskService/Tasks/\d+/Monitor$`))
		w.get(task)
	},
	simulator.NoJobService: func(w *World) {
		w.missing(simulator.NoJobService, "/redfish/v1", "JobService", "/redfish/v1/JobService", "/redfish/v1/JobService/Jobs")
	},
	simulator.NoSimpleUpdate: func(w *World) {
		w.missing(simulator.NoSimpleUpdate, "/redfish/v1/UpdateService", "Actions")
		w.refusal(http.StatusNotFound, http.MethodPost, "/redfish/v1/UpdateService/Actions/UpdateService.SimpleUpdate", map[string]any{"ImageURI": bmcImage})
	},
	simulator.PushUpdates: func(w *World) {
		w.Quirk(simulator.PushUpdates, simulator.Always)
		w.Expect(w.get("/redfish/v1/UpdateService")).To(And(HaveKey("MultipartHttpPushUri"), HaveKey("HttpPushUri"), HaveKey("MaxImageSizeBytes")))
	},
	simulator.InventoryRepeats: func(w *World) {
		w.Quirk(simulator.InventoryRepeats, simulator.Always)
		for _, item := range w.inventory() {
			w.Expect(item.ID).To(Equal("BMC"))
		}
	},
	simulator.InventoryPending: func(w *World) {
		w.Quirk(simulator.InventoryPending, simulator.Always)
		w.Expect(w.inventory()).To(HaveEach(HaveField("ID", HaveSuffix("-Pending"))))
	},
}

// serial is that of the certificate that is shown.
func (w *World) serial() any {
	w.T.Helper()
	return w.get(w.managerPath() + "/NetworkProtocol/HTTPS/Certificates/1")["SerialNumber"]
}

// replaceCertificate brings a certificate with its key, and returns the serial
// number of the one before. The connection may be cut.
func (w *World) replaceCertificate() any {
	w.T.Helper()
	before := w.serial()
	next, err := certificate.SelfSigned([]string{"new.test"}, time.Now().Add(time.Second))
	w.Expect(err).NotTo(HaveOccurred())
	key, err := x509.MarshalPKCS8PrivateKey(next.Current().PrivateKey)
	w.Expect(err).NotTo(HaveOccurred())
	answer, err := w.API.Post(certificateService+"/Actions/CertificateService.ReplaceCertificate", map[string]any{
		"CertificateType": "PEM", "CertificateString": next.PEM() + string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})),
		"CertificateUri": map[string]any{"@odata.id": w.managerPath() + "/NetworkProtocol/HTTPS/Certificates/1"},
	})
	if err == nil {
		w.Expect(answer.Body.Close()).To(Succeed())
	}
	return before
}
