package simulator

import (
	"fmt"
	"net/http"
	"time"
)

// jobRoutes show the tasks as jobs, at the standard's place and at Dell's.
var jobRoutes = map[string]handler{
	"GET /redfish/v1/JobService":                                getJobService,
	"GET /redfish/v1/JobService/Jobs":                           listJobs,
	"GET /redfish/v1/JobService/Jobs/{task}":                    getJob,
	"DELETE /redfish/v1/JobService/Jobs/{task}":                 deleteTask,
	"GET /redfish/v1/Managers/{system}/Oem/Dell/Jobs":           listJobs,
	"GET /redfish/v1/Managers/{system}/Oem/Dell/Jobs/{task}":    getJob,
	"DELETE /redfish/v1/Managers/{system}/Oem/Dell/Jobs/{task}": deleteTask,
}

// AddJob queues a job that somebody else wants done at the next reset of a
// system, and returns its Id.
func (s *Server) AddJob(id, name string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sys, err := s.system(id)
	if err != nil {
		return "", err
	}
	return s.begin(sys, job{name: name, waits: taskPending, run: func() error { return nil }}).id, nil
}

// waits says whether a job of the system waits for a reset; the lock is held.
func (s *Server) waits(sys *system) bool {
	for _, t := range s.tasks.order {
		if t.sys == sys && !t.over() && t.state == taskPending {
			return true
		}
	}
	return false
}

func getJobService(*call) (reply, error) {
	return ok(resource("JobService.v1_1_1.JobService", "JobService", "Job Service", path("JobService"), object{
		"ServiceEnabled": true, "Status": status("OK"), "Jobs": link("JobService", "Jobs"),
	}))
}

// jobHome is where the request found the jobs.
func (c *call) jobHome() ([]string, error) {
	if c.sys == nil {
		return []string{"JobService", "Jobs"}, nil
	}
	if c.sys.Vendor != Dell {
		return nil, notFound(c.r.URL.Path)
	}
	return []string{"Managers", c.sys.ManagerID, "Oem", "Dell", "Jobs"}, nil
}

func listJobs(c *call) (reply, error) {
	home, err := c.jobHome()
	if err != nil {
		return reply{}, err
	}
	var ids []string
	for _, t := range c.s.tasks.order {
		if !t.lost {
			ids = append(ids, t.id)
		}
	}
	return ok(collection("Job", "Jobs", path(home...), links(ids, home...)))
}

// jobStates are the states of tasks as those of jobs.
var jobStates = map[string]string{taskPending: "Scheduled", taskStarting: "Scheduled"}

func getJob(c *call) (reply, error) {
	home, err := c.jobHome()
	if err != nil {
		return reply{}, err
	}
	t, err := c.task()
	if err != nil {
		return reply{}, err
	}
	state := t.state
	if other, is := jobStates[state]; is {
		state = other
	}
	body := resource("Job.v1_2_4.Job", t.id, t.name, path(append(home, t.id)...), object{
		"JobState": state, "JobStatus": t.health(), "PercentComplete": t.percent, "StartTime": t.since.UTC().Format(time.RFC3339), "Messages": []object{},
	})
	if c.sys != nil {
		body["Message"], body["JobType"] = t.message, "Configuration"
	}
	return ok(body)
}

// deleteTask cancels a task, as a task or as a job.
func deleteTask(c *call) (reply, error) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	t, err := c.task()
	if err != nil {
		return reply{}, err
	}
	if !t.over() {
		t.finish(taskCancelled, t.name+" was cancelled.")
	}
	t.lost = true
	return done()
}

// A task that becomes a job has this message, with the job's address.
const transitionedToJob = "Base.1.18.OperationTransitionedToJob"

// moved turns a task's answer into one that is Completed and names a job.
func moved(body object) {
	id, _ := body["Id"].(string)
	address := path("JobService", "Jobs", id)
	body["TaskState"], body["TaskStatus"] = taskCompleted, "OK"
	body["Messages"] = []object{{
		"MessageId": transitionedToJob, "MessageArgs": []string{address}, "Message": fmt.Sprintf("The operation has transitioned to a job at URI '%s'.", address), "Severity": "OK",
	}}
}

// notYet answers 404 on a task that was just made.
func notYet(c *call) error {
	return fault(http.StatusNotFound, missingResource, "The resource at the URI %s was not found.", c.r.URL.Path)
}

// pendingJob refuses what a waiting job stands in the way of.
func pendingJob(*call) error {
	return oem(http.StatusConflict, "IDRAC.2.8.RAC0601", "A pending configuration is already committed: delete the job or restart the server to apply it.")
}
