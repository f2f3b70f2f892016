// Package quickstart reads the commands that pages tell a newcomer to copy, so that tests run what the page says and not what they remember of it.
// [Commands] are those of the first block below a heading, with their here-documents; [Run] gives each to who does it. It is no shell: a block with
// quotes, pipes or variables outside of a here-document is refused, since nobody would run what it means.
package quickstart

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Heading is where docs/install.md has the block, and Page that page from the top of the repository.
const (
	Heading = "Quick start"
	Page    = "docs/install.md"
)

// What the quick start has for the reader's own, each of which a site puts its own in the place of.
const (
	Version     = "v0.1.0"
	Image       = "repository: registry.example/ironflow/ironflow, tag: " + Version
	Ironic      = "https://ironic.example:6385"
	BaseImage   = "https://mirror.example/live.x86_64.iso"
	Address     = "192.0.2.10"
	User        = "username=ironic"
	Password    = "password=change-me"
	CA          = "tls.crt=ironic-ca.crt"
	LiveISO     = "live.x86_64.iso"
	SiteFile    = "site.yaml"
	HostFolder  = "machine-0"
	Tree        = "config/"
	HelmProgram = "bin/helm"
)

// Command is one line of a block.
type Command struct {
	// Words are the command without what is said of it.
	Words []string
	// File is where its here-document is written, and Text what the shell reads: the redirection with the document, which may have substitutions.
	File, Text string
}

// String is the command as a page has it, without its here-document.
func (c Command) String() string { return strings.Join(c.Words, " ") }

// Block is the first block of commands below a heading of a page in Markdown.
func Block(page, heading string) (string, error) {
	_, rest, found := strings.Cut(page, "\n## "+heading+"\n")
	if !found {
		return "", fmt.Errorf("there is no heading %q", heading)
	}
	rest, _, _ = strings.Cut(rest, "\n## ")
	_, block, found := strings.Cut(rest, "\n```sh\n")
	if !found {
		return "", fmt.Errorf("below %q there is no block of commands", heading)
	}
	block, _, found = strings.Cut(block, "```")
	if !found {
		return "", fmt.Errorf("the block below %q has no end", heading)
	}
	return block, nil
}

// Commands are those of the first block below a heading.
func Commands(page, heading string) (all []Command, err error) {
	block, err := Block(page, heading)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(block, "\n"), "\n")
	for len(lines) > 0 {
		line := lines[0]
		lines = lines[1:]
		before, _, _ := strings.Cut(line, " #")
		words := strings.Fields(before)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		c := Command{Words: words}
		if end, is := strings.CutPrefix(words[len(words)-1], "<<"); is {
			at := slices.Index(lines, end)
			if at < 0 || len(words) != 4 || words[0] != "cat" || words[1] != ">" {
				return nil, fmt.Errorf("%s: only `cat > FILE <<END` with its END is understood", line)
			}
			c.File, c.Text = words[2], strings.Join(append([]string{before}, lines[:at+1]...), "\n")+"\n"
			lines = lines[at+1:]
		} else if strings.ContainsAny(before, "\"'`$|&;<>\\*") {
			return nil, fmt.Errorf("%s: signs of the shell are not understood", line)
		}
		all = append(all, c)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("below %q there are no commands", heading)
	}
	return all, nil
}

// Step is what commands of the quick start do, by which whoever runs them knows each.
type Step string

// The steps. Each is how such a command begins, flags of kubectl before its verb left out.
const (
	MakeImages   Step = "make images"
	MakePrograms Step = "make helm build"
	WriteFile    Step = "cat >"
	Create       Step = "kubectl create"
	HelmInstall  Step = HelmProgram + " install"
	Rollout      Step = "kubectl rollout status"
	Exec         Step = "kubectl exec"
	Copy         Step = "cp -r"
	Apply        Step = "kubectl apply"
	Watch        Step = "kubectl get"
)

// Steps are all that are known.
var Steps = []Step{MakeImages, MakePrograms, WriteFile, Create, HelmInstall, Rollout, Exec, Copy, Apply, Watch}

// Step is what the command does; an error if it is none that is known.
func (c Command) Step() (Step, error) {
	words := c.Words
	if len(words) > 2 && words[0] == "kubectl" && words[1] == "-n" {
		words = append([]string{"kubectl"}, words[3:]...)
	}
	line := strings.Join(words, " ") + " "
	for _, step := range Steps {
		if strings.HasPrefix(line, string(step)+" ") {
			return step, nil
		}
	}
	return "", fmt.Errorf("nobody knows how to do this: %s", c)
}

// Run does each command, in the order of the page, by who does such a step.
func Run(commands []Command, by map[Step]func(Command)) error {
	var unknown []error
	for _, c := range commands {
		step, err := c.Step()
		if err == nil && by[step] == nil {
			err = fmt.Errorf("nobody does this: %s", c)
		}
		unknown = append(unknown, err)
	}
	if err := errors.Join(unknown...); err != nil {
		return err
	}
	for _, c := range commands {
		step, err := c.Step()
		if err != nil {
			return err
		}
		by[step](c)
	}
	return nil
}
