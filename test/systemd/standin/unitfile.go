package standin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	unitfile "github.com/coreos/go-systemd/v22/unit"

	"github.com/ironflow/ironflow/api/hostfile"
)

// Load states of a unit file.
const (
	loaded     = "loaded"
	notFound   = "not-found"
	masked     = "masked"
	badSetting = "bad-setting"
)

// command is one Exec line.
type command struct {
	// ignoreFailure is the prefix "-".
	ignoreFailure bool
	// noExpand is the prefix ":".
	noExpand bool
	argv     []string
}

// service is the part of a unit file that the stand-in understands.
type service struct {
	loadState      string
	loadError      string
	conditions     []string // ConditionPathExists, with "!" where negated
	typ            string   // simple, exec, notify, oneshot
	startPre       []command
	start          []command
	stopPost       []command
	environment    []string
	envFiles       []string
	workDir        string
	restart        string
	restartAfter   time.Duration
	preventRestart []int
	successStatus  []int
	startTimeout   time.Duration // 0: none
	stopTimeout    time.Duration // 0: none
	limitInterval  time.Duration
	limitBurst     int
}

// loadService reads the unit and its drop-ins below the root.
func loadService(root hostfile.Dir, name string) service {
	s := service{
		loadState: loaded, typ: "simple", restart: "no", restartAfter: 100 * time.Millisecond,
		startTimeout: 90 * time.Second, stopTimeout: 90 * time.Second,
		limitInterval: 10 * time.Second, limitBurst: 5,
	}
	path := root.Path(filepath.Join(hostfile.UnitDir, name))
	if target, err := os.Readlink(path); err == nil && target == os.DevNull {
		s.loadState = masked
		return s
	}
	files := []string{path}
	dropIns, _ := filepath.Glob(path + ".d/*.conf") // the only error is a bad pattern
	files = append(files, dropIns...)
	for _, file := range files {
		if err := s.read(file, name); err != nil {
			s.loadState, s.loadError = badSetting, err.Error()
			if errors.Is(err, fs.ErrNotExist) {
				s.loadState = notFound
			}
			return s
		}
	}
	if len(s.start) == 0 {
		s.loadState, s.loadError = badSetting, "service has no ExecStart= setting"
	}
	return s
}

func (s *service) read(file, name string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	options, err := unitfile.DeserializeOptions(f)
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(file), err)
	}
	for _, o := range options {
		if err := s.set(o.Name, o.Value, name); err != nil {
			return fmt.Errorf("%s: %s=%s: %w", filepath.Base(file), o.Name, o.Value, err)
		}
	}
	return nil
}

// set applies one setting; unknown ones are ignored, as systemd does.
func (s *service) set(key, value, unitName string) error {
	switch key {
	case "ConditionPathExists":
		s.conditions = appendOrClear(s.conditions, value)
	case "Type":
		s.typ = value
	case "ExecStartPre":
		return addCommand(&s.startPre, value, unitName)
	case "ExecStart":
		return addCommand(&s.start, value, unitName)
	case "ExecStopPost":
		return addCommand(&s.stopPost, value, unitName)
	case "Environment":
		words, err := splitWords(value)
		s.environment = append(s.environment, words...)
		return err
	case "EnvironmentFile":
		s.envFiles = appendOrClear(s.envFiles, value)
	case "WorkingDirectory":
		s.workDir = value
	case "Restart":
		s.restart = value
	case "RestartPreventExitStatus":
		return addStatuses(&s.preventRestart, value)
	case "SuccessExitStatus":
		return addStatuses(&s.successStatus, value)
	case "StartLimitBurst":
		n, err := strconv.Atoi(value)
		s.limitBurst = n
		return err
	default:
		return s.setTime(key, value)
	}
	return nil
}

