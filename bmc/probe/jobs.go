package probe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/bmc/lenient"
)

// mostJobs bounds how many jobs are read; the newest count.
const mostJobs = 3

// jobs looks for what others have left to be done. Dell's queue hangs on the manager;
// elsewhere there is a job service, or tasks.
func (p *probe) jobs() {
	root := p.root.value
	if root.Tasks.Path != "" {
		p.set(yes(Tasks, "", at(servicePath, "Tasks")))
	} else {
		p.set(no(Tasks, "Tasks of the service root is not offered"))
	}
	queue := p.manager.value.Links.Oem.Dell.Jobs
	switch {
	case queue.Path != "":
		p.set(yes(Jobs, "", at(p.manager.path, "Links.Oem.Dell.Jobs")))
	case root.JobService.Path != "":
		service := get[jobService](p, root.JobService)
		queue = service.value.Jobs
		p.set(yes(Jobs, "", at(servicePath, "JobService")))
	case p.manager.err != nil:
		p.set(p.manager.missing(Jobs, "the manager"))
	default:
		p.set(no(Jobs, "JobService of the service root is not offered"))
	}
	if queue.Path == "" {
		queue = get[taskService](p, root.Tasks).value.Tasks
	}
	if queue.Path != "" {
		p.readJobs(queue)
	}
}

func (p *probe) readJobs(queue lenient.Link) {
	listed := getList(p, queue, true)
	if !listed.read() {
		p.remark("Jobs that wait are not known: " + why(listed.err))
		return
	}
	all := links[job](listed.value.members)
	order := inOrder(len(all))
	slices.Reverse(order)
	if unread := fill(p, all, order, p.budget.most(mostJobs), keptForDrives, nil); unread > 0 {
		p.remark(fmt.Sprintf("%d of %d jobs were not read, to spare the BMC.", unread, len(all)))
	}
	for _, f := range all {
		if f.read() && waits(f.value) && len(p.report.PendingJobs) < mostValues {
			state := firstOf(f.value.JobState, f.value.TaskState)
			p.report.PendingJobs = append(p.report.PendingJobs, fmt.Sprintf("%s: %s (%s)", idOf(f.value.ID, f.path), firstOf(f.value.Name, "job"), state))
		}
	}
}

// keptForDrives is what jobs leave to the drives.
const keptForDrives = 2

// over are the beginnings of states of jobs and tasks that are at their end.
var over = []string{"completed", "exception", "killed", "cancelled", "canceled", "failed", "invalid", "rebootcompleted", "rebootfailed"}

// waits reports whether a job is still to be done.
func waits(j job) bool {
	state := strings.ToLower(firstOf(j.JobState, j.TaskState))
	return state != "" && !slices.ContainsFunc(over, func(end string) bool { return strings.HasPrefix(state, end) })
}
