// Command actor is a service that plays a script, for tests of whatever manages
// services. Each argument is one action; its value may use Go escapes such as \xff:
//
//	ready            sd_notify READY=1
//	stopping         sd_notify STOPPING=1
//	reloading        sd_notify RELOADING=1
//	status=TEXT      sd_notify STATUS=TEXT
//	flood=N          N different status texts as fast as possible
//	print=TEXT       a line on stdout
//	sleep=DURATION   wait
//	wait=FILE        wait until FILE exists below IRONFLOW_ROOT
//	touch=FILE       create FILE below IRONFLOW_ROOT
//	env=NAME=FILE    write the value of a variable to FILE
//	marker           write the done marker of this boot and invocation
//	reason=TEXT      write the reason file with this text
//	once=FILE        skip the rest of the script if FILE exists, else create it
//	deaf             ignore SIGTERM from now on
//	child            leave a child process behind that sleeps
//	alloc=N          take N MiB of memory and use them
//	kill=N           send signal N to itself
//	exit=N           end with status N
//
// After the last action it waits for SIGTERM and ends with 0.
package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ironflow/ironflow/api/hostfile"
)

func main() {
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, action := range os.Args[1:] {
			if !play(action) {
				return
			}
		}
	}()
	for {
		select {
		case <-term:
			if !deaf {
				os.Exit(0)
			}
		case <-done:
			done = nil
		}
	}
}

// deaf is set once by the script, before the first SIGTERM that matters.
var deaf bool

// hoard is what the script has taken, so that it is not given back.
var hoard [][]byte

// play does one action and tells whether the script goes on.
func play(action string) bool {
	host := hostfile.FromEnv()
	verb, value, _ := strings.Cut(action, "=")
	if text, err := strconv.Unquote(`"` + value + `"`); err == nil {
		value = text
	}
	n, _ := strconv.Atoi(value)
	var err error
	switch verb {
	case "ready", "stopping", "reloading":
		err = notify(strings.ToUpper(verb) + "=1")
	case "status":
		err = notify("STATUS=" + value)
	case "flood":
		for i := range n {
			err = notify("STATUS=flood " + strconv.Itoa(i+1))
		}
	case "print":
		fmt.Println(value)
	case "sleep":
		d, _ := time.ParseDuration(value)
		<-time.After(d)
	case "wait":
		for {
			if _, err := os.Stat(host.Path(value)); err == nil { //nolint:gosec // a path of the test, below its own root
				break
			}
			<-time.After(10 * time.Millisecond)
		}
	case "touch":
		err = os.WriteFile(host.Path(value), nil, 0o644) //nolint:gosec // a path of the test, below its own root
	case "env":
		name, file, _ := strings.Cut(value, "=")
		err = os.WriteFile(host.Path(file), []byte(os.Getenv(name)), 0o644) //nolint:gosec // a path of the test, below its own root
	case "marker":
		err = marker(host)
	case "reason":
		id, _ := host.BootID()
		err = host.Write(hostfile.ReasonFile, hostfile.Reason{BootID: id, Text: value, Time: time.Now()})
	case "once":
		if _, err := os.Stat(host.Path(value)); err == nil { //nolint:gosec // a path of the test, below its own root
			return false
		}
		err = os.WriteFile(host.Path(value), nil, 0o644) //nolint:gosec // a path of the test, below its own root
	case "deaf":
		deaf = true
	case "child":
		err = exec.CommandContext(context.Background(), "/bin/sleep", "1000").Start()
	case "alloc":
		for range n {
			hoard = append(hoard, bytes.Repeat([]byte{1}, 1<<20))
		}
	case "kill":
		signal.Reset(syscall.Signal(n))
		err = syscall.Kill(os.Getpid(), syscall.Signal(n))
		<-time.After(time.Minute)
	case "exit":
		os.Exit(n)
	default:
		err = fmt.Errorf("unknown action")
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", action, err)
		os.Exit(101)
	}
	return true
}

func marker(host hostfile.Dir) error {
	id, err := host.BootID()
	if err != nil {
		return err
	}
	return host.Write(hostfile.InstalledFile, hostfile.Installed{
		BootID: id, InvocationID: os.Getenv("INVOCATION_ID"), Disk: "/dev/vda", Time: time.Now(),
	})
}

func notify(state string) error {
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: os.Getenv("NOTIFY_SOCKET"), Net: "unixgram"})
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	_, err = conn.Write([]byte(state))
	return err
}
