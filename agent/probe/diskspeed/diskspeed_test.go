package diskspeed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/source"
	"github.com/ironflow/ironflow/test/needs"
)

const wanted = "/dev/disk/by-id/wwn-0x5000c500a1b2c3d4"

// loop makes a loop device over a file in memory that is full of ones.
func loop(t *testing.T, bytesLong int) (device, file string) {
	t.Helper()
	losetup := needs.Program(t, "losetup", "util-linux")
	if os.Getuid() != 0 {
		if os.Getenv("CI") == "true" {
			t.Fatal("a loop device needs root")
		}
		t.Skip("a loop device needs root")
	}
	// In memory: the speed of the machine's disk is not the test's.
	f, err := os.CreateTemp("/dev/shm", "disk")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(f.Name()) })
	if _, err := f.Write(bytes.Repeat([]byte{0xff}, bytesLong)); err != nil {
		t.Fatal(err)
	}
	f.Close()
	out, err := exec.CommandContext(t.Context(), losetup, "--find", "--show", f.Name()).CombinedOutput()
	if err != nil {
		t.Fatalf("losetup: %v: %s", err, out)
	}
	device = strings.TrimSpace(string(out))
	t.Cleanup(func() {
		if out, err := exec.Command(losetup, "--detach", device).CombinedOutput(); err != nil {
			t.Errorf("losetup: %v: %s", err, out)
		}
	})
	return device, f.Name()
}

func run(t *testing.T, device string, args ...string) steps.Result {
	t.Helper()
	env := probe.Env{Dir: hostfile.Dir{}, Device: func(path string) (string, error) {
		if path != wanted {
			return "", errors.New("no such disk")
		}
		return device, nil
	}}
	return Check.Runner(env).Run(t.Context(), args)
}

func TestARealDisk(t *testing.T) {
	g := NewWithT(t)
	device, file := loop(t, 32<<20)
	result := run(t, device, `{"path":"`+wanted+`"}`, "480.00")
	g.Expect(result.Error).To(BeEmpty())
	g.Expect(result.Exit).To(BeZero())
	var out map[string]any
	g.Expect(json.Unmarshal([]byte(result.Output), &out)).To(Succeed())
	g.Expect(out).To(HaveKeyWithValue("path", wanted))
	if duration, there := out["io_sync_duration"]; there { // left out below a millisecond
		g.Expect(duration).To(BeNumerically(">=", 1))
		g.Expect(duration).To(Equal(float64(int(duration.(float64)))), "whole milliseconds")
	}

	const written = writtenBytes / block * block
	content, err := os.ReadFile(file)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(bytes.Equal(content[:written], make([]byte, written))).To(BeTrue(), "the start of the disk is overwritten")
	g.Expect(bytes.Equal(content[written:], bytes.Repeat([]byte{0xff}, len(content)-written))).To(BeTrue(), "and nothing else")
}

func TestALimitThatRunsOut(t *testing.T) {
	g := NewWithT(t)
	device, _ := loop(t, 32<<20)
	result := run(t, device, `{"path":"`+wanted+`"}`, "0.001")
	g.Expect(result.Exit).To(BeEquivalentTo(124))
	g.Expect(result.Output).To(BeEmpty())
	g.Expect(result.Error).To(Equal("the disk did not take 2 x 22 MiB within 1ms"))
}

func TestADiskOnWhichAllRunsFail(t *testing.T) {
	g := NewWithT(t)
	device, _ := loop(t, 1<<20)
	result := run(t, device, `{"path":"`+wanted+`"}`)
	g.Expect(result.Exit).To(BeEquivalentTo(-1))
	g.Expect(result.Output).To(MatchJSON(`{"path":"`+wanted+`"}`), "the form stays, the duration is zero")
	g.Expect(result.Error).To(HavePrefix("measure " + wanted + ": write " + device + ": no space left on device"))
}

func TestADiskInUseIsNotTouched(t *testing.T) {
	g := NewWithT(t)
	device, file := loop(t, 32<<20)
	folder := t.TempDir()
	for program, args := range map[string][]string{"mkfs.ext4": {"-q", device}} {
		out, err := exec.CommandContext(t.Context(), needs.Program(t, program, "e2fsprogs"), args...).CombinedOutput()
		g.Expect(err).NotTo(HaveOccurred(), "%s", out)
	}
	out, err := exec.CommandContext(t.Context(), needs.Program(t, "mount", "mount"), device, folder).CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), "%s", out)
	result := run(t, device, `{"path":"`+wanted+`"}`)
	out, err = exec.CommandContext(t.Context(), "umount", folder).CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), "%s", out)
	g.Expect(result.Exit).To(BeEquivalentTo(-1))
	g.Expect(result.Error).To(Equal(device + " is in use: something of it is mounted at " + folder))
	content, err := os.ReadFile(file)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(content[0x438:0x43a]).To(Equal([]byte{0x53, 0xef}), "the file system is still there")
}