func (s *service) setTime(key, value string) error {
	var targets []*time.Duration
	switch key {
	case "RestartSec":
		targets = []*time.Duration{&s.restartAfter}
	case "TimeoutStartSec":
		targets = []*time.Duration{&s.startTimeout}
	case "TimeoutStopSec":
		targets = []*time.Duration{&s.stopTimeout}
	case "TimeoutSec":
		targets = []*time.Duration{&s.startTimeout, &s.stopTimeout}
	case "StartLimitIntervalSec", "StartLimitInterval":
		targets = []*time.Duration{&s.limitInterval}
	default:
		return nil
	}
	d, err := parseSpan(value)
	for _, t := range targets {
		*t = d
	}
	return err
}

func appendOrClear(list []string, value string) []string {
	if value == "" {
		return nil
	}
	return append(list, value)
}

func addStatuses(list *[]int, value string) error {
	for word := range strings.FieldsSeq(value) {
		n, err := strconv.Atoi(word)
		if err != nil {
			continue // signal names: the stand-in knows numbers only
		}
		*list = append(*list, n)
	}
	return nil
}

// spanUnits are the units of systemd.time(7) that units of ours use.
var spanUnits = map[string]time.Duration{
	"": time.Second, "s": time.Second, "sec": time.Second, "ms": time.Millisecond,
	"min": time.Minute, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour,
}

// parseSpan reads a time span such as "90", "5min", "1min 30s" or "infinity" (0).
func parseSpan(value string) (time.Duration, error) {
	if value == "infinity" {
		return 0, nil
	}
	var sum time.Duration
	for word := range strings.FieldsSeq(value) {
		digits := strings.TrimRight(word, "abcdefghijklmnopqrstuvwxyz")
		scale, ok := spanUnits[word[len(digits):]]
		n, err := strconv.ParseFloat(digits, 64)
		if err != nil || !ok {
			return 0, fmt.Errorf("%q is not a time span", word)
		}
		sum += time.Duration(n * float64(scale))
	}
	return sum, nil
}

func addCommand(list *[]command, value, unitName string) error {
	if value == "" {
		*list = nil
		return nil
	}
	words, err := splitWords(value)
	if err != nil {
		return err
	}
	if len(words) == 0 {
		return errors.New("no command")
	}
	var c command
	program := strings.TrimLeftFunc(words[0], func(r rune) bool {
		c.ignoreFailure = c.ignoreFailure || r == '-'
		c.noExpand = c.noExpand || r == ':'
		return strings.ContainsRune("-@:+!", r)
	})
	expand := strings.NewReplacer("%%", "%", "%n", unitName, "%t", "/run", "%p", strings.TrimSuffix(unitName, ".service"))
	c.argv = append([]string{program}, words[1:]...)
	for i := range c.argv {
		c.argv[i] = expand.Replace(c.argv[i])
	}
	*list = append(*list, c)
	return nil
}

// splitWords splits at white space, with systemd's quotes and backslashes.
func splitWords(value string) ([]string, error) {
	var words []string
	var word strings.Builder
	inWord, quote, escaped := false, rune(0), false
	for _, r := range value {
		switch {
		case escaped:
			word.WriteRune(unescape(r))
			escaped = false
		case r == '\\':
			escaped, inWord = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, inWord = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("quote %c is not closed", quote)
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}

func unescape(r rune) rune {
	switch r {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 's':
		return ' '
	default:
		return r
	}
}

// conditionsMet evaluates ConditionPathExists below the root.
func (s *service) conditionsMet(root hostfile.Dir) bool {
	for _, c := range s.conditions {
		path, negated := strings.CutPrefix(c, "!")
		_, err := os.Stat(root.Path(strings.TrimPrefix(path, "|")))
		if (err == nil) == negated {
			return false
		}
	}
	return true
}

// mayRestart says whether Restart= asks for a new start after this end.
func (s *service) mayRestart(e end) bool {
	if e.code == exitedCode && slices.Contains(s.preventRestart, e.status) {
		return false
	}
	clean := e.result == resultSuccess
	switch s.restart {
	case "always":
		return true
	case "on-failure":
		return !clean
	case "on-success":
		return clean
	case "on-abnormal":
		return e.result != resultSuccess && e.result != resultExitCode
	default:
		return false
	}
}
