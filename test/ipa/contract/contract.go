// Package contract is what Ironflow's plugin for ironic-python-agent does, as one
// table of cases (cases.json). Two plugins run them: the shipped one in Python
// (customdeploy/ipa/tests/test_contract.py) and the one of the simulated machines
// (test/machine/plugin).
//
// In the texts of the table {{x*300}} stands for x three hundred times.
package contract

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

//go:embed cases.json
var cases []byte

// Table holds all cases.
type Table struct {
	Lists    []List     `json:"lists"`
	Runs     []Run      `json:"runs"`
	Progress []Progress `json:"progress"`
	Ends     []End      `json:"ends"`
}

// Text is what a program prints: a string as it is, any other value as its JSON in one line.
type Text string

// UnmarshalJSON implements json.Unmarshaler.
func (t *Text) UnmarshalJSON(raw []byte) error {
	*t = Text(raw)
	if raw[0] == '"' {
		return json.Unmarshal(raw, (*string)(t))
	}
	return nil
}

// List is a case of asking the program for its steps, some times in one life of IPA.
type List struct {
	Name string `json:"name"`
	// Answers are the program's, one for each time that it is asked; the last one stays.
	Answers []struct {
		Stdout Text `json:"stdout"`
		Exit   int  `json:"exit"`
	} `json:"answers"`
	// Steps are the names that IPA gets each time.
	Steps [][]string `json:"steps"`
}

// Run is a case of running the step "try_it".
type Run struct {
	Name string `json:"name"`
	// Missing is a program that is not there.
	Missing bool `json:"missing"`
	// Unread is a program that ends without reading its input, of some 100 KiB.
	Unread bool `json:"unread"`
	// Stdout are its lines, Stderr its log.
	Stdout []Text `json:"stdout"`
	Stderr string `json:"stderr"`
	// Exit is its exit code, Signal what it kills itself with.
	Exit   int `json:"exit"`
	Signal int `json:"signal"`
	// Result is what IPA gets; nil means a DeploymentError.
	Result map[string]any `json:"result"`
	// Reason is the error's text, or its begin if it ends with "…".
	Reason string `json:"reason"`
	// Progress are the stages that were reported.
	Progress []string `json:"progress"`
}

// Progress is a case of progress that becomes heartbeats. Times are seconds.
type Progress struct {
	Name string `json:"name"`
	Step string `json:"step"`
	// All is the setting IRONFLOW_PROGRESS.
	All   bool   `json:"all"`
	Lines []Line `json:"lines"`
	// Ends is when the step ends.
	Ends float64 `json:"ends"`
	// Slow is how long Ironic takes to answer a heartbeat; Refused are the heartbeats that it refuses, from 0.
	Slow    float64 `json:"slow"`
	Refused []int   `json:"refused"`
	// Beats are the heartbeats' times and texts, without the mark in brackets at the text's end.
	Beats []Beat `json:"beats"`
}

// Line is a line of progress.
type Line struct {
	At      float64 `json:"at"`
	Stage   string  `json:"stage"`
	Percent int     `json:"percent"`
	Text    string  `json:"text"`
}

// Beat is a heartbeat with a text.
type Beat struct {
	At   float64 `json:"at"`
	Text string  `json:"text"`
}

// End is a case of the heartbeats behind a step's end. Times are seconds since then.
type End struct {
	Name string `json:"name"`
	// Next is when the next step begins; 0 means never.
	Next float64 `json:"next"`
	// Beats are the heartbeats' times.
	Beats []float64 `json:"beats"`
}

var repeated = regexp.MustCompile(`\{\{(.+?)\*(\d+)\}\}`)

// Cases returns the table.
func Cases() (Table, error) {
	text := repeated.ReplaceAllFunc(cases, func(found []byte) []byte {
		parts := repeated.FindSubmatch(found)
		count, _ := strconv.Atoi(string(parts[2])) // the pattern takes digits only
		return []byte(strings.Repeat(string(parts[1]), count))
	})
	var table Table
	if err := json.Unmarshal(text, &table); err != nil {
		return table, fmt.Errorf("cases.json: %w", err)
	}
	return table, nil
}