// What is mounted need not be the disk itself.
func TestWhatIsBuiltOnTheDiskIsLookedAtToo(t *testing.T) {
	const root = "22 1 %s / / rw - ext4 /dev/x rw\n"
	disk := map[string]string{
		"sys/block/sda/dev": "8:0\n", "sys/block/sda/sda1/dev": "8:1\n", "sys/block/sda/sda1/partition": "1\n", "sys/block/sda/queue/x": "",
		"sys/block/sda/sda1/holders/dm-0/x": "", "sys/block/dm-0/dev": "253:0\n", "sys/block/dm-0/holders/dm-1/x": "", "sys/block/dm-1/dev": "253:1\n",
		"sys/class/block/sda1/dev": "8:1\n", "proc/1/mountinfo": "", "proc/self/mountinfo": "",
	}
	for name, tc := range map[string]struct {
		files map[string]string
		want  string
	}{
		"nothing":                         {nil, ""},
		"another disk":                    {map[string]string{"proc/1/mountinfo": fmt.Sprintf(root, "8:16")}, ""},
		"a partition":                     {map[string]string{"proc/1/mountinfo": fmt.Sprintf(root, "8:1")}, "mounted at /"},
		"a volume on it":                  {map[string]string{"proc/1/mountinfo": fmt.Sprintf(root, "253:1")}, "mounted at /"},
		"only where this program can see": {map[string]string{"proc/self/mountinfo": fmt.Sprintf(root, "8:1")}, "mounted at /"},
		"Btrfs":                           {map[string]string{"proc/1/mountinfo": "22 1 0:31 / /srv rw - btrfs /dev/sda1 rw\n"}, "mounted at /srv"},
		"Btrfs on several disks": {map[string]string{
			"proc/1/mountinfo": "22 1 0:31 / /srv rw - btrfs /dev/sdb rw\n", "sys/fs/btrfs/5f1c/devices/sda1": "", "sys/fs/btrfs/5f1c/devices/sdb": "",
		}, "mounted at /srv"},
		"swap": {map[string]string{"proc/swaps": "Filename Type Size Used Priority\n/dev/sda1 partition 1 0 -2\n"}, "mounted at [SWAP]"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			files := fstest.MapFS{}
			for _, more := range []map[string]string{disk, tc.files} {
				for name, text := range more {
					files[name] = &fstest.MapFile{Data: []byte(text)}
				}
			}
			err := checkUse(source.Machine{Files: files}, "/dev/sda")
			if tc.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError("/dev/sda is in use: something of it is " + tc.want))
			g.Expect(checkUse(source.Machine{Files: files}, "/dev/sda1")).To(MatchError("/dev/sda1 is no whole disk"))
		})
	}
	g := NewWithT(t)
	g.Expect(checkUse(source.Machine{Files: fstest.MapFS{"sys/block/sda/dev": &fstest.MapFile{}}}, "/dev/sda")).To(MatchError(ContainSubstring("look for mounts")),
		"who cannot look must not write")
}

func TestAFileIsNoDisk(t *testing.T) {
	g := NewWithT(t)
	file := filepath.Join(t.TempDir(), "disk")
	g.Expect(os.WriteFile(file, []byte("precious"), 0o600)).To(Succeed())
	for _, device := range []string{file, "/dev/null"} {
		result := run(t, device, `{"path":"`+wanted+`"}`)
		g.Expect(result.Exit).To(BeEquivalentTo(-1))
		g.Expect(result.Error).To(Equal(device + " is no disk"))
	}
	g.Expect(os.ReadFile(file)).To(BeEquivalentTo("precious"))
}

func TestTheWorseOfTheRunsCounts(t *testing.T) {
	for name, tc := range map[string]struct {
		first, second error
		exit          int64
		output        string
	}{
		"both measured": {nil, nil, 0, `{"path":"/dev/sda","io_sync_duration":7}`},
		"one failed":    {errors.New("broken"), nil, 0, `{"path":"/dev/sda","io_sync_duration":7}`},
		"all failed":    {errors.New("broken"), errors.New("broken"), -1, `{"path":"/dev/sda"}`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var calls atomic.Int32
			result := measure(t.Context(), speedRequest{"/dev/sda", time.Minute}, func(context.Context) (time.Duration, error) {
				if calls.Add(1) == 1 {
					if tc.first != nil {
						return 0, tc.first
					}
					return 3 * time.Millisecond, nil
				}
				if tc.second != nil {
					return 0, tc.second
				}
				return 7900 * time.Microsecond, nil
			})
			g.Expect(calls.Load()).To(BeEquivalentTo(2), "two runs")
			g.Expect(result.Exit).To(Equal(tc.exit))
			g.Expect(result.Output).To(MatchJSON(tc.output))
		})
	}
}

// A disk that hangs holds the answer up no longer than the limit.
func TestADiskThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		release := make(chan struct{})
		defer close(release)
		start := time.Now()
		result := measure(t.Context(), speedRequest{"/dev/sda", 8 * time.Minute}, func(context.Context) (time.Duration, error) { <-release; return 0, nil })
		g.Expect(result.Exit).To(BeEquivalentTo(124))
		g.Expect(time.Since(start)).To(Equal(8 * time.Minute))
	})
}

// The installer waits for the end of a measurement that it has stopped: nothing
// may be written to the disk after that.
func TestAStoppedRunWritesNothingMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(errors.New("the hub installs the disk")) })
		var writing atomic.Int32
		result := measure(ctx, speedRequest{"/dev/sda", 8 * time.Minute}, func(context.Context) (time.Duration, error) {
			writing.Add(1)
			defer writing.Add(-1)
			time.Sleep(20 * time.Second) //nolint:forbidigo // in the bubble's time: a write that takes its time
			return 0, context.Cause(ctx)
		})
		g.Expect(writing.Load()).To(BeZero())
		g.Expect(result.Exit).To(BeEquivalentTo(-1), "it is no time-out")
		g.Expect(result.Error).To(Equal("measure /dev/sda: the hub installs the disk"))
	})
}
