package pages

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// word is a sub-command as pages write it, or several that are meant alike: show|set|reset.
var word = regexp.MustCompile(`^[a-z][a-z0-9-]*(\|[a-z][a-z0-9-]*)*$`)

// longFlag is a flag as pages write it, with brackets where it may be left out.
var longFlag = regexp.MustCompile(`^\[?--([a-z][a-z0-9-]+)`)

// Commands are the command lines of a program in the pages of a repository, as "page: line". A program is named as users call it, such
// as "kubectl ironflow".
func Commands(t *testing.T, root, program string) []string {
	t.Helper()
	inline := regexp.MustCompile("`(?:bin/)?" + program + " ([^`\n]+)`")
	block := regexp.MustCompile(`(?m)^ *(?:\$ )?(?:kubectl [^\n]* -- /|bin/)?` + program + ` ([^\n]+)$`)
	var all []string
	for _, file := range texts(t, root) {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, pattern := range []*regexp.Regexp{inline, block} {
			for _, found := range pattern.FindAllStringSubmatch(string(raw), -1) {
				all = append(all, filepath.Base(file)+": "+found[1])
			}
		}
	}
	return all
}

// Call says what is wrong with a line of [Commands]: a command or a flag that the program does not have. What follows a comment, a pipe
// or another command is not read.
func Call(program *cobra.Command, line string) error {
	_, text, _ := strings.Cut(line, ": ")
	at, inPath := []*cobra.Command{program}, true
	for token := range strings.FieldsSeq(text) {
		switch flag := longFlag.FindStringSubmatch(token); {
		case strings.HasPrefix(token, "#") || slices.Contains([]string{"|", "&&", ">", "\\"}, token):
			return nil
		case flag != nil:
			inPath = false
			for _, c := range at {
				c.InitDefaultHelpFlag()
				if c.Flags().Lookup(flag[1]) == nil && c.InheritedFlags().Lookup(flag[1]) == nil && (flag[1] != "version" || c != program) {
					return fmt.Errorf("%s: %q has no flag --%s", line, c.CommandPath(), flag[1])
				}
			}
		case inPath && word.MatchString(token) && at[0].HasSubCommands():
			next, missing := below(at[0], strings.Split(token, "|"))
			switch takesArguments := strings.Contains(at[0].Use, " "); {
			case missing == "":
				at = next
			case takesArguments:
				inPath = false // describe HOST has sub-commands, too
			default:
				return fmt.Errorf("%s: %q has no command %s", line, at[0].CommandPath(), missing)
			}
		default:
			inPath = false
		}
	}
	return nil
}

// below are the sub-commands of these names, and the first one that is not there.
func below(c *cobra.Command, names []string) (found []*cobra.Command, missing string) {
	for _, name := range names {
		i := slices.IndexFunc(c.Commands(), func(sub *cobra.Command) bool { return sub.Name() == name || sub.HasAlias(name) })
		if i < 0 {
			return nil, name
		}
		found = append(found, c.Commands()[i])
	}
	return found, ""
}
