package simulator

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

var taskRoutes = map[string]handler{
	"GET /redfish/v1/TaskService":                      getTaskService,
	"GET /redfish/v1/TaskService/Tasks":                listTasks,
	"GET /redfish/v1/TaskService/Tasks/{task}":         getTask,
	"DELETE /redfish/v1/TaskService/Tasks/{task}":      deleteTask,
	"GET /redfish/v1/TaskService/TaskMonitors/{task}":  getTaskMonitor,
	"GET /redfish/v1/TaskService/Tasks/{task}/Monitor": getTaskMonitor,
}

// keptTasks is how many tasks that have ended are remembered.
const keptTasks = 200

// tasks are the work that goes on after its request was answered.
type tasks struct {
	byID  map[string]*task
	order []*task
}

// job is work to be done for a system.
type job struct {
	name string
	// waits is the state in which it waits for the next reset of its system, or
	// empty if it runs at once.
	waits string
	// run does the work when its time has come, end follows whatever came of it,
	// unless nil; the lock is held.
	run func() error
	end func()
}

// task is a job under way.
type task struct {
	job
	id           string
	sys          *system
	state        string
	message      string // at the end
	since, until time.Time
	percent      int
	lost         bool // its monitor is not found
}

// The states that tasks go through (Task.TaskState). Pending waits for a reset of
// the system; Starting does too, for a firmware update, as iDRAC and iLO show it.
const (
	taskPending   = "Pending"
	taskStarting  = "Starting"
	taskRunning   = "Running"
	taskCompleted = "Completed"
	taskException = "Exception"
	taskCancelled = "Cancelled"
)

// over says whether a task has ended.
func (t *task) over() bool { return !t.until.IsZero() }

// health is the task's TaskStatus.
func (t *task) health() string {
	if t.state == taskException {
		return "Critical"
	}
	return "OK"
}

// begin makes a task of a job; the lock is held.
func (s *Server) begin(sys *system, j job) *task {
	t := &task{job: j, id: strconv.Itoa(s.next()), sys: sys, state: j.waits, since: time.Now(), lost: sys.strikes(TaskLost)}
	s.tasks.byID[t.id] = t
	s.tasks.order = append(s.tasks.order, t)
	s.tasks.forget()
	if j.waits == "" {
		s.start(t)
	}
	return t
}

// start lets a task run and end; the lock is held.
func (s *Server) start(t *task) {
	t.state, t.percent = taskRunning, 50
	s.after(t.sys.delays.Task, func() {
		if t.over() {
			return
		}
		var err error
		if t.sys.strikes(TaskFails) {
			err = fmt.Errorf("%s failed for a reason that the BMC keeps to itself", t.name)
		} else {
			err = t.run()
		}
		event := Event{Type: "StatusChange", MessageID: "TaskEvent.1.0.TaskCompletedOK", Severity: "OK", Message: t.name + " has completed."}
		state := taskCompleted
		if err != nil {
			state, event.MessageID, event.Severity, event.Message = taskException, "TaskEvent.1.0.TaskAborted", "Critical", err.Error()
		}
		t.finish(state, event.Message)
		s.note(t.sys, event)
	})
}

// finish ends a task in a state with a message.
func (t *task) finish(state, message string) {
	t.state, t.message, t.until, t.percent = state, message, time.Now(), 100
	if t.end != nil {
		t.end()
	}
}

// reset starts the tasks that have waited for a reset of the system, in their
// order; the lock is held.
func (l *tasks) reset(s *Server, sys *system) {
	for _, t := range l.order {
		if t.sys == sys && !t.over() && (t.state == taskPending || t.state == taskStarting) {
			s.start(t)
		}
	}
}

// forget drops the oldest tasks that have ended.
func (l *tasks) forget() {
	for len(l.order) > keptTasks && l.order[0].over() {
		delete(l.byID, l.order[0].id)
		l.order = l.order[1:]
	}
}

// accepted answers with a task: 202 and the task monitor's address.
func (c *call) accepted(t *task) reply {
	r := reply{status: http.StatusAccepted, location: path("TaskService", "TaskMonitors", t.id)}
	if t.sys.has(TaskMonitorPath) {
		r.location = path("TaskService", "Tasks", t.id, "Monitor")
	}
	if t.sys.strikes(TaskWithoutLocation) {
		r.location = ""
	}
	return r
}

func getTaskService(*call) (reply, error) {
	return ok(resource("TaskService.v1_2_1.TaskService", "TaskService", "Task Service", path("TaskService"), object{
		"ServiceEnabled": true, "Status": status("OK"), "Tasks": link("TaskService", "Tasks"),
		"CompletedTaskOverWritePolicy": "Oldest", "LifeCycleEventOnTaskStateChange": true,
	}))
}

func listTasks(c *call) (reply, error) {
	var ids []string
	for _, t := range c.s.tasks.order {
		if !t.lost {
			ids = append(ids, t.id)
		}
	}
	return ok(collection("Task", "Tasks", path("TaskService", "Tasks"), links(ids, "TaskService", "Tasks")))
}

func (t *task) object() object {
	messages := []object{}
	if t.message != "" {
		messages = append(messages, object{"MessageId": "Base.1.18." + generalError, "Message": t.message, "Severity": t.health()})
	}
	body := resource("Task.v1_7_4.Task", t.id, t.name, path("TaskService", "Tasks", t.id), object{
		"TaskState": t.state, "TaskStatus": t.health(), "PercentComplete": t.percent, "Messages": messages,
		"StartTime": t.since.UTC().Format(time.RFC3339), "TaskMonitor": path("TaskService", "TaskMonitors", t.id),
	})
	if t.over() {
		body["EndTime"] = t.until.UTC().Format(time.RFC3339)
	}
	return body
}

// task finds the task of the request; the lock is held.
func (c *call) task() (*task, error) {
	t := c.s.tasks.byID[c.r.PathValue("task")]
	if t == nil || t.lost {
		return nil, notFound(c.r.URL.Path)
	}
	return t, nil
}

func getTask(c *call) (reply, error) {
	t, err := c.task()
	if err != nil {
		return reply{}, err
	}
	return ok(t.object())
}

// getTaskMonitor answers 202 while the task goes on. Afterwards it answers with
// the task, as most BMCs do and Ironic expects, and not with the result of the
// work, as DSP0266 has it.
func getTaskMonitor(c *call) (reply, error) {
	t, err := c.task()
	if err != nil {
		return reply{}, err
	}
	if !t.over() {
		return reply{status: http.StatusAccepted, body: t.object(), location: c.r.URL.Path}, nil
	}
	t.lost = t.sys.has(TaskGoneAfterRead)
	return ok(t.object())
}
