package contract

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/gomega" //nolint:staticcheck // these are tests: matchers read as sentences

	"github.com/ironflow/ironflow/test/bmc/simulator"
)

// answerQuirks are the cases of how answers look.
var answerQuirks = map[simulator.Quirk]func(w *World){
	simulator.VendorHidden: func(w *World) {
		w.made(simulator.Supermicro)
		w.missing(simulator.VendorHidden, "/redfish/v1", "Vendor")
	},
	simulator.RootLinksVanish: func(w *World) {
		manager := w.managerPath()
		w.missing(simulator.RootLinksVanish, "/redfish/v1", "Systems")
		w.accepted(http.MethodPost, manager+"/Actions/Manager.Reset", map[string]any{"ResetType": "ForceRestart"})
		w.Expect(w.get("/redfish/v1")).To(HaveKey("Systems"), "a reset brings them back")
	},
	simulator.ForeignSystem: func(w *World) {
		w.Quirk(simulator.ForeignSystem, simulator.Always)
		list := w.members("/redfish/v1/Systems")
		w.Expect(list).To(HaveLen(2))
		w.Expect(list[1]).To(Equal(w.systemPath()))
		w.Expect(w.get(list[0])).NotTo(HaveKey("Boot"))
	},
	simulator.RAIDChassis: func(w *World) {
		w.slowSystem(simulator.Delays{Restart: time.Hour})
		w.Quirk(simulator.RAIDChassis, simulator.Always)
		list := w.members("/redfish/v1/Chassis")
		w.Expect(list[0]).To(ContainSubstring("RAID"))
		_, _, _ = w.raw(list[0]) // cut, and tried again by the client
		w.Expect(w.status(http.MethodGet, w.systemPath(), nil)).To(Equal(http.StatusServiceUnavailable), "it restarts")
	},
	simulator.NoManagedBy: func(w *World) {
		w.Quirk(simulator.NoManagedBy, simulator.Always)
		managers, err := w.System().ManagedBy()
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(managers).To(BeEmpty())
	},
	simulator.Sparse: func(w *World) {
		w.Quirk(simulator.Sparse, simulator.Always)
		w.Expect(w.get(w.managerPath())).NotTo(HaveKey("PowerState"))
		w.Expect(w.get(firstAccount)).NotTo(HaveKey("AccountTypes"))
		w.Expect(w.get(w.storagePath() + "/Drives/Disk.0")).To(HaveKeyWithValue("Status", Equal(map[string]any{"Health": "OK"})))
		w.Expect(w.System().PowerState).NotTo(BeEmpty())
	},
	simulator.URICase: func(w *World) {
		w.Quirk(simulator.URICase, simulator.Always)
		lower := w.members("/redfish/v1/Systems")[0]
		w.Expect(lower).To(Equal(strings.Replace(w.systemPath(), "Systems", "systems", 1)))
		w.Expect(w.get(lower)).To(HaveKeyWithValue("@odata.id", w.systemPath()))
	},
	simulator.OddTimes: func(w *World) {
		w.Quirk(simulator.OddTimes, simulator.Always)
		w.Expect(w.get(w.systemPath())).To(HaveKeyWithValue("LastResetTime", HavePrefix("0000-00-00")))
		w.Expect(w.get(w.managerPath())).To(HaveKeyWithValue("DateTime", HaveSuffix("-0600")))
		w.Expect(w.get(w.members("/redfish/v1/UpdateService/FirmwareInventory")[0])).To(HaveKeyWithValue("ReleaseDate", "00:00:00Z"))
	},
	simulator.OddTypes: func(w *World) {
		w.Quirk(simulator.OddTypes, simulator.Always)
		w.Expect(w.get(w.systemPath() + "/Processors/CPU1")).To(And(HaveKeyWithValue("Socket", 0.0), HaveKeyWithValue("Id", 1.0)))
		w.Expect(at(w.get(w.chassisPath()+"/Thermal"), "Fans", 1, "MemberId")).To(Equal(1.0))
		w.Expect(w.get(w.storagePath() + "/Drives/Disk.0")).To(HaveKeyWithValue("PhysicalLocation", HaveLen(1)))
	},
	simulator.SeverityNormal: func(w *World) {
		w.Quirk(simulator.SeverityNormal, simulator.Always)
		w.Expect(w.Simulator.AddLog(w.ID, simulator.Entry{Event: simulator.Event{Severity: "OK"}})).To(Succeed())
		w.Expect(at(w.get(w.systemPath()+"/LogServices/SEL/Entries"), "Members", 0, "Severity")).To(Equal("Normal"))
		w.Expect(w.heardOf(alert, nil)[0]).To(ContainSubstring(`"Severity":"Normal"`))
	},
	simulator.UUIDEmpty: func(w *World) {
		w.Quirk(simulator.UUIDEmpty, simulator.Always)
		w.Expect(w.get(w.systemPath())).To(HaveKeyWithValue("UUID", ""))
	},
	simulator.MembersBare: func(w *World) {
		w.Quirk(simulator.MembersBare, simulator.Always)
		w.Expect(w.get("/redfish/v1/Systems")).To(HaveKeyWithValue("Members", ConsistOf(w.systemPath())))
	},
	simulator.MembersNull: func(w *World) {
		w.Expect(w.Simulator.SetQuirkAt(w.ID, simulator.MembersNull, simulator.Always, w.chassisPath())).To(Succeed())
		w.Expect(w.get(w.chassisPath() + "/Sensors")).To(HaveKeyWithValue("Members", BeNil()))
		w.Expect(w.get("/redfish/v1/Systems")).To(HaveKeyWithValue("Members", HaveLen(1)), "elsewhere it is off")
	},
	simulator.ExtendedInfoObject: func(w *World) {
		w.Quirk(simulator.ExtendedInfoObject, simulator.Always)
		_, body, err := w.raw(w.systemPath() + "/Nonsense/x")
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(string(body)).To(ContainSubstring("ExtendedInfo\":[")) // no resource, no quirk
		_, body, err = w.raw("/redfish/v1/TaskService/Tasks/none")
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(string(body)).To(ContainSubstring("ExtendedInfo\":{"))
	},
	simulator.ExpandSparse: func(w *World) {
		w.Quirk(simulator.ExpandSparse, simulator.Always)
		w.Expect(at(w.get("/redfish/v1/Systems?$expand=.($levels=1)"), "Members", 0)).To(And(HaveKey("Id"), Not(HaveKey("UUID"))))
		w.Expect(at(w.get("/redfish/v1/Systems"), "Members", 0)).NotTo(HaveKey("Id"))
	},
	simulator.Paged: func(w *World) {
		w.Quirk(simulator.Paged, simulator.Always)
		w.Expect(w.pages(w.chassisPath()+"/Sensors", 10)).To(Equal([]int{2, 2, 1}))
	},
	simulator.NextLinkLoops: func(w *World) {
		w.Quirk(simulator.NextLinkLoops, simulator.Always)
		w.Expect(w.pages(w.chassisPath()+"/Sensors", 4)).To(Equal([]int{2, 2, 2, 2}), "and so on")
	},
	simulator.HostNameRefused: func(w *World) {
		w.System()
		w.Quirk(simulator.HostNameRefused, simulator.Always)
		w.System()
		request, err := http.NewRequestWithContext(w.T.Context(), http.MethodGet, w.URL+"/redfish/v1", http.NoBody)
		w.Expect(err).NotTo(HaveOccurred())
		request.Host = "bmc.test"
		answer, err := w.HTTP.Do(request)
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(answer.Body.Close()).To(Succeed())
		w.Expect(answer.StatusCode).To(Equal(refused))
	},
	simulator.SourcesUnavailable: func(w *World) {
		w.Quirk(simulator.SourcesUnavailable, 1)
		w.Expect(w.refusal(http.StatusServiceUnavailable, http.MethodGet, w.systemPath(), nil)).To(ContainSubstring("SYS518"))
		w.System()
	},
	simulator.ParallelBreaks: func(w *World) {
		w.slowSystem(simulator.Delays{Answer: 20 * time.Millisecond})
		w.Quirk(simulator.ParallelBreaks, simulator.Always)
		var wait sync.WaitGroup
		statuses := make([]int, 4)
		for i := range statuses {
			wait.Go(func() {
				if answer, _, err := w.raw(w.systemPath()); err == nil {
					statuses[i] = answer.StatusCode
				}
			})
		}
		wait.Wait()
		w.Expect(statuses).To(ContainElement(http.StatusInternalServerError))
		w.System()
	},
	simulator.ReusedCut: func(w *World) {
		w.Quirk(simulator.ReusedCut, simulator.Always)
		w.HTTP.CloseIdleConnections()
		request := func() error {
			request, err := http.NewRequestWithContext(w.T.Context(), http.MethodPost, w.URL+sessionsPath, strings.NewReader("{}"))
			w.Expect(err).NotTo(HaveOccurred())
			answer, err := w.HTTP.Do(request)
			if err == nil {
				_, err = io.Copy(io.Discard, answer.Body)
				w.Expect(answer.Body.Close()).To(Succeed())
			}
			return err
		}
		w.Expect(request()).To(Succeed())
		w.Expect(request()).NotTo(Succeed())
		w.Expect(request()).To(Succeed(), "on a new one")
	},
	simulator.AbsoluteLocations: func(w *World) {
		w.Quirk(simulator.AbsoluteLocations, simulator.Always)
		answer := w.accepted(http.MethodPost, subscriptionsPath, destination("Context", "x"))
		w.Expect(answer.header.Get("Location")).To(HavePrefix(w.URL + subscriptionsPath))
	},
	simulator.HTMLAnswer: func(w *World) {
		w.Expect(w.Simulator.SetQuirkAt(w.ID, simulator.HTMLAnswer, 1, "/redfish/v1")).To(Succeed())
		answer, body, err := w.raw("/redfish/v1")
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(answer.Header.Get("Content-Type")).To(Equal("text/html"))
		w.Expect(string(body)).To(HavePrefix("<!DOCTYPE html>"))
	},
	simulator.TruncatedBody: func(w *World) {
		w.Quirk(simulator.TruncatedBody, 1)
		_, _, err := w.raw(w.systemPath())
		w.Expect(err).To(MatchError(io.ErrUnexpectedEOF))
		w.System()
	},
}

// pages follows the pages of a collection, at most so many, and counts their members.
func (w *World) pages(address string, most int) []int {
	w.T.Helper()
	var sizes []int
	for address != "" && len(sizes) < most {
		page := w.get(address)
		members, _ := page["Members"].([]any)
		sizes = append(sizes, len(members))
		address, _ = page["Members@odata.nextLink"].(string)
	}
	return sizes
}
