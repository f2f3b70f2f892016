package manifests

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong.
type Problem struct {
	// File is the name as it was given.
	File string `json:"file"`
	// Document is the number of the YAML document in the file, from 1; 0 is the file as a whole.
	Document int `json:"document,omitempty"`
	// Line is the line of the field, or of what it is missing in; 0 when there is none.
	Line int `json:"line,omitempty"`
	// Path leads to the field, such as spec.networking.clusterNetwork[0].cidr; empty for the document.
	Path string `json:"path,omitempty"`
	// Text says what is wrong and what to write instead.
	Text string `json:"text"`
}

// String is the problem in one line.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Document > 0 {
		fmt.Fprintf(&b, ", document %d", p.Document)
	}
	if p.Line > 0 {
		fmt.Fprintf(&b, ", line %d", p.Line)
	}
	b.WriteString(": ")
	if p.Path != "" {
		b.WriteString(p.Path + " ")
	}
	return b.String() + p.Text
}

// maxLines bounds the lines of an error.
const maxLines = 200

// Error is everything that is wrong with the input, in the order of files, documents and lines.
type Error struct{ Problems []Problem }

// Error implements error: one line for each problem.
func (e *Error) Error() string {
	lines := make([]string, 0, len(e.Problems)+1)
	if len(e.Problems) > 1 {
		lines = append(lines, fmt.Sprintf("the manifests cannot be used, %d things are wrong:", len(e.Problems)))
	}
	for i, p := range e.Problems {
		if i == maxLines {
			lines = append(lines, fmt.Sprintf("and %d more", len(e.Problems)-i))
			break
		}
		lines = append(lines, p.String())
	}
	return strings.Join(lines, "\n")
}

// report collects what is wrong.
type report struct {
	lenient            bool
	problems, warnings []Problem
}

func (r *report) add(p Problem) { r.problems = append(r.problems, p) }

// unused tells of a field that nothing would be done with: a warning for a lenient reader.
func (r *report) unused(p Problem) {
	if r.lenient {
		r.warnings = append(r.warnings, p)
		return
	}
	r.add(p)
}

// result is all problems as one error, nil for none, and the warnings.
func (r *report) result() ([]Problem, error) {
	sorted(r.warnings)
	if len(r.problems) == 0 {
		return r.warnings, nil
	}
	sorted(r.problems)
	return r.warnings, &Error{Problems: slices.Compact(r.problems)}
}

func sorted(list []Problem) {
	slices.SortStableFunc(list, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Document, b.Document), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Text, b.Text))
	})
}

// place is a document, for those who say what is wrong in it.
type place struct {
	report *report
	file   string
	number int
	// lines are those of the paths that are there, bad are those that could not be read.
	lines map[string]int
	bad   map[string]bool
}

// wrong tells what is wrong at a path.
func (p *place) wrong(path, format string, args ...any) {
	p.report.add(p.problem(path, format, args...))
}

func (p *place) unused(path, format string, args ...any) {
	p.report.unused(p.problem(path, format, args...))
}

func (p *place) problem(path, format string, args ...any) Problem {
	return Problem{File: p.file, Document: p.number, Line: p.line(path), Path: path, Text: fmt.Sprintf(format, args...)}
}

// missing tells that a field is not there, or empty; one that could not be read has been told.
func (p *place) missing(path, write string) {
	if !p.bad[path] {
		p.wrong(path, "is missing: write %s", write)
	}
}

// line is that of the path, or of the nearest thing around it that is there.
func (p *place) line(path string) int {
	for path != "" {
		if line, is := p.lines[path]; is {
			return line
		}
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
	return p.lines[""]
}
